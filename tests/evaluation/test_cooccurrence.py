import pytest
import torch
from hypothesis import given

from orderless.evaluation import (
    cooccurrence_difference,
    cooccurrence_error,
    cooccurrence_error_by_group,
    cooccurrence_matrix,
    matrix_by_group,
)

from .cases import Case, cases, thorough


@given(cases())
@thorough
def test_matrix_by_brute_force(case: Case):
    labels = case.truth.shape[1]
    known = case.truth & ~case.ignore
    ours = cooccurrence_matrix(case.truth, case.ignore)
    for i in range(labels):
        for j in range(labels):
            assert ours[i, j] == (0 if i == j else int((known[:, i] & known[:, j]).sum()))


def test_by_hand():
    truth = torch.tensor([[1, 1, 0], [1, 1, 0], [0, 1, 1]]).bool()
    predicted = torch.tensor([[1, 1, 1], [1, 0, 0], [0, 1, 1]]).bool()
    # Pairs in truth: 0-1 twice, 1-2 once. Predicted: 0-1 once, 0-2 once, 1-2 twice.
    assert cooccurrence_difference(predicted, truth).tolist() == [[0, -1, 1], [-1, 0, 1], [1, 1, 0]]
    assert cooccurrence_error(predicted, truth) == pytest.approx(3 / 3)
    ignore = torch.tensor([[0, 0, 1], [0, 0, 0], [0, 0, 0]]).bool()
    assert cooccurrence_error(predicted, truth, ignore) == pytest.approx(1 / 3)


@given(cases())
@thorough
def test_right_predictions_have_no_error(case: Case):
    assert cooccurrence_error(case.truth, case.truth) == 0
    assert cooccurrence_error(case.truth ^ case.ignore, case.truth, case.ignore) == 0


def test_truth_without_pairs():
    nothing, pair = torch.zeros(2, 2, dtype=torch.bool), torch.ones(2, 2, dtype=torch.bool)
    assert cooccurrence_error(nothing, nothing) == 0.0
    assert cooccurrence_error(pair, nothing) == 2.0  # two wrong pairs


@given(cases())
@thorough
def test_a_group_is_a_data_set_of_its_own(case: Case):
    groups = ["ball" if j % 2 else "snow" for j in range(case.truth.shape[1])]
    ours = cooccurrence_error_by_group(case.predicted, case.truth, groups)
    for group in ours:
        members = [j for j, name in enumerate(groups) if name == group]
        assert ours[group] == cooccurrence_error(case.predicted[:, members], case.truth[:, members])


def test_groups_of_one_and_labels_without_group_are_left_out():
    groups = ["sports", "", "animal", "sports", ""]
    parts = matrix_by_group(torch.arange(25).view(5, 5), groups)
    assert {name: part.tolist() for name, part in parts.items()} == {"sports": [[0, 3], [15, 18]]}


def test_refuses_wrong_input():
    with pytest.raises(ValueError, match="must be a bool tensor"):
        cooccurrence_matrix(torch.zeros(2, 2))
    with pytest.raises(ValueError, match="there are 3 groups"):
        matrix_by_group(torch.zeros(2, 2), ["a", "b", "c"])
