"""The sequence loss: cross-entropy over an arranged sequence of labels and its end token."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from orderless.order.fixed import IGNORE


def sequence_loss(logits: Tensor, targets: Tensor, label_smoothing: float = 0.0) -> Tensor:
    """logits [B, T, m + 1], targets [B, T] from an order -> mean over all target tokens of the batch."""
    return F.cross_entropy(
        logits.flatten(0, 1).float(), targets.flatten(), ignore_index=IGNORE, label_smoothing=label_smoothing
    )
