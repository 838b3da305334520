"""Where a model is good and where it is not: F1 by number of labels, by label frequency, by object size.

Each band pools its cells (overall precision, recall and F1), and 0/0 is 0. Bands that hold nothing are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import torch
from torch import Tensor

from orderless.evaluation.checks import check_labels
from orderless.evaluation.sets import class_metrics, count_sets, harmonic_mean, ratio


class Band(NamedTuple):
    """One band: its name, how many images, labels or objects it holds, and its pooled metrics."""

    name: str
    size: int
    precision: float
    recall: float
    F1: float


def by_label_count(truth: Tensor, predicted: Tensor, ignore: Tensor | None = None, most: int = 8) -> list[Band]:
    """F1 of the images with 0, 1, 2, … true labels; `most` and more are one band. Sizes are images."""
    check_labels(truth, predicted, ignore)
    if most < 1:
        raise ValueError(f"the last band must start at one label or more, not at {most}")
    known = truth if ignore is None else truth & ~ignore
    label_count = known.sum(1).clamp(max=most)  # [images]
    bands = []
    for count in range(most + 1):
        rows = label_count == count
        if not bool(rows.any()):
            continue
        name = f"{count}+" if count == most else str(count)
        metrics = _pooled(truth[rows], predicted[rows], None if ignore is None else ignore[rows])
        bands.append(Band(name, int(rows.sum()), *metrics))
    return bands


def by_frequency(
    truth: Tensor, predicted: Tensor, frequencies: Sequence[int], ignore: Tensor | None = None, bands: int = 3
) -> list[Band]:
    """F1 of the labels from the rarest to the most frequent, in bands of equally many labels. Sizes are labels.

    `frequencies` are those of the training split; a band's name is its lowest and highest frequency.
    """
    check_labels(truth, predicted, ignore)
    if len(frequencies) != truth.shape[1]:
        raise ValueError(f"there are {len(frequencies)} frequencies but {truth.shape[1]} labels")
    if bands < 1:
        raise ValueError(f"there must be one band or more, not {bands}")
    frequency = torch.as_tensor(list(frequencies))  # [labels]
    rare_first = frequency.argsort(stable=True)
    results = []
    for members in rare_first.tensor_split(bands):
        if len(members) == 0:
            continue
        low, high = int(frequency[members[0]]), int(frequency[members[-1]])
        columns = members.to(truth.device)
        metrics = _pooled(truth[:, columns], predicted[:, columns], None if ignore is None else ignore[:, columns])
        results.append(Band(f"{low}–{high}" if low < high else str(low), len(members), *metrics))
    return results


def by_object_size(
    truth: Tensor,
    predicted: Tensor,
    areas: Tensor,
    ignore: Tensor | None = None,
    edges: Sequence[float] = (0.01, 0.1),
) -> list[Band]:
    """F1 of the true labels whose object is small, medium, large. Sizes are objects.

    areas: float `[images, labels]`, the label's (largest) object as a share of the image; NaN where unknown.

    A label predicted wrongly has no object, hence no size. Its class's false positives are shared among the
    bands as the class's objects are (as all objects are, if the class has none), so that over all bands they add up to
    what the whole has.
    """
    check_labels(truth, predicted, ignore)
    if not areas.dtype.is_floating_point or areas.shape != truth.shape:
        raise ValueError(f"areas must be a float tensor of the shape of truth, {list(truth.shape)}")
    if not edges or list(edges) != sorted(set(edges)):
        raise ValueError(f"the edges between sizes must be one or more ascending numbers, not {list(edges)}")
    sized = truth & ~areas.isnan() & (torch.ones_like(truth) if ignore is None else ~ignore)  # [images, labels]
    # Band k holds edges[k-1] <= area < edges[k], in the precision of the areas: a hundredth is a hundredth.
    boundaries = torch.tensor(list(edges), dtype=areas.dtype, device=areas.device)
    band_of = torch.bucketize(areas, boundaries, right=True)  # [images, labels]
    fp = count_sets(truth, predicted, ignore).fp  # [labels]
    objects = sized.sum(0)  # [labels]
    percent = [f"{edge:.3g}%" for edge in (100 * e for e in edges)]
    names = [f"<{percent[0]}", *(f"{a}–{b}" for a, b in pairwise(percent)), f"≥{percent[-1]}"]
    bands = []
    for index, name in enumerate(names):
        here = sized & (band_of == index)  # [images, labels]
        size = int(here.sum())
        if size == 0:
            continue
        hits = (here & predicted).sum()
        share = ratio(here.sum(0), objects).where(objects > 0, size / int(objects.sum()))  # [labels]
        claims = hits + (fp * share).sum()
        precision, recall = float(ratio(hits, claims)), int(hits) / size
        bands.append(Band(name, size, precision, recall, harmonic_mean(precision, recall)))
    return bands


def _pooled(truth: Tensor, predicted: Tensor, ignore: Tensor | None) -> tuple[float, float, float]:
    metrics = class_metrics(count_sets(truth, predicted, ignore))
    return metrics["OP"], metrics["OR"], metrics["OF1"]
