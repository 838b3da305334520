"""Metrics of scores: average precision, top-k, and the threshold that suits the data best.

Equal scores are one step of the ranking: no order is invented among them, so results do not depend on the
order of the images. A class without positives has no average precision (NaN) and is left out of the mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from orderless.evaluation.checks import check_labels, check_scores
from orderless.evaluation.sets import class_metrics, count_sets, ratio

NEVER = 1.0  # the threshold where no positive says what the threshold should be


@dataclass(frozen=True, eq=False)
class _Ranking:
    """Each class's images from the highest score to the lowest; counts include the image itself."""

    scores: Tensor  # [labels, images] descending
    positive: Tensor  # [labels, images] bool, truth where it is known
    tp: Tensor  # [labels, images] positives so far
    seen: Tensor  # [labels, images] images so far that are not ignored
    precision: Tensor  # [labels, images] tp / seen
    step_end: Tensor  # [labels, images] bool, the last image of those with this score
    positives: Tensor  # [labels]


def _rank(scores: Tensor, truth: Tensor, ignore: Tensor | None) -> _Ranking:
    check_labels(truth, ignore=ignore)
    check_scores(scores, truth)
    ordered, order = scores.T.contiguous().sort(dim=1, descending=True)  # [labels, images]
    known = torch.ones_like(truth) if ignore is None else ~ignore
    positive = (truth & known).T.gather(1, order)
    tp, seen = positive.cumsum(1), known.T.gather(1, order).cumsum(1)
    return _Ranking(
        scores=ordered,
        positive=positive,
        tp=tp,
        seen=seen,
        precision=ratio(tp, seen),
        step_end=_step_ends(ordered),
        positives=positive.sum(1),
    )


def _step_ends(ordered: Tensor) -> Tensor:
    """True at the last of each run of equal values along the last dimension."""
    ends = torch.ones_like(ordered, dtype=torch.bool)
    ends[..., :-1] = ordered[..., :-1] != ordered[..., 1:]
    return ends


def _average_precision(ranking: _Ranking) -> Tensor:
    # Every positive contributes the precision at the end of its step: look it up from the right.
    images = ranking.scores.shape[1]
    places = torch.arange(images, device=ranking.scores.device)
    end = torch.where(ranking.step_end, places, images).flip(1).cummin(1).values.flip(1)  # [labels, images]
    contribution = torch.where(ranking.positive, ranking.precision.gather(1, end), 0.0)
    return torch.where(ranking.positives > 0, contribution.sum(1) / ranking.positives, torch.nan)


def _average_precision_11point(ranking: _Ranking) -> Tensor:
    labels, images = ranking.scores.shape
    if images == 0:
        return torch.full((labels,), torch.nan, dtype=torch.float64)
    at_ends = torch.where(ranking.step_end, ranking.precision, 0.0)
    best_from_here = at_ends.flip(1).cummax(1).values.flip(1)  # [labels, images]
    # Recall k/10 is reached at the ⌈k·positives/10⌉-th positive; in integers, because 3/10 >= 0.1 * 3 is false.
    tenths = torch.arange(11, device=ranking.tp.device)
    needed = (ranking.positives[:, None] * tenths + 9) // 10  # [labels, 11]
    place = torch.searchsorted(ranking.tp, needed).clamp(max=images - 1)
    return torch.where(ranking.positives > 0, best_from_here.gather(1, place).mean(1), torch.nan)


def average_precision(scores: Tensor, truth: Tensor, ignore: Tensor | None = None) -> Tensor:
    """Non-interpolated average precision of every class, `[labels]` float64, NaN without positives."""
    return _average_precision(_rank(scores, truth, ignore))


def average_precision_11point(scores: Tensor, truth: Tensor, ignore: Tensor | None = None) -> Tensor:
    """PASCAL VOC 2007's interpolated average precision of every class, `[labels]` float64, NaN without positives."""
    return _average_precision_11point(_rank(scores, truth, ignore))


def mean_over_classes(average_precisions: Tensor) -> float:
    """Mean of what is not NaN; 0 if no class has a positive."""
    defined = average_precisions[~average_precisions.isnan()]
    return float(defined.mean()) if len(defined) else 0.0


