"""Losses for heads that judge every label on its own."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor


def binary_cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """logits [B, m], labels [B, m] bool -> mean over all cells."""
    return F.binary_cross_entropy_with_logits(logits.float(), labels.float())
