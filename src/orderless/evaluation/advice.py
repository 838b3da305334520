"""What a person can do about a tagger's mistakes: which labels need photos, which are mixed up, which tags look wrong.

Pure functions on the tensors of a judgement (`truth`, `predicted`, `scores`, `ignore`); labels and images are
indices, and nothing here has words. The rules are plain on purpose, so that a page can say them in a sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import NamedTuple

import torch
from torch import Tensor

from orderless.evaluation.checks import check_labels, check_scores
from orderless.evaluation.table import ClassResult, per_class

LEAST = 5  # true images that a label needs before anything is said about how good it is
PLENTY = 100  # training images of a label from which on it may be hard for another reason than their number
SURE, UNLIKELY = 0.9, 0.05  # scores beyond which a disagreement with the truth is worth a look
TRUSTED = 0.5  # precision (recall) that a label needs before its high (low) scores are held against the truth


class Confusion(NamedTuple):
    """In `images` images one label was written falsely while another, true one was missed."""

    written: int
    true: int
    images: int


class Suspect(NamedTuple):
    """An image whose truth the scores contradict: labels it may lack, labels it may have wrongly, each with its score.

    `gap` says how far the scores are from the truth: the share of the images that truly have the label that score
    lower than this one, which lacks it; or of those that lack it that score higher than this one, which has it. Unlike
    bare scores that compares a rare label with a common one.
    """

    row: int
    lacking: tuple[tuple[int, float], ...]
    doubtful: tuple[tuple[int, float], ...]
    gap: float


def strong_and_weak(results: Sequence[ClassResult], OF1: float, count: int = 5) -> tuple[list[int], list[int]]:
    """The labels of highest F1, best first, not below the overall F1; and those of lowest, worst first, below it.

    Labels with fewer than `LEAST` true images are in neither: nothing can be said about them.
    """
    judged = [i for i, result in enumerate(results) if result.tp + result.fn >= LEAST]
    best_first = sorted(judged, key=lambda i: -results[i].F1)
    strong = [i for i in best_first if results[i].F1 >= OF1 and results[i].tp]
    weak = [i for i in reversed(best_first) if results[i].F1 < OF1 or not results[i].tp]
    return strong[:count], weak[:count]


def barely_judged(results: Sequence[ClassResult]) -> list[int]:
    """The labels with fewer than `LEAST` true images."""
    return [i for i, result in enumerate(results) if result.tp + result.fn < LEAST]


def wanting_photos(
    results: Sequence[ClassResult], frequencies: Sequence[int], OF1: float, count: int = 4
) -> tuple[list[int], list[int]]:
    """Labels below the overall F1: those that also have fewer training images than the median label, and the others.

    Fewer than `PLENTY` are few in any case. The first may get better with more photos; the second have enough and are
    hard for another reason. Worst first. A label that could not be judged counts as bad if it is rare.
    """
    typical = max(median(frequencies), PLENTY)
    few, enough = [], []
    for i, (result, frequency) in enumerate(zip(results, frequencies, strict=True)):
        if result.tp + result.fn >= LEAST and result.F1 >= OF1:
            continue
        if frequency < typical:
            few.append(i)
        elif result.tp + result.fn >= LEAST:
            enough.append(i)
    few.sort(key=lambda i: (results[i].F1, frequencies[i]))
    enough.sort(key=lambda i: results[i].F1)
    return few[:count], enough[:count]


def confused(truth: Tensor, predicted: Tensor, ignore: Tensor | None = None, count: int = 5) -> list[Confusion]:
    """Pairs of labels of which one is written where the other is true, far oftener than by chance.

    Chance: the false ones and the missed ones spread evenly over the images. A pair must be there in three images and
    three times as often as that; the most surprising pairs come first.
    """
    check_labels(truth, predicted, ignore)
    known = torch.ones_like(truth) if ignore is None else ~ignore
    false = (predicted & ~truth & known).double()  # [images, labels]
    missed = (truth & ~predicted & known).double()  # [images, labels]
    together = false.T @ missed  # [written, true]
    chance = false.sum(0)[:, None] * missed.sum(0)[None, :] / max(len(truth), 1)
    surprise = (together - chance) / (chance + 1).sqrt()
    surprise[(together < 3) | (together < 3 * chance)] = 0
    best = surprise.flatten().argsort(descending=True, stable=True)[:count].tolist()
    pairs = [divmod(place, truth.shape[1]) for place in best if surprise.flatten()[place] > 0]
    return [Confusion(written, true, int(together[written, true])) for written, true in pairs]


def suspects(
    truth: Tensor, predicted: Tensor, scores: Tensor, ignore: Tensor | None = None, count: int = 20
) -> list[Suspect]:
    """Images whose truth looks wrong, widest gap first, each once.

    A label may be lacking if its score is `SURE` or more, and be doubtful if it is `UNLIKELY` or less. It speaks
    against the truth only where it can be trusted: a high score if the label's precision is `TRUSTED`, a low one if
    its recall is.
    """
    check_labels(truth, predicted, ignore)
    check_scores(scores, truth)
    known = torch.ones_like(truth) if ignore is None else ~ignore
    results = per_class(truth, predicted, ignore=ignore)
    judged = torch.tensor([result.tp + result.fn >= LEAST for result in results])  # [labels]
    precise = judged & torch.tensor([result.precision >= TRUSTED for result in results])
    complete = judged & torch.tensor([result.recall >= TRUSTED for result in results])
    lacking = ~truth & known & (scores >= SURE) & precise  # [images, labels]
    doubtful = truth & known & (scores <= UNLIKELY) & complete  # [images, labels]
    gaps = torch.where(lacking, _beaten(scores, truth & known), 0.0)  # [images, labels]
    gaps = torch.where(doubtful, _beaten(-scores, ~truth & known), gaps)
    widest = gaps.amax(1)  # [images]
    rows = widest.argsort(descending=True, stable=True)[: min(count, int((widest > 0).sum()))].tolist()
    return [
        Suspect(row, _scored(row, lacking, gaps, scores), _scored(row, doubtful, gaps, scores), float(widest[row]))
        for row in rows
    ]


def _beaten(scores: Tensor, among: Tensor) -> Tensor:
    """The share of the marked images of a label that score lower, `[images, labels]`; of few images it is never 1."""
    shares = torch.zeros(scores.shape, dtype=torch.float64)
    for label, (column, marked) in enumerate(zip(scores.T.contiguous(), among.T, strict=True)):
        rivals = column[marked].sort().values
        shares[:, label] = torch.searchsorted(rivals, column).double() / (len(rivals) + 1)
    return shares


def _scored(row: int, marked: Tensor, gaps: Tensor, scores: Tensor) -> tuple[tuple[int, float], ...]:
    labels = sorted((marked & (gaps > 0))[row].nonzero().flatten().tolist(), key=lambda label: -float(gaps[row, label]))
    return tuple((label, float(scores[row, label])) for label in labels)


def examples(
    truth: Tensor,
    predicted: Tensor,
    ignore: Tensor | None = None,
    leave_out: Sequence[int] = (),
    count: int = 5,
) -> tuple[list[int], list[int]]:
    """Images that are wholly right, most labels first, and images that are most wrong; each list shows new label sets.

    How wrong: labels wrongly written or missed, as a share of all that were written or true. Images without a true
    label are left out, and so is `leave_out`.
    """
    check_labels(truth, predicted, ignore)
    known = torch.ones_like(truth) if ignore is None else ~ignore
    wrong = ((truth ^ predicted) & known).sum(1)  # [images]
    either = ((truth | predicted) & known).sum(1).clamp(min=1)
    usable = (truth & known).any(1)
    usable[list(leave_out)] = False
    rows = usable.nonzero().flatten().tolist()
    right = sorted((row for row in rows if wrong[row] == 0), key=lambda row: -int(either[row]))
    bad = sorted(
        (row for row in rows if wrong[row] > 0), key=lambda row: (-float(wrong[row] / either[row]), -int(wrong[row]))
    )
    return _various(right, truth, count), _various(bad, truth, count)


def _various(rows: Sequence[int], truth: Tensor, count: int) -> list[int]:
    """The first rows whose true labels differ."""
    seen: dict[tuple[int, ...], int] = {}
    for row in rows:
        seen.setdefault(tuple(truth[row].nonzero().flatten().tolist()), row)
        if len(seen) == count:
            break
    return list(seen.values())
