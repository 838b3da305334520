"""The whole job in minutes: generated photos, three taggers trained on an equal budget, judged and used."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orderless.config import parse_config
from orderless.data import open_data
from orderless.errors import UsageError
from orderless.methods import METHODS
from orderless.recipes import recipe
from orderless.report.attention import save_attention
from orderless.report.curves import curves_figure
from orderless.report.style import save
from orderless.run_folder import RunFolder
from orderless.tagger import load
from orderless.training.history import read_rows
from orderless.training.progress import Watcher
from orderless.training.run import train

DEMO_METHODS = ("bce", "frequent", "pla")
COLUMNS = ("CF1", "OF1", "mAP", "duplicate-rate", "order-rigidness")


@dataclass(frozen=True)
class DemoSize:
    """How much the demo does; tests use a tiny one."""

    train: int = 4000
    val: int = 300
    test: int = 600
    image_size: int = 192
    epochs: int = 8
    examples: int = 4
    backbone: str = "lite0"
    weights: str = "auto"


def run_demo(
    out: Path,
    *,
    seed: int = 0,
    size: DemoSize | None = None,
    methods: tuple[str, ...] = DEMO_METHODS,
    watcher: Callable[[str], Watcher] | None = None,
) -> dict[str, dict[str, Any]]:
    """Train every method on the same scenes, features, epochs and seed; returns the test metrics by method.

    Writes a run per method, `curves.png`, and `tags/` with the last method's tags and attention.
    """
    size = size or DemoSize()
    if out.exists() and any(out.iterdir()):
        if not (out / "demo").is_file():
            raise UsageError(f"{out} holds something that is not an earlier demo; choose another --out")
        shutil.rmtree(out)
    out.mkdir(parents=True)
    (out / "demo").touch()
    data = f"scenes:train={size.train},val={size.val},test={size.test},seed={seed},size={size.image_size}"
    collection = open_data(data)
    results = {}
    for method in methods:
        values = recipe("quick", method).model_dump(mode="json")
        values["seed"] = seed
        values["data"] |= {"path": data, "image_size": size.image_size}
        values["model"] |= {"backbone": size.backbone, "weights": size.weights}
        # New scenes cost no more than mirror images of old ones, and teach more. Steps are few: each goes further. The
        # encoder stays as it is, so that all methods see the very same features.
        values["stages"][-1] |= {
            "epochs": size.epochs, "least_steps": 0, "augment": False, "learning_rate": 1.5e-3, "encoder_share": 0.0,
        }  # fmt: skip
        config = parse_config(values, "the demo")
        run = RunFolder(out / method)
        metrics = train(config, run, collection=collection, watcher=watcher(method) if watcher else None)
        results[method] = metrics["test"]
    rows = {method: read_rows(out / method / "metrics.csv") for method in methods}
    save(curves_figure(rows, [m for m in methods if METHODS[m].head == "sequence"]), out / "curves.png")
    _tag_examples(out, methods[-1], collection["test"], size.examples)
    return results


def _tag_examples(out: Path, method: str, samples: list[Any], count: int) -> None:
    """Write some test photos with many labels, and the same with their tags and heat maps."""
    tagger = load(out / method)
    photos = out / "photos"
    photos.mkdir()
    rich = sorted(range(len(samples)), key=lambda i: (-min(len(samples[i].labels), 5), i))[:count]
    for index in rich:
        image = samples[index].load()
        path = photos / f"{index:04d}.png"
        image.save(path)
        save_attention(image, tagger.predict(path), out / "tags" / path.name)
