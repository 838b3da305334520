from collections import Counter
from itertools import combinations

import pytest
import torch
from hypothesis import given

from orderless.evaluation import drop_duplicates, duplicate_rate, order_rigidness, sequence_to_set

from .cases import Case, cases, thorough


def plain(sequences):
    """As lists without padding."""
    return [[label for label in row if label >= 0] for row in sequences.tolist()]


@given(cases())
@thorough
def test_drop_duplicates_keeps_the_first(case: Case):
    single = drop_duplicates(case.sequences)
    assert single.shape == case.sequences.shape
    assert plain(single) == [list(dict.fromkeys(row)) for row in plain(case.sequences)]
    assert torch.equal(drop_duplicates(single), single)


@given(cases())
@thorough
def test_sets_hold_what_was_written(case: Case):
    sets = sequence_to_set(case.sequences, case.truth.shape[1])
    assert [set(row.nonzero().flatten().tolist()) for row in sets] == [set(row) for row in plain(case.sequences)]


@given(cases())
@thorough
def test_duplicate_rate_by_brute_force(case: Case):
    rows = plain(case.sequences)
    assert duplicate_rate(case.sequences) == sum(len(set(row)) < len(row) for row in rows) / len(rows)


@given(cases())
@thorough
def test_order_rigidness_by_brute_force(case: Case):
    labels = case.truth.shape[1]
    before = Counter(pair for row in plain(case.sequences) for pair in combinations(dict.fromkeys(row), 2))
    ours = order_rigidness(case.sequences, labels)
    assert ours.before.tolist() == [[before[i, j] for j in range(labels)] for i in range(labels)]
    total = sum(before.values())
    most = sum(max(before[i, j], before[j, i]) for i, j in combinations(range(labels), 2))
    assert ours.value == pytest.approx(most / total if total else 1.0)


def test_order_rigidness_by_hand():
    sequences = torch.tensor([[0, 1, 2, -1], [1, 0, -1, -1], [0, 0, 1, 0], [2, -1, -1, -1], [-1, -1, -1, -1]])
    rigidness = order_rigidness(sequences, 3)
    # Pairs: 0-1 twice and 1-0 once, 0-2 once, 1-2 once; the repeated 0 of the third image counts once.
    assert rigidness.value == pytest.approx(4 / 5)
    assert rigidness.before.tolist() == [[0, 2, 1], [1, 0, 1], [0, 0, 0]]
    assert duplicate_rate(sequences) == pytest.approx(1 / 5)


def test_a_fixed_order_is_fully_rigid():
    written = torch.rand(200, 12, generator=torch.Generator().manual_seed(0)) < 0.4
    width = int(written.sum(1).max())
    ascending = [row.nonzero().flatten().tolist() for row in written]
    sequences = torch.tensor([row + [-1] * (width - len(row)) for row in ascending])
    assert order_rigidness(sequences, 12).value == 1.0


def test_a_random_order_is_not_rigid():
    sequences = torch.rand(4000, 6, generator=torch.Generator().manual_seed(0)).argsort(1)
    assert 0.5 <= order_rigidness(sequences, 6).value < 0.52


def test_without_pairs():
    lonely = torch.tensor([[1, -1], [0, 0], [-1, -1]])
    assert order_rigidness(lonely, 2).value == 1.0
    nothing = torch.zeros(0, 5, dtype=torch.long)
    assert (order_rigidness(nothing, 2).value, duplicate_rate(nothing)) == (1.0, 0.0)
    no_steps = torch.zeros(3, 0, dtype=torch.long)
    assert (order_rigidness(no_steps, 2).value, duplicate_rate(no_steps)) == (1.0, 0.0)
    assert sequence_to_set(no_steps, 2).tolist() == [[False, False]] * 3


def test_any_integer_type():
    assert sequence_to_set(torch.tensor([[1, -1]], dtype=torch.int16), 2).tolist() == [[False, True]]
    # 90 * 100 does not fit into 8 bits; pairs must not be counted in the type of the sequences.
    assert order_rigidness(torch.tensor([[90, 91]], dtype=torch.int8), 100).before[90, 91] == 1


@pytest.mark.parametrize(
    ("sequences", "message"),
    [
        (torch.zeros(2, 3), "must be an integer tensor .* not float32"),
        (torch.zeros(2, dtype=torch.long), "must have the shape"),
        (torch.tensor([[0, -100]]), "hold -100"),
        (torch.tensor([[0, 3]]), "hold the index 3 but there are 3 labels"),
        (torch.tensor([[-1, 0]]), "go on after their end"),
    ],
)
def test_refuses_wrong_input(sequences, message):
    with pytest.raises(ValueError, match=message):
        order_rigidness(sequences, 3)
