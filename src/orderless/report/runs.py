"""A comparison as it lies on disk: its runs by variant and seed, without the models."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from orderless.config import Config
from orderless.errors import UsageError
from orderless.labels import Vocabulary
from orderless.methods import METHODS
from orderless.run_folder import RunFolder
from orderless.training.history import Row, read_rows

NO_ATTENTION = "-noattention"
OFTEN = 20  # right predictions of a label: fewer say little about their rate
TITLES = {
    "bce": "BCE", "random": "Random order", "frequent": "Frequent first", "rare": "Rare first",
    "dictionary": "Dictionary order", "mla": "MLA", "pla": "PLA", "order-free": "Order-free",
    "sr-cnn-rnn": "SR-CNN-RNN", "lsep": "LSEP", "asl": "ASL", "ml-decoder": "ML-Decoder", "joint": "Joint",
}  # fmt: skip


@dataclass
class Run:
    """One finished run."""

    variant: str  # "pla" or "pla-noattention"
    folder: RunFolder

    @property
    def method(self) -> str:
        return self.variant.removesuffix(NO_ATTENTION)

    @cached_property
    def config(self) -> Config:
        return self.folder.config()

    @cached_property
    def metrics(self) -> dict[str, Any]:
        found = self.folder.metrics()
        if not found:
            raise UsageError(f"{self.folder.metrics_file} is damaged; remove it, and orderless compare makes it again")
        return found

    @cached_property
    def rows(self) -> list[Row]:
        """The epochs of the stages that train the method itself."""
        stages = {stage.name for stage in self.config.stages if stage.objective == "method"} or None
        rows = read_rows(self.folder.metrics_csv)
        return [row for row in rows if stages is None or row["stage"] in stages]

    @cached_property
    def predictions(self) -> dict[str, dict[str, Tensor]]:
        return self.folder.predictions()

    @cached_property
    def examples(self) -> dict[str, Tensor]:
        """A closer look at some images: `index`, `sequence`, maybe `attention` and `logits`; empty without one."""
        try:
            found: dict[str, Tensor] = load_file(self.folder.path / "examples.safetensors")
        except (OSError, SafetensorError):
            return {}
        return found

    @cached_property
    def times(self) -> dict[str, float]:
        """Milliseconds an image by what they were spent on; empty if that was not measured."""
        try:
            found: dict[str, float] = json.loads((self.folder.path / "times.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return found


@dataclass
class Comparison:
    """All finished runs of a folder, in the order of the methods, and what they were made of."""

    folder: Path
    info: dict[str, Any]
    runs: list[Run]

    @classmethod
    def read(cls, folder: Path) -> Comparison:
        file = folder / "comparison.json"
        try:
            info = json.loads(file.read_text(encoding="utf-8"))
            if not {"data", "format", "recipe", "split", "images", "examples"} <= info.keys():
                raise ValueError("it is not whole")
        except (OSError, ValueError, AttributeError):
            raise UsageError(f"{folder} holds no comparison: {file.name} is missing or damaged") from None
        runs = [run for method in METHODS for name in (method, method + NO_ATTENTION) for run in _runs(folder, name)]
        if not runs:
            raise UsageError(f"{folder} holds no finished run yet; orderless compare goes on with it")
        return cls(folder, info, runs)

    @property
    def split(self) -> str:
        return str(self.info["split"])

    @cached_property
    def examples(self) -> list[int]:
        """Places in the split of images that were looked at more closely, and can be shown."""
        return [index for index in self.info["examples"] if self.thumbnail(index).is_file()]

    @cached_property
    def vocabulary(self) -> Vocabulary:
        return self.runs[0].folder.vocabulary()

    @cached_property
    def areas(self) -> Tensor | None:
        """[images, labels] share of the image that a label's object covers; None if the data has no boxes."""
        file = self.folder / "areas.safetensors"
        return load_file(file)["areas"] if file.is_file() else None

    @property
    def variants(self) -> list[str]:
        return list(dict.fromkeys(run.variant for run in self.runs))

    @property
    def seeds(self) -> list[int]:
        return sorted({run.config.seed for run in self.runs})

    def of(self, variant: str) -> list[Run]:
        """The runs of a variant, by seed."""
        return [run for run in self.runs if run.variant == variant]

    def main(self, method: str) -> list[Run]:
        """The runs of a method as the paper means it: with attention if there are such."""
        return self.of(method) or self.of(method + NO_ATTENTION)

    def punished(self) -> dict[str, float]:
        """By label, the share of right predictions that MLA punished in the last epoch, all seeds together.

        Without labels that were rightly predicted only a few times.
        """
        right: Counter[str] = Counter()
        punished: Counter[str] = Counter()
        for run in self.main("mla"):
            for label, counts in run.metrics.get("penalisation", {}).get("labels", {}).items():
                right[label] += counts["right"]
                punished[label] += counts["punished"]
        return {label: punished[label] / count for label, count in right.items() if count >= OFTEN}

    def thumbnail(self, index: int) -> Path:
        return self.folder / "examples" / f"{index}.jpg"


def title(variant: str) -> str:
    """A variant as a reader sees it."""
    method = variant.removesuffix(NO_ATTENTION)
    return TITLES.get(method, method) + (", no attention" if variant != method else "")


def _runs(folder: Path, variant: str) -> list[Run]:
    found = [Run(variant, RunFolder(path)) for path in (folder / variant).glob("seed-*")]
    done = [r for r in found if r.folder.metrics_file.is_file() and r.folder.predictions_file.is_file()]
    return sorted(done, key=lambda run: run.config.seed)
