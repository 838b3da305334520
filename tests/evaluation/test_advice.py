"""Advice on made-up judgements whose right answer is plain to see."""

from __future__ import annotations

import torch
from hypothesis import given
from tests.evaluation.cases import Case, cases, thorough
from torch import Tensor

from orderless.evaluation import per_class
from orderless.evaluation.advice import (
    LEAST,
    barely_judged,
    confused,
    examples,
    strong_and_weak,
    suspects,
    wanting_photos,
)
from orderless.evaluation.table import ClassResult

CAT, DOG, OWL = 0, 1, 2


def result(f1: float, images: int = 20) -> ClassResult:
    right = round(f1 * images)
    return ClassResult(right, images - right, images - right, f1, f1, f1, None)


def sets(*rows: set[int], labels: int = 3) -> Tensor:
    return torch.tensor([[label in row for label in range(labels)] for row in rows])


def test_good_and_bad_labels_share_nothing() -> None:
    results = [result(0.9), result(0.2), result(0.5), result(0.7), result(1.0, images=LEAST - 1)]
    assert strong_and_weak(results, OF1=0.6) == ([0, 3], [1, 2])
    assert strong_and_weak(results, OF1=0.6, count=1) == ([0], [1])


def test_nothing_found_is_never_good() -> None:
    assert strong_and_weak([result(0.0), result(0.0)], OF1=0.0) == ([], [1, 0])


def test_too_few_photos_to_judge_by() -> None:
    results = [result(0.9), result(1.0, images=LEAST - 1)]
    assert strong_and_weak(results, OF1=0.6) == ([0], [])
    assert barely_judged(results) == [1]


def test_more_photos_help_only_where_there_are_few() -> None:
    results = [result(0.3), result(0.3), result(0.9), result(0.8), result(1.0, images=1)]
    few, hard = wanting_photos(results, [110, 500, 120, 300, 105], OF1=0.7)
    assert few == [0, 4]  # the last was judged on one photo, which says nothing
    assert hard == [1]
    assert wanting_photos(results, [1, 50, 2, 30, 1], OF1=0.7) == ([0, 1, 4], [])  # nobody has many


def test_a_label_written_for_another() -> None:
    truth = sets(*[{DOG}] * 4, *[{CAT}] * 20, *[{OWL}] * 20)
    predicted = truth.clone()
    predicted[:4] = sets({CAT})
    (found,) = confused(truth, predicted)
    assert found == (CAT, DOG, 4)
    assert confused(truth[2:], predicted[2:]) == []  # two photos are no pattern


def test_false_everywhere_is_not_a_confusion_with_anything() -> None:
    """A label that is written on every photo meets each missed one, by chance."""
    truth = sets(*[{DOG}] * 10, *[{OWL}] * 10)
    predicted = sets(*[{CAT, OWL}] * 20)
    assert [pair for pair in confused(truth, predicted) if pair.written == CAT] == []


def test_what_is_ignored_is_not_confused() -> None:
    truth, predicted = sets(*[{DOG}] * 4, *[{OWL}] * 20), sets(*[{CAT}] * 4, *[{OWL}] * 20)
    ignore = torch.zeros_like(truth)
    ignore[:, CAT] = True
    assert confused(truth, predicted, ignore) == []


def mislabelled() -> tuple[Tensor, Tensor]:
    """Twenty cats and twenty dogs told apart surely; photo 0 lost its tag, photo 20 is tagged wrongly."""
    truth = sets(*[{CAT}] * 20, *[{DOG}] * 20)
    spread = torch.arange(40) / 2000
    scores = torch.where(truth, 0.95 + spread[:, None], 0.05 - spread[:, None])
    scores[:, OWL] = 0.5
    truth[0] = False
    scores[0, CAT] = 0.99
    truth[20, CAT] = True
    scores[20, CAT] = 0.001
    return truth, scores


def test_photos_that_contradict_their_tags() -> None:
    truth, scores = mislabelled()
    found = {suspect.row: suspect for suspect in suspects(truth, scores > 0.5, scores)}
    assert set(found) == {0, 20}
    assert [label for label, _ in found[0].lacking] == [CAT]
    assert found[0].doubtful == ()
    assert found[20].lacking == ()
    ((label, score),) = found[20].doubtful
    assert (label, round(score, 4)) == (CAT, 0.001)
    assert 0.9 < found[0].gap < 1


def test_the_widest_gap_comes_first_and_the_list_ends() -> None:
    truth, scores = mislabelled()
    both = suspects(truth, scores > 0.5, scores)
    assert both[0].gap >= both[1].gap
    assert suspects(truth, scores > 0.5, scores, count=1) == both[:1]


def test_a_label_that_is_mostly_wrong_accuses_nobody() -> None:
    truth, scores = mislabelled()
    predicted = scores > 0.5
    predicted[1:20, CAT] = False  # recall is gone: that it is not seen says nothing
    predicted[21:40, CAT] = True  # and so is precision
    assert suspects(truth, predicted, scores) == []


def test_a_cell_that_nobody_knows_is_no_suspect() -> None:
    truth, scores = mislabelled()
    ignore = torch.zeros_like(truth)
    ignore[0] = ignore[20] = True
    assert suspects(truth, scores > 0.5, scores, ignore) == []


def test_examples_show_different_sets() -> None:
    truth = sets({CAT}, {CAT}, {CAT, DOG}, set(), {OWL}, {DOG, OWL}, {DOG})
    predicted = sets({CAT}, {CAT}, {CAT, DOG}, set(), {CAT, DOG}, {DOG}, {DOG, OWL})
    right, wrong = examples(truth, predicted)
    assert right == [2, 0]  # most labels first, the same set once, none without a label
    assert wrong == [4, 5, 6]
    assert examples(truth, predicted, leave_out=[2, 4]) == ([0], [5, 6])


@thorough
@given(cases())
def test_any_judgement_gets_advice(case: Case) -> None:
    results = per_class(case.truth, case.predicted, ignore=case.ignore)
    strong, weak = strong_and_weak(results, OF1=0.5)
    assert not set(strong) & set(weak)
    for pair in confused(case.truth, case.predicted, case.ignore):
        assert pair.written != pair.true
    found = suspects(case.truth, case.predicted, case.scores, case.ignore, count=5)
    assert [suspect.gap for suspect in found] == sorted((suspect.gap for suspect in found), reverse=True)
    for suspect in found:
        assert suspect.lacking or suspect.doubtful
        assert not any(case.truth[suspect.row, label] for label, _ in suspect.lacking)
        assert all(case.truth[suspect.row, label] for label, _ in suspect.doubtful)
    right, wrong = examples(case.truth, case.predicted, case.ignore)
    assert not set(right) & set(wrong)
