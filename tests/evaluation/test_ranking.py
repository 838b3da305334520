from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from sklearn.metrics import average_precision_score

from orderless.evaluation import (
    average_precision,
    average_precision_11point,
    best_threshold,
    best_thresholds_per_class,
    count_sets,
    set_metrics,
    top_k_metrics,
    top_k_sets,
)
from orderless.evaluation.ranking import mean_over_classes
from orderless.evaluation.sets import class_f1

from .cases import Case, cases, make_case, thorough


@given(cases())
@thorough
def test_average_precision_agrees_with_scikit_learn(case: Case):
    ours = average_precision(case.scores, case.truth)
    for column, value in enumerate(ours.tolist()):
        truth = case.truth[:, column].numpy()
        if truth.any():
            assert value == pytest.approx(average_precision_score(truth, case.scores[:, column].numpy()))
        else:
            assert np.isnan(value)


def voc_11point(scores, truth):
    """PASCAL VOC 2007 in plain Python and exact fractions, one threshold after another."""
    points = []
    for threshold in sorted(set(scores), reverse=True):
        chosen = [t for s, t in zip(scores, truth, strict=True) if s >= threshold]
        points.append((Fraction(sum(chosen), sum(truth)), Fraction(sum(chosen), len(chosen))))
    best = [max((p for r, p in points if r >= Fraction(k, 10)), default=Fraction(0)) for k in range(11)]
    return float(sum(best) / 11)


@given(cases())
@thorough
def test_11point_agrees_with_a_plain_implementation(case: Case):
    ours = average_precision_11point(case.scores, case.truth)
    for column, value in enumerate(ours.tolist()):
        truth = case.truth[:, column].tolist()
        if any(truth):
            assert value == pytest.approx(voc_11point(case.scores[:, column].tolist(), truth))
        else:
            assert np.isnan(value)


def test_11point_counts_recall_in_tenths_exactly():
    # Ten positives first, then ten negatives: precision is 1 at every recall, also at 3/10 < 0.1 + 0.1 + 0.1.
    scores = torch.linspace(1, 0, 20)[:, None]
    truth = torch.arange(20)[:, None] < 10
    assert average_precision_11point(scores, truth).item() == 1.0


@given(cases())
@thorough
def test_ignoring_a_cell_is_dropping_it(case: Case):
    for function in (average_precision, average_precision_11point, best_thresholds_per_class):
        ours = function(case.scores, case.truth, case.ignore)
        for column, value in enumerate(ours.tolist()):
            kept = ~case.ignore[:, column]
            alone = function(case.scores[kept][:, [column]], case.truth[kept][:, [column]])
            assert value == pytest.approx(alone.item(), nan_ok=True)
    known = ~case.ignore
    assert best_threshold(case.scores, case.truth, "OF1", case.ignore) == best_threshold(
        case.scores[known][:, None], case.truth[known][:, None], "OF1"
    )


def test_the_order_of_images_does_not_matter_among_ties():
    case = make_case(5, 60, 6)
    shuffled = torch.randperm(60, generator=torch.Generator().manual_seed(0))
    assert torch.allclose(
        average_precision(case.scores, case.truth),
        average_precision(case.scores[shuffled], case.truth[shuffled]),
        equal_nan=True,
    )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
def test_scores_may_have_any_float_type(dtype):
    case = make_case(7, 40, 5)
    scores = case.scores.to(dtype)
    expected = average_precision(scores.double(), case.truth)
    assert torch.equal(average_precision(scores, case.truth).nan_to_num(-1), expected.nan_to_num(-1))
    threshold = best_threshold(scores, case.truth)
    assert threshold == best_threshold(scores.double(), case.truth)
    assert int((scores >= threshold).sum()) == int((scores.double() >= threshold).sum())


def test_mean_leaves_out_classes_without_positives():
    assert mean_over_classes(torch.tensor([0.5, torch.nan, 1.0])) == 0.75
    assert mean_over_classes(torch.tensor([torch.nan])) == 0.0


@given(cases())
@thorough
def test_top_k_takes_the_k_highest_known_labels(case: Case):
    chosen = top_k_sets(case.scores, 3, case.ignore)
    for scores, ignore, ours in zip(case.scores.tolist(), case.ignore.tolist(), chosen.tolist(), strict=True):
        known = [j for j in range(len(scores)) if not ignore[j]]
        best = sorted(known, key=lambda j: (-scores[j], j))[:3]
        assert [j for j in range(len(scores)) if ours[j]] == sorted(best)


def test_top_3_metrics_are_those_of_the_top_3_sets():
    case = make_case(11, 50, 7)
    expected = set_metrics(count_sets(case.truth, top_k_sets(case.scores)))
    ours = top_k_metrics(case.scores, case.truth)
    assert list(ours) == ["top3-CP", "top3-CR", "top3-CF1", "top3-OP", "top3-OR", "top3-OF1"]
    assert all(value == expected[name.removeprefix("top3-")] for name, value in ours.items())


@pytest.mark.parametrize("metric", ["OF1", "CF1"])
@pytest.mark.parametrize("with_ignore", [False, True])
@given(case=cases())
@thorough
def test_best_threshold_is_the_best_of_all(case: Case, metric, with_ignore):
    ignore = case.ignore if with_ignore else None

    def value(threshold: float) -> float:
        return set_metrics(count_sets(case.truth, case.scores >= threshold, ignore))[metric]

    chosen = best_threshold(case.scores, case.truth, metric, ignore)
    best = max(value(t) for t in case.scores.unique().tolist())
    assert value(chosen) == pytest.approx(best)
    if best == 0:
        assert chosen == 1.0
    else:
        assert all(value(t) < best + 1e-12 for t in case.scores.unique().tolist() if t > chosen)


@given(case=cases())
@thorough
def test_best_thresholds_per_class_are_the_best_of_all(case: Case):
    chosen = best_thresholds_per_class(case.scores, case.truth)
    ours = class_f1(count_sets(case.truth, case.scores >= chosen))
    candidates = [class_f1(count_sets(case.truth, case.scores >= t)) for t in case.scores.unique().tolist()]
    assert torch.allclose(ours, torch.stack(candidates).amax(0))
    assert (chosen[~case.truth.any(0)] == 1.0).all()


def test_nothing_to_rank():
    scores, truth = torch.zeros(0, 4), torch.zeros(0, 4, dtype=torch.bool)
    assert average_precision(scores, truth).isnan().all()
    assert average_precision_11point(scores, truth).isnan().all()
    assert best_threshold(scores, truth) == best_threshold(scores, truth, "CF1") == 1.0
    assert best_thresholds_per_class(scores, truth).tolist() == [1.0] * 4


def test_refuses_wrong_input():
    truth = torch.zeros(2, 3, dtype=torch.bool)
    with pytest.raises(ValueError, match="probabilities between 0 and 1"):
        average_precision(torch.full((2, 3), 4.0), truth)
    with pytest.raises(ValueError, match="probabilities between 0 and 1"):
        average_precision(torch.full((2, 3), torch.nan), truth)
    with pytest.raises(ValueError, match=r"must be a float tensor .* not bool"):
        average_precision(truth, truth)
    with pytest.raises(ValueError, match=r"scores have the shape \[2, 2\]"):
        best_threshold(torch.zeros(2, 2), truth)
    with pytest.raises(ValueError, match="not for 'mAP'"):
        best_threshold(torch.zeros(2, 3), truth, "mAP")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="at least 1"):
        top_k_sets(torch.zeros(2, 3), 0)
