"""LSEP: the smooth pairwise ranking loss of Li, Song and Luo (CVPR 2017)."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

_ABSENT = -1e9  # finite, so that an image without pairs has a zero gradient instead of none at all


def log_sum_exp_pairwise(scores: Tensor, labels: Tensor) -> Tensor:
    """scores [B, m], labels [B, m] bool -> mean over the images of

        log(1 + Σ exp(f_v - f_u))    over all pairs of a false label v and a true label u.

    The sum over pairs is a product of two sums, hence no pair need ever be formed and none need be sampled (the
    paper samples at most 1000). An image without pairs (no label, or all of them) has the loss 0.
    """
    scores, labels = scores.float(), labels.bool()
    false = scores.masked_fill(labels, _ABSENT).logsumexp(dim=1)  # [B]
    true = (-scores).masked_fill(~labels, _ABSENT).logsumexp(dim=1)  # [B]
    return F.softplus(false + true).mean()
