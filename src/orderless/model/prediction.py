"""What a head says about a batch of images, whichever head it is."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor

NO_LABEL = -1  # pads a sequence after the end
_BY_STEP = ("sequence", "probabilities", "attention")  # of a prediction


@dataclass
class Prediction:
    """Label sets, the order they were written in, and what the model looked at.

    `scores` gives every label of the vocabulary a number in [0, 1] for ranking (mAP); the prediction itself
    is the set `labels`, never a threshold on a sequence model's scores.
    """

    sequence: Tensor  # [B, T] label indices as written, duplicates included, NO_LABEL after the end
    labels: Tensor  # [B, m] bool, the predicted set
    scores: Tensor  # [B, m]
    probabilities: Tensor | None = None  # [B, T, m + 1] of every step, end token last; only of a written sequence
    attention: Tensor | None = None  # [B, T, cells] non-negative, sums to one over the cells

    @property
    def written(self) -> Tensor | None:
        """The sequence, if the model wrote one; a head that only ranks its labels has no order of its own."""
        return self.sequence if self.probabilities is not None else None

    def shortened(self, steps: int) -> Prediction:
        """Only the first so many steps."""
        cut = {name: value[:, :steps] for name in _BY_STEP if (value := getattr(self, name)) is not None}
        return replace(self, **cut)

    def to(self, device: torch.device | str) -> Prediction:
        return Prediction(*(v.to(device) if isinstance(v, Tensor) else v for v in vars(self).values()))


def written_somewhere(probabilities: Tensor) -> Tensor:
    """How probable each label is at one step or another: 1 - Π (1 - p), taken along the sequence that was written.

    probabilities [B, T, m + 1], zero after the end -> [B, m]. A label that was nearly chosen at several steps ranks
    above one that came near only once; the largest probability alone ranks worse (docs/accuracy.md).
    """
    return 1.0 - (1.0 - probabilities[:, :, :-1]).prod(dim=1)


def sequence_to_set(sequence: Tensor, n_labels: int) -> Tensor:
    """[B, T] label indices padded with NO_LABEL -> [B, m] bool."""
    marks = torch.zeros(sequence.shape[0], n_labels + 1, dtype=torch.bool, device=sequence.device)
    marks.scatter_(1, torch.where(sequence < 0, n_labels, sequence), True)
    return marks[:, :n_labels]


def set_to_sequence(labels: Tensor, scores: Tensor) -> Tensor:
    """[B, m] bool and scores -> [B, T] label indices, highest score first, padded with NO_LABEL."""
    longest = int(labels.sum(1).max()) if len(labels) else 0
    ranked = torch.where(labels, scores, -torch.inf).argsort(dim=1, descending=True, stable=True)[:, :longest]
    return torch.where(labels.gather(1, ranked), ranked, NO_LABEL)
