"""Metrics of predicted label sets: per class, overall, per image.

Everything follows from counts that add over batches (`SetCounts`). 0/0 is 0 throughout, as in scikit-learn
with `zero_division=0`: a class never predicted has precision 0, a class without positives has recall 0, and
both stay in the means over classes; an image without labels has recall and accuracy 0 in the example-based means.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import torch
from torch import Tensor

from orderless.evaluation.checks import check_labels


@dataclass(frozen=True, eq=False)
class SetCounts:
    """What set metrics need to know of any number of images; counts of two batches add with `+`."""

    tp: Tensor  # [labels] int64, cells by class: true positives, false positives, false negatives, true negatives
    fp: Tensor
    fn: Tensor
    tn: Tensor
    images: int  # images with at least one cell that is not ignored
    exact: int  # images whose set is exactly right
    accuracy: float  # sums over images of |both| / |either|, |both| / |predicted|, |both| / |truth|
    precision: float
    recall: float

    def __add__(self, other: SetCounts) -> SetCounts:
        return SetCounts(**{f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)})


def ratio(part: Tensor, whole: Tensor) -> Tensor:
    """part / whole in double precision, with 0/0 = 0."""
    return torch.where(whole > 0, part.double() / whole.double(), 0.0)


def harmonic_mean(precision: float, recall: float) -> float:
    """F1 of a precision and a recall (the paper says "geometric mean", but its tables are harmonic means)."""
    return 2 * precision * recall / (precision + recall) if precision + recall > 0 else 0.0


def count_sets(truth: Tensor, predicted: Tensor, ignore: Tensor | None = None) -> SetCounts:
    """Count right and wrong cells; ignored cells count nowhere, nor do images of which every cell is ignored."""
    check_labels(truth, predicted, ignore)
    known = torch.ones_like(truth) if ignore is None else ~ignore  # [images, labels]
    true, said = truth & known, predicted & known  # [images, labels]
    both, either = true & said, true | said  # [images, labels]
    hits, union = both.sum(1), either.sum(1)  # [images]
    tp, positives, claims, cells = both.sum(0), true.sum(0), said.sum(0), known.sum(0)  # [labels]
    evaluated = known.any(1)  # [images]
    return SetCounts(
        tp=tp,
        fp=claims - tp,
        fn=positives - tp,
        tn=cells - positives - claims + tp,
        images=int(evaluated.sum()),
        exact=int(((hits == union) & evaluated).sum()),
        accuracy=float(ratio(hits, union).sum()),
        precision=float(ratio(hits, said.sum(1)).sum()),
        recall=float(ratio(hits, true.sum(1)).sum()),
    )


def class_metrics(counts: SetCounts) -> dict[str, float]:
    """CP, CR, CF1 (means over classes), OP, OR, OF1 (all cells pooled), as in the paper's tables."""
    cp = float(ratio(counts.tp, counts.tp + counts.fp).mean())
    cr = float(ratio(counts.tp, counts.tp + counts.fn).mean())
    tp, fp, fn = counts.tp.sum(), counts.fp.sum(), counts.fn.sum()
    op, or_ = float(ratio(tp, tp + fp)), float(ratio(tp, tp + fn))
    return {
        "CP": cp,
        "CR": cr,
        "CF1": harmonic_mean(cp, cr),
        "OP": op,
        "OR": or_,
        "OF1": harmonic_mean(op, or_),
    }


def class_f1(counts: SetCounts) -> Tensor:
    """F1 of every class, `[labels]` float64."""
    return ratio(2 * counts.tp, 2 * counts.tp + counts.fp + counts.fn)


def example_metrics(counts: SetCounts) -> dict[str, float]:
    """PA-100K's metrics: means over images, and the F1 of the mean precision and the mean recall."""
    images = max(counts.images, 1)
    precision, recall = counts.precision / images, counts.recall / images
    return {
        "example-accuracy": counts.accuracy / images,
        "example-precision": precision,
        "example-recall": recall,
        "example-F1": harmonic_mean(precision, recall),
    }


def set_metrics(counts: SetCounts) -> dict[str, float]:
    """Every metric of label sets, by name."""
    tpr = ratio(counts.tp, counts.tp + counts.fn)  # [labels]
    tnr = ratio(counts.tn, counts.tn + counts.fp)  # [labels]
    wrong = (counts.fp + counts.fn).sum()
    cells = (counts.tp + counts.fp + counts.fn + counts.tn).sum()
    return {
        **class_metrics(counts),
        "macro-F1": float(class_f1(counts).mean()),
        **example_metrics(counts),
        "mA": float((tpr + tnr).mean()) / 2,
        "hamming-loss": float(ratio(wrong, cells)),
        "subset-accuracy": counts.exact / max(counts.images, 1),
    }
