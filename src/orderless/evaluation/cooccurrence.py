"""Which labels come together, in the predictions and in truth (the paper's co-occurrence figures)."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from orderless.evaluation.checks import check_labels


def cooccurrence_matrix(labels: Tensor, ignore: Tensor | None = None) -> Tensor:
    """In how many images each pair of labels comes together, `[labels, labels]` int64, zero on the diagonal.

    An ignored cell counts as absent, so the pairs it would be part of count nowhere.
    """
    check_labels(labels, ignore=ignore)
    present = (labels if ignore is None else labels & ~ignore).double()  # [images, labels]
    return (present.T @ present).long().fill_diagonal_(0)


def cooccurrence_difference(predicted: Tensor, truth: Tensor, ignore: Tensor | None = None) -> Tensor:
    """Prediction minus truth, `[labels, labels]` int64: above zero where labels are put together too often."""
    check_labels(truth, predicted, ignore)
    return cooccurrence_matrix(predicted, ignore) - cooccurrence_matrix(truth, ignore)


def cooccurrence_error(predicted: Tensor, truth: Tensor, ignore: Tensor | None = None) -> float:
    """Pairs too many and too few, over the pairs in truth; 0 is right, and it may exceed 1.

    If truth holds no pair at all, it is the number of wrong pairs.
    """
    check_labels(truth, predicted, ignore)
    return _error(cooccurrence_matrix(predicted, ignore), cooccurrence_matrix(truth, ignore))


def group_members(groups: Sequence[str]) -> dict[str, Tensor]:
    """The label indices of every group of two or more labels, in order of first appearance.

    `groups` names the group (super-category) of every label; the empty name means none.
    """
    members: dict[str, list[int]] = {}
    for index, group in enumerate(groups):
        if group:
            members.setdefault(group, []).append(index)
    return {group: torch.tensor(indices) for group, indices in members.items() if len(indices) > 1}


def matrix_by_group(matrix: Tensor, groups: Sequence[str]) -> dict[str, Tensor]:
    """The part of a `[labels, labels]` matrix inside each group, `[members, members]`."""
    if matrix.ndim != 2 or matrix.shape != (len(groups), len(groups)):
        raise ValueError(f"the matrix has the shape {list(matrix.shape)} but there are {len(groups)} groups of labels")
    return {group: matrix[indices][:, indices] for group, indices in group_members(groups).items()}


def cooccurrence_error_by_group(
    predicted: Tensor, truth: Tensor, groups: Sequence[str], ignore: Tensor | None = None
) -> dict[str, float]:
    """`cooccurrence_error` among the labels of each group."""
    check_labels(truth, predicted, ignore)
    claims = matrix_by_group(cooccurrence_matrix(predicted, ignore), groups)
    truths = matrix_by_group(cooccurrence_matrix(truth, ignore), groups)
    return {group: _error(claims[group], truths[group]) for group in truths}


def _error(predicted: Tensor, truth: Tensor) -> float:
    # Each matrix holds each pair twice; the halves cancel unless truth is empty.
    wrong, right = (predicted - truth).abs().sum(), truth.sum()
    return int(wrong) / 2 / max(int(right) // 2, 1)
