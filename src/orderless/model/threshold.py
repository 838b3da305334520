"""What heads share that decide by a threshold on a label's probability."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from orderless.model.prediction import Prediction, set_to_sequence

DEFAULT_THRESHOLD = 0.5


class ThresholdedHead(nn.Module):
    """A head that keeps its threshold with its weights, so that a tuned one is saved and loaded."""

    threshold: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("threshold", torch.tensor(DEFAULT_THRESHOLD))


def choose(scores: Tensor, threshold: Tensor, evidence: Tensor) -> Prediction:
    """The labels whose score reaches the threshold, in the order of their scores.

    scores [B, m] in [0, 1]; evidence [B, m, cells] says where each label would be seen.
    """
    labels = scores >= threshold
    sequence = set_to_sequence(labels, scores)  # [B, T]
    return Prediction(sequence, labels, scores, attention=evidence_of(sequence, evidence))


def evidence_of(sequence: Tensor, evidence: Tensor) -> Tensor:
    """The rows of evidence [B, m, cells] that belong to the labels of a sequence [B, T] -> [B, T, cells]."""
    rows = sequence.clamp(min=0).unsqueeze(2).expand(-1, -1, evidence.shape[2])
    return evidence.gather(1, rows)
