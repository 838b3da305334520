"""Losses for heads that judge every label on its own."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor


def binary_cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """logits [B, m], labels [B, m] bool -> mean over all cells."""
    return F.binary_cross_entropy_with_logits(logits.float(), labels.float())


def asymmetric_loss(
    logits: Tensor, labels: Tensor, gamma_negative: float = 4.0, gamma_positive: float = 0.0, margin: float = 0.05
) -> Tensor:
    """ASL (Ridnik et al., ICCV 2021): easy negatives weigh little, very easy ones nothing.

    logits [B, m], labels [B, m] bool -> mean over all cells, with p the probability of a label, of

        -(1 - p)^gamma_positive · log p                   where the label is true
        -p_m^gamma_negative · log(1 - p_m)                where it is false, p_m = max(p - margin, 0)

    The defaults are those of the paper's main experiments (MS-COCO); gamma_positive 1 is the other value in use,
    where positives are many or noisy. The paper sums over the labels; the mean only divides by m. With
    gamma_positive 0 a true label then has exactly the gradient it has under `binary_cross_entropy`, so that the
    same learning rates serve.
    """
    logits = logits.float()
    shifted = (logits.sigmoid() - margin).clamp(0.0, 1.0 - 1e-6)  # [B, m], p_m; below 1 for the logarithm's sake
    negative = -torch.log1p(-shifted) * shifted**gamma_negative
    positive = -F.logsigmoid(logits) * (-logits).sigmoid() ** gamma_positive
    return torch.where(labels.bool(), positive, negative).mean()
