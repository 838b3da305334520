"""One row per label: the table behind every mean over classes."""

from __future__ import annotations

from typing import NamedTuple

from torch import Tensor

from orderless.evaluation.ranking import average_precision
from orderless.evaluation.sets import class_f1, count_sets, ratio


class ClassResult(NamedTuple):
    """What was right and wrong about one label; AP is None without scores or without positives."""

    tp: int
    fp: int
    fn: int
    precision: float
    recall: float
    F1: float
    AP: float | None


def per_class(
    truth: Tensor, predicted: Tensor, scores: Tensor | None = None, ignore: Tensor | None = None
) -> list[ClassResult]:
    """The results of every label, in the order of the labels; inputs as in `evaluate`."""
    counts = count_sets(truth, predicted, ignore)
    ap: list[float | None] = [None] * truth.shape[1]
    if scores is not None:
        # NaN, the one value unequal to itself, marks a class without positives.
        ap = [value if value == value else None for value in average_precision(scores, truth, ignore).tolist()]
    columns = (
        counts.tp.tolist(),
        counts.fp.tolist(),
        counts.fn.tolist(),
        ratio(counts.tp, counts.tp + counts.fp).tolist(),
        ratio(counts.tp, counts.tp + counts.fn).tolist(),
        class_f1(counts).tolist(),
        ap,
    )
    return [ClassResult(*row) for row in zip(*columns, strict=True)]