def top_k_sets(scores: Tensor, k: int = 3, ignore: Tensor | None = None) -> Tensor:
    """The k labels of highest score of every image, `[images, labels]` bool; of equal scores the lower index.

    No threshold: always k labels, unless fewer are known. An ignored label takes no place among the k.
    """
    if k < 1:
        raise ValueError(f"top-k needs k of at least 1, not {k}")
    if ignore is not None and ignore.shape != scores.shape:
        raise ValueError(f"ignore has the shape {list(ignore.shape)} but scores have {list(scores.shape)}")
    known = torch.ones_like(scores, dtype=torch.bool) if ignore is None else ~ignore
    order = scores.masked_fill(~known, -1.0).argsort(dim=1, descending=True, stable=True)[:, :k]  # [images, k]
    return torch.zeros_like(known).scatter_(1, order, True) & known


def top_k_metrics(scores: Tensor, truth: Tensor, k: int = 3, ignore: Tensor | None = None) -> dict[str, float]:
    """`top3-CP` to `top3-OF1`: the metrics of the sets of the k highest scores."""
    check_labels(truth, ignore=ignore)
    check_scores(scores, truth)
    metrics = class_metrics(count_sets(truth, top_k_sets(scores, k, ignore), ignore))
    return {f"top{k}-{name}": value for name, value in metrics.items()}


def ranking_metrics(scores: Tensor, truth: Tensor, ignore: Tensor | None = None) -> dict[str, float]:
    """Every metric of scores, by name."""
    ranking = _rank(scores, truth, ignore)
    return {
        "mAP": mean_over_classes(_average_precision(ranking)),
        "mAP-11point": mean_over_classes(_average_precision_11point(ranking)),
        **top_k_metrics(scores, truth, 3, ignore),
    }


def best_threshold(
    scores: Tensor, truth: Tensor, metric: Literal["OF1", "CF1"] = "OF1", ignore: Tensor | None = None
) -> float:
    """The one threshold, for all classes, at which `scores >= threshold` has the highest metric.

    Every score that occurs is tried; of equally good thresholds the highest is taken, and 1.0 without positives.
    """
    if metric not in ("OF1", "CF1"):
        raise ValueError(f"the threshold can be chosen for OF1 or CF1, not for {metric!r}")
    check_labels(truth, ignore=ignore)
    check_scores(scores, truth)
    if metric == "OF1":  # all cells pooled are one class
        flat = None if ignore is None else ignore.reshape(-1, 1)
        return float(best_thresholds_per_class(scores.reshape(-1, 1), truth.reshape(-1, 1), flat)[0])
    ranking = _rank(scores, truth, ignore)
    if not bool(ranking.positives.any()):
        return NEVER
    # Lowering the threshold past one cell changes one class's precision and recall. Summing these changes over
    # all cells, from the highest score down, gives the sums over classes at every threshold at once.
    none_yet = ranking.precision.new_zeros(len(ranking.positives), 1)
    more_precision = ranking.precision.diff(dim=1, prepend=none_yet)  # [labels, images]
    more_recall = ratio(ranking.positive, ranking.positives[:, None])
    ordered, order = ranking.scores.flatten().sort(descending=True, stable=True)  # [labels * images]
    precision = more_precision.flatten()[order].cumsum(0)
    recall = more_recall.flatten()[order].cumsum(0)
    f1 = torch.where(_step_ends(ordered), ratio(precision * recall, precision + recall), -1.0)
    return float(ordered[f1.argmax()])


def best_thresholds_per_class(scores: Tensor, truth: Tensor, ignore: Tensor | None = None) -> Tensor:
    """For every class the threshold at which `scores >= threshold` has the highest F1, `[labels]`.

    Of equally good thresholds the highest is taken, and 1.0 for a class without positives.
    """
    ranking = _rank(scores, truth, ignore)
    if ranking.scores.shape[1] == 0:
        return ranking.scores.new_full(ranking.positives.shape, NEVER)
    f1 = ratio(2 * ranking.tp, ranking.seen + ranking.positives[:, None])  # [labels, images]
    f1 = torch.where(ranking.step_end, f1, -1.0)
    best = ranking.scores.gather(1, f1.argmax(1, keepdim=True)).squeeze(1)  # [labels]
    return torch.where(ranking.positives > 0, best, NEVER)
