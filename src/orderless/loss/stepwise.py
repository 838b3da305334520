"""The loss of an order-free recurrent model: at every step, every label is judged on its own."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def stepwise_loss(logits: Tensor, labels: Tensor) -> Tensor:
    """logits [B, T, m], labels [B, m] bool -> binary cross-entropy, mean over all labels of all steps that count.

    The target of every step is the whole label set: nothing is taken out of it once predicted. An image of n
    labels counts with its first n + 1 steps: one to choose each label, and one to find that nothing is left.
    """
    steps = torch.arange(logits.shape[1], device=logits.device)  # [T]
    counts = (steps <= labels.sum(dim=1, keepdim=True)).float()  # [B, T]
    targets = labels.float().unsqueeze(1).expand_as(logits)
    losses = F.binary_cross_entropy_with_logits(logits.float(), targets, reduction="none").mean(dim=2)  # [B, T]
    return (losses * counts).sum() / counts.sum()
