"""What runs the encoder: time an image with each runtime, and whether `--runtime auto` picks what is done first."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import torch

from orderless.bench.material import write_run
from orderless.bench.measure import Row, all_in_turns
from orderless.runtimes import RUNTIMES, Auto, installed
from orderless.tagger import Result, Tagger, load

FEW, MANY = 500, 100_000  # photos of a shop, photos of an archive


def rows(quick: bool) -> Iterator[Row]:
    backbone, size = ("test_resnet", 64) if quick else ("lite0", 192)
    names = ["eager"] if quick else list(RUNTIMES)
    with tempfile.TemporaryDirectory() as folder:
        run = write_run(Path(folder) / "run", backbone, size)
        taggers = {
            name: {batch: load(run, device="cpu", runtime=name) for batch in (1, 32)}
            for name in names
            if installed(name)
        }
        start: dict[str, float] = {}  # seconds until the first batch is done, nothing being in the cache
        per_image: dict[str, float] = {}
        for batch in (1, 32):
            images = torch.randn(batch, 3, size, size)
            expected = _tag(taggers["eager"][batch], images)
            for name, tagger in taggers.items():
                before = time.perf_counter()
                with _cache(Path(folder) / name):
                    found = _tag(tagger[batch], images)
                if [result.labels for result in found] != [result.labels for result in expected]:
                    raise AssertionError(f"the runtime {name} gives other tags than eager")
                start[name] = max(start.get(name, 0.0), time.perf_counter() - before)
            sides = [partial(_tag, tagger[batch], images) for tagger in taggers.values()]
            times = dict(zip(taggers, all_in_turns(sides, quick, seconds=12.0 * len(sides)), strict=True))
            for name, ours in times.items():
                per_image[name] = ours / batch
                case, eager = f"{name} against eager, {backbone} {size}, batch {batch}", times["eager"]
                yield Row("runtime", case, ours, eager, eager / ours)
        for images_to_tag in (FEW,) if quick else (FEW, MANY):
            total = {name: start[name] + images_to_tag * per_image[name] for name in taggers}
            best = min(total, key=total.__getitem__)
            with _cache(Path(folder) / "auto"):
                picked = _picked_by_auto(run, images, images_to_tag)
            case = f"auto picks {picked} for {images_to_tag:,} photos, first done: {best}"
            # A few percent: where two runtimes are as good as equal, either is the right pick.
            yield Row("runtime", case, total[picked], total[best], total[picked] / total[best], ("<=", 1.05))


def _picked_by_auto(run: Path, images: torch.Tensor, images_to_tag: int) -> str:
    tagger = load(run, device="cpu", runtime="auto", expected_images=images_to_tag)
    for _ in range(3):
        _tag(tagger, images)
    assert isinstance(tagger._encode, Auto)
    return tagger._encode.picked


@contextmanager
def _cache(folder: Path) -> Iterator[None]:
    """An empty cache: a first start is what counts."""
    before = os.environ.get("ORDERLESS_CACHE")
    os.environ["ORDERLESS_CACHE"] = str(folder)
    try:
        yield
    finally:
        if before is None:
            del os.environ["ORDERLESS_CACHE"]
        else:
            os.environ["ORDERLESS_CACHE"] = before


def _tag(tagger: Tagger, images: torch.Tensor) -> list[Result]:
    return tagger._results(tagger._predict_tensor(images), [""] * len(images))
