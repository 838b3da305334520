import pytest
import torch
from hypothesis import given

from orderless.evaluation import by_frequency, by_label_count, by_object_size, count_sets, set_metrics

from .cases import Case, cases, thorough

TRUTH = torch.tensor([[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0], [1, 0, 1, 1]]).bool()
PREDICTED = torch.tensor([[1, 0, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [1, 0, 1, 0]]).bool()


def test_by_label_count():
    bands = by_label_count(TRUTH, PREDICTED, most=2)
    assert [(band.name, band.size) for band in bands] == [("0", 1), ("1", 1), ("2+", 2)]
    assert [band.F1 for band in bands] == pytest.approx([0, 2 / 3, 6 / 8])


@given(cases())
@thorough
def test_one_band_of_label_counts_is_the_whole(case: Case):
    rows = (case.truth & ~case.ignore).any(1)
    bands = by_label_count(case.truth[rows], case.predicted[rows], case.ignore[rows], most=1)
    whole = set_metrics(count_sets(case.truth[rows], case.predicted[rows], case.ignore[rows]))
    assert [band[2:] for band in bands] == [(whole["OP"], whole["OR"], whole["OF1"])][: len(bands)]


def test_by_frequency():
    bands = by_frequency(TRUTH, PREDICTED, [90, 5, 30, 7], bands=2)
    assert [(band.name, band.size) for band in bands] == [("5–7", 2), ("30–90", 2)]
    assert [band.F1 for band in bands] == pytest.approx([0, 8 / 9])
    assert len(by_frequency(TRUTH, PREDICTED, [1, 1, 1, 1], bands=9)) == 4


@given(cases())
@thorough
def test_one_band_of_frequencies_is_the_whole(case: Case):
    (band,) = by_frequency(case.truth, case.predicted, range(case.truth.shape[1]), case.ignore, bands=1)
    whole = set_metrics(count_sets(case.truth, case.predicted, case.ignore))
    assert band[2:] == (whole["OP"], whole["OR"], whole["OF1"])


def test_by_object_size():
    areas = torch.where(TRUTH, torch.tensor([[0.5, 0.005, 0, 0], [0.05, 0, 0, 0], [0] * 4, [0.1, 0, 0.01, 0.2]]), 0)
    bands = by_object_size(TRUTH, PREDICTED, areas)
    assert [(band.name, band.size) for band in bands] == [("<1%", 1), ("1%–10%", 2), ("≥10%", 3)]
    assert [band.recall for band in bands] == pytest.approx([0, 1, 2 / 3])
    # Of the two false positives one is of the second label (all small), one of the third (all medium).
    assert [band.precision for band in bands] == pytest.approx([0, 2 / 3, 1])


@given(cases())
@thorough
def test_sizes_of_one_band_are_the_whole(case: Case):
    truth, predicted, ignore = case.truth, case.predicted, case.ignore
    if not (truth & ~ignore).any():
        return
    (band,) = by_object_size(truth, predicted, torch.full(truth.shape, 0.5), ignore)
    whole = set_metrics(count_sets(truth, predicted, ignore))
    assert band[2:] == pytest.approx((whole["OP"], whole["OR"], whole["OF1"]))


def test_objects_of_unknown_size_are_left_out():
    assert by_object_size(TRUTH, PREDICTED, torch.full(TRUTH.shape, torch.nan)) == []


def test_refuses_wrong_input():
    with pytest.raises(ValueError, match="3 frequencies but 4 labels"):
        by_frequency(TRUTH, PREDICTED, [1, 2, 3])
    with pytest.raises(ValueError, match="one band or more"):
        by_frequency(TRUTH, PREDICTED, [1, 2, 3, 4], bands=0)
    with pytest.raises(ValueError, match="areas must be a float tensor"):
        by_object_size(TRUTH, PREDICTED, torch.zeros(4, 3))
    with pytest.raises(ValueError, match="ascending"):
        by_object_size(TRUTH, PREDICTED, torch.zeros(4, 4), edges=(0.3, 0.1))
    with pytest.raises(ValueError, match="must start at one label"):
        by_label_count(TRUTH, PREDICTED, most=0)
