"""Metrics over batches, and over the processes of a distributed run.

A distributed sampler may repeat images to give every process equally many; they are then counted twice.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import orderless.torchvision_ops  # noqa: F401  (before torchmetrics, which may import torchvision)
from orderless.evaluation.checks import check_labels, check_scores, check_sequences
from orderless.evaluation.penalisation import PenalisationCounts, count_penalised
from orderless.evaluation.summary import evaluate

from torchmetrics import Metric  # isort: skip
from torchmetrics.utilities import dim_zero_cat  # isort: skip


class TaggingMetrics(Metric):
    """Collects batches; `compute` gives what `evaluate` gives on all of them at once.

    Scores, sequences and ignored cells are optional, but come with every batch or with none. In a distributed run
    every process must update at least once, if need be with a batch of no images.
    """

    is_differentiable = False
    higher_is_better = None
    full_state_update = False

    truth: list[Tensor]
    predicted: list[Tensor]
    scores: list[Tensor]
    sequences: list[Tensor]
    ignore: list[Tensor]

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        for name in ("truth", "predicted", "scores", "sequences", "ignore"):
            self.add_state(name, default=[], dist_reduce_fx="cat")

    def update(
        self,
        truth: Tensor,
        predicted: Tensor,
        scores: Tensor | None = None,
        sequences: Tensor | None = None,
        ignore: Tensor | None = None,
    ) -> None:
        """One batch, in the shapes of `evaluate`; sequences may be of another width in every batch."""
        check_labels(truth, predicted, ignore)
        if scores is not None:
            check_scores(scores, truth)
        if sequences is not None:
            check_sequences(sequences, truth.shape[1], len(truth))
        optional = {"scores": scores, "sequences": sequences, "ignore": ignore}
        for name, value in optional.items():
            if self.truth and bool(getattr(self, name)) != (value is not None):
                raise ValueError(f"{name} must come with every batch or with none")
        self.truth.append(truth)
        self.predicted.append(predicted)
        for name, value in optional.items():
            if value is not None:
                getattr(self, name).append(_flatten(value) if name == "sequences" else value.detach())

    def collected(self) -> dict[str, Tensor]:
        """All batches joined, by the names of `update`; what never came is not there."""
        whole = {
            name: dim_zero_cat(state)
            for name in ("truth", "predicted", "scores", "sequences", "ignore")
            if len(state := getattr(self, name))
        }
        if "sequences" in whole:
            whole["sequences"] = _unflatten(whole["sequences"])
        return whole

    def compute(self) -> dict[str, float]:
        whole = self.collected()
        if not whole:
            raise ValueError("there is nothing to evaluate yet: call update with a batch first")
        return evaluate(**whole)


class PenalisationRate(Metric):
    """Counts over the batches of an epoch how often a right label was punished; `compute` gives the counts."""

    is_differentiable = False
    higher_is_better = False
    full_state_update = False

    correct: Tensor
    penalised: Tensor

    def __init__(self, labels: int, **settings: Any) -> None:
        super().__init__(**settings)
        for name in ("correct", "penalised"):
            self.add_state(name, default=torch.zeros(labels, dtype=torch.long), dist_reduce_fx="sum")

    def update(self, predicted: Tensor, targets: Tensor, truth: Tensor) -> None:
        """One batch, in the shapes of `count_penalised`."""
        counts = count_penalised(predicted, targets, truth)
        self.correct += counts.correct
        self.penalised += counts.penalised

    def compute(self) -> PenalisationCounts:
        return PenalisationCounts(self.correct.clone(), self.penalised.clone())


def _flatten(sequences: Tensor) -> Tensor:
    """Each sequence without its padding and one -1 behind it, all in one row, so that any two can be joined."""
    closed = torch.nn.functional.pad(sequences.long(), (0, 1), value=-1)  # [images, steps + 1]
    first_end = (closed == -1).cumsum(1) == 1
    return closed[(closed >= 0) | first_end]


def _unflatten(flat: Tensor) -> Tensor:
    """The sequences of `_flatten`, padded with -1 to the longest, `[images, steps]`."""
    ends = (flat == -1).nonzero().squeeze(1)  # [images]
    starts = torch.cat([ends.new_zeros(1), ends[:-1] + 1])
    lengths = ends - starts
    image = torch.arange(len(ends), device=flat.device).repeat_interleave(lengths)
    step = torch.arange(len(image), device=flat.device) - (starts - torch.arange(len(ends), device=flat.device))[image]
    sequences = flat.new_full((len(ends), int(lengths.max()) if len(ends) else 0), -1)
    sequences[image, step] = flat[flat >= 0]
    return sequences
