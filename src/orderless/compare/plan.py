"""Which runs a comparison consists of: methods × attention × seeds, each a complete configuration."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from orderless.config import Config, load_config, parse_config
from orderless.data.sample import Collection
from orderless.errors import UsageError
from orderless.methods import METHODS
from orderless.recipes import RECIPES, recipe
from orderless.run_folder import RunFolder

PAPER_METHODS = ("bce", "random", "frequent", "rare", "dictionary", "mla", "pla")
STAGE_ONE = "stage-one"
NO_ATTENTION = "-noattention"

Attention = Literal["both", "on", "off"]


@dataclass(frozen=True)
class CompareSettings:
    """What to compare, and how much of it."""

    data: str
    format: str | None = None
    options: dict[str, Any] = field(default_factory=dict)  # of the reader
    methods: tuple[str, ...] = PAPER_METHODS
    seeds: tuple[int, ...] = (0, 1, 2)
    attention: Attention = "both"
    recipe: str = "quick"  # a name, or a config.yaml
    epochs: int | None = None  # of every stage
    limit: int | None = None
    image_size: int | None = None
    backbone: str | None = None
    weights: str | None = None
    workers: int | None = None
    ignore_unknown: bool = False  # leave labels out that the training split lacks


@dataclass(frozen=True)
class Task:
    """One run of a comparison; `needs` is a run that has to be finished first."""

    name: str  # of the variant: "pla", "pla-noattention"
    config: Config
    folder: Path
    needs: Path | None = None

    @property
    def label(self) -> str:
        return f"{self.name} seed {self.config.seed}"

    @property
    def finished(self) -> bool:
        run = RunFolder(self.folder)
        return all(file.is_file() for file in (run.metrics_file, run.predictions_file, run.weights_file))


def plan(settings: CompareSettings, out: Path) -> list[Task]:
    """Every run, those first that others need.

    A recipe that first trains the encoder under BCE does so once per seed: that run is BCE's own if BCE takes part,
    and all other methods go on from its weights.
    """
    if not settings.methods or not settings.seeds:
        raise UsageError("a comparison needs at least one method and one seed")
    for name in settings.methods:
        if name not in METHODS:
            raise UsageError(f"there is no method {name!r}; choose among {', '.join(METHODS)}")
    first: dict[Path, Task] = {}
    rest: list[Task] = []
    for seed in dict.fromkeys(settings.seeds):
        for name, attention in variants(settings.methods, settings.attention):
            method = name.removesuffix(NO_ATTENTION)
            config = _configured(settings, method, attention, seed)
            folder = out / name / f"seed-{seed}"
            if method == "bce":
                first[folder] = Task(name, config, folder)
            elif config.stages[0].objective == "binary":
                base = out / ("bce" if "bce" in settings.methods else STAGE_ONE) / f"seed-{seed}"
                first.setdefault(base, Task(base.parent.name, _configured(settings, "bce", None, seed), base))
                rest.append(Task(name, _continued(config, base), folder, needs=base))
            else:
                rest.append(Task(name, config, folder))
    return [*first.values(), *rest]


def variants(methods: Sequence[str], attention: Attention) -> list[tuple[str, bool | None]]:
    """Names of runs with their attention; None where a method leaves no choice or attention means nothing."""
    found: list[tuple[str, bool | None]] = []
    for method in dict.fromkeys(methods):
        if not METHODS[method].writes or METHODS[method].attention is not None:
            found.append((method, None))
            continue
        if attention in ("both", "on"):
            found.append((method, True))
        if attention in ("both", "off"):
            found.append((f"{method}{NO_ATTENTION}", False))
    return found


def check_settings(settings: CompareSettings, out: Path, tasks: Sequence[Task]) -> None:
    """Runs that are there already must be those that were asked for, or such as can stand beside them."""
    for task in tasks:
        file = RunFolder(task.folder).config_file
        if not file.is_file():
            continue
        done = load_config(file)
        if done != task.config.without_tail():  # its encoder's last block cannot be trained by itself
            _refuse_changes(task.folder, done.model_dump(mode="json"), task.config.model_dump(mode="json"))
    for folder in sorted(set(out.glob("*/seed-*")) - {task.folder for task in tasks}):
        method, file = folder.parent.name.removesuffix(NO_ATTENTION), RunFolder(folder).config_file
        if method in METHODS and file.is_file():  # the report will show it too
            done = load_config(file)
            before, now = _shared(done), _shared(_configured(settings, method, None, done.seed))
            if Path(done.model.weights).is_relative_to(out.resolve()):  # of stage one, which all go on from
                before["model"]["weights"] = now["model"]["weights"]
            _refuse_changes(folder, before, now)


def check_data(out: Path, collection: Collection) -> None:
    """Runs that are there already were judged on the same images and labels."""
    try:
        before = json.loads((out / "comparison.json").read_text(encoding="utf-8"))["digests"]
    except (OSError, ValueError, LookupError, TypeError):
        return
    if not any(out.glob("*/seed-*/metrics.json")):
        return
    for split, digest in collection.digests().items():
        if before.get(split) != digest:
            raise UsageError(
                f"the images or labels of {split} have changed since {out} was begun; choose another --out or remove it"
            )


def _shared(config: Config) -> dict[str, Any]:
    """What runs of one comparison have in common, whatever their method."""
    data = config.data.model_dump(mode="json", exclude={"workers", "cache_images"})
    model = config.model.model_dump(mode="json", exclude={"head", "attention", "binary_hidden", "dropout"})
    stage = config.stages[-1].model_dump(mode="json", exclude={"encoder_share"})
    return {"data": data, "model": model, "monitor": config.monitor, "stage": stage}


def _refuse_changes(folder: Path, before: dict[str, Any], now: dict[str, Any]) -> None:
    old, new = _flat(before), _flat(now)
    for key in {**old, **new}:
        if old.get(key) != new.get(key):
            raise UsageError(
                f"{folder} was trained with {key} {old.get(key)}, not {new.get(key)}; "
                "choose another --out, or remove it"
            )


def _flat(values: Any, prefix: str = "") -> dict[str, Any]:
    """{"model.hidden": 512, "stages.0.epochs": 40, …}."""
    if not isinstance(values, dict | list):
        return {prefix: values}
    items = values.items() if isinstance(values, dict) else enumerate(values)
    return {k: v for name, value in items for k, v in _flat(value, f"{prefix}.{name}".lstrip(".")).items()}


def _configured(settings: CompareSettings, method: str, attention: bool | None, seed: int) -> Config:
    if settings.recipe in RECIPES:
        values = recipe(settings.recipe, method).model_dump(mode="json")
    else:
        values = _of_file(Path(settings.recipe), method)
    changes: dict[str, Any] = {
        "path": settings.data, "format": settings.format, "options": settings.options or None,
        "limit": settings.limit, "image_size": settings.image_size, "workers": settings.workers,
        "ignore_unknown": settings.ignore_unknown or None,
    }  # fmt: skip
    # One seed for the data of all runs: what differs between seeds is the training, not the images.
    values["data"] |= {key: value for key, value in changes.items() if value is not None} | {"seed": 0}
    changes = {"backbone": settings.backbone, "weights": settings.weights, "attention": attention}
    values["model"] |= {key: value for key, value in changes.items() if value is not None}
    values["seed"] = seed
    if settings.epochs is not None:
        values["stages"] = [stage | {"epochs": settings.epochs, "least_steps": 0} for stage in values["stages"]]
    return parse_config(values, "the comparison")


def _of_file(file: Path, method: str) -> dict[str, Any]:
    """The settings of a file, for another method than the one it names."""
    own = recipe("quick", method)  # knows what the method says about head, attention and threshold
    values = load_config(file).model_dump(mode="json")
    values |= {"method": method, "threshold": own.threshold}
    values["model"]["head"] = own.model.head
    if METHODS[method].attention is not None:
        values["model"]["attention"] = own.model.attention
    binary = [stage for stage in values["stages"] if stage["objective"] == "binary"]
    if method == "bce" and binary:  # which ends with stage one, whose head is one layer
        values["stages"] = binary
        values["model"] |= {"binary_hidden": 0, "dropout": 0.0}
    return values


def _continued(config: Config, base: Path) -> Config:
    """The configuration without the stages that the run at `base` did."""
    rest = tuple(stage for stage in config.stages if stage.objective != "binary")
    weights = str(RunFolder(base.resolve()).weights_file)
    return config.model_copy(update={"stages": rest, "model": config.model.model_copy(update={"weights": weights})})
