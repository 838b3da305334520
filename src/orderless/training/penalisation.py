"""How often training punishes a right label, counted while it trains (the paper's argument against MLA)."""

from __future__ import annotations

import orderless.torchvision_ops  # noqa: F401  must come before Lightning

import json  # isort: skip
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
import torch
from torch import Tensor

from orderless.evaluation.penalisation import PenalisationCounts, count_penalised
from orderless.files import write_text
from orderless.labels import Vocabulary
from orderless.order import Order


class PenalisationLog(pl.Callback):
    """Looks over an order's shoulder; the counts of the last whole epoch stay on disk, so a resume keeps them.

    Of several processes the first one counts, which is a fair sample.
    """

    def __init__(self, labels: int, file: Path) -> None:
        self.labels, self.file = labels, file
        self._reset()

    def watch(self, order: Order) -> Order:
        """The same order, counted."""

        def watched(logits: Tensor, labels: Tensor) -> Tensor:
            targets = order(logits, labels)
            self.counts += count_penalised(logits.argmax(2).cpu(), targets.cpu(), labels.cpu())
            return targets

        return watched

    def on_train_epoch_start(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        self._reset()

    def on_train_epoch_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        if trainer.is_global_zero:
            counts = {"right": self.counts.correct.tolist(), "punished": self.counts.penalised.tolist()}
            write_text(self.file, json.dumps(counts))

    def state_dict(self) -> dict[str, Any]:
        return {"right": self.counts.correct, "punished": self.counts.penalised}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.counts = PenalisationCounts(state_dict["right"], state_dict["punished"])

    def _reset(self) -> None:
        nothing = torch.zeros(self.labels, dtype=torch.long)
        self.counts = PenalisationCounts(nothing, nothing)


def read_penalisation(file: Path, vocabulary: Vocabulary) -> dict[str, Any]:
    """For metrics.json: the overall rate, and right and punished predictions of every label."""
    counts = json.loads(file.read_text(encoding="utf-8"))
    total = PenalisationCounts(torch.tensor(counts["right"]), torch.tensor(counts["punished"]))
    labels = {
        name: {"right": right, "punished": punished}
        for name, right, punished in zip(vocabulary.names, counts["right"], counts["punished"], strict=True)
    }
    return {"rate": total.rate, "labels": labels}
