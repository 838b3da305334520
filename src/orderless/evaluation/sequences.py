"""Metrics of the sequences a model writes: repeated labels, and how rigid the order of labels is.

A sequence holds label indices in the order they were written, repeats included, then -1. These metrics ask
what was written, not whether it is true; so there is nothing to ignore.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from orderless.evaluation.checks import check_sequences
from orderless.model import prediction


class OrderRigidness(NamedTuple):
    """`before[i, j]` counts the images in which label i was written (first) before label j."""

    value: float
    before: Tensor  # [labels, labels] int64


def repeats(sequences: Tensor) -> Tensor:
    """True where a label was written before in the same sequence, `[images, steps]`."""
    check_sequences(sequences)
    same = sequences[:, :, None] == sequences[:, None, :]  # [images, steps, steps]
    return same.tril(diagonal=-1).any(2) & (sequences >= 0)


def drop_duplicates(sequences: Tensor) -> Tensor:
    """The sequences with only the first of each repeated label, closed up and padded with -1 to the same width."""
    kept = ~repeats(sequences) & (sequences >= 0)  # [images, steps]
    front = (~kept).to(torch.uint8).argsort(dim=1, stable=True)  # kept steps first, in their order
    return sequences.where(kept, -1).gather(1, front)


def sequence_to_set(sequences: Tensor, labels: int) -> Tensor:
    """The labels each sequence holds, `[images, labels]` bool."""
    check_sequences(sequences, labels)
    return prediction.sequence_to_set(sequences.long(), labels)


def duplicate_rate(sequences: Tensor) -> float:
    """The share of images whose sequence repeats a label; 0 without images."""
    return int(repeats(sequences).any(1).sum()) / max(len(sequences), 1)


def order_rigidness(sequences: Tensor, labels: int) -> OrderRigidness:
    """How often pairs of labels come in their more frequent order: 1 is a fixed order, 0.5 the least possible.

    Over all pairs of labels written for the same image. Without any pair it is 1: no order was ever broken.
    """
    check_sequences(sequences, labels)
    single = drop_duplicates(sequences).long()  # [images, steps]
    before = torch.zeros(labels * labels, dtype=torch.long, device=sequences.device)
    for distance in range(1, single.shape[1]):
        first, second = single[:, :-distance], single[:, distance:]
        pairs = (first * labels + second)[second >= 0]  # the second is no padding, hence nor is the first
        before += pairs.bincount(minlength=labels * labels)
    before = before.view(labels, labels)
    total = int(before.sum())
    if total == 0:
        return OrderRigidness(1.0, before)
    most = torch.maximum(before, before.T).triu(diagonal=1).sum()
    return OrderRigidness(int(most) / total, before)
