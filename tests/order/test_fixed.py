"""Fixed orders: ranks from the training frequencies, ties by name, and random orders that are orders."""

from __future__ import annotations

import pytest
import torch

from orderless.errors import UsageError
from orderless.labels import Vocabulary
from orderless.order import IGNORE, ORDERS, make_order, random_order

VOCABULARY = Vocabulary(names=("dog", "ant", "cat", "bee"), frequencies=(5, 2, 9, 5))
LABELS = torch.tensor([[True, True, True, True], [True, False, True, False], [False, False, False, False]])
LOGITS = torch.zeros(3, 5, 5)


@pytest.mark.parametrize(
    ("name", "first"),
    [("frequent", [2, 3, 0, 1, 4]), ("rare", [1, 3, 0, 2, 4]), ("dictionary", [1, 3, 2, 0, 4])],
)
def test_ranks_and_ties_by_name(name: str, first: list[int]) -> None:
    targets = make_order(name, VOCABULARY)(LOGITS, LABELS)
    assert targets[0].tolist() == first
    assert targets[2].tolist() == [4] + [IGNORE] * 4
    two = [label for label in first if label in (0, 2)]
    assert targets[1].tolist() == [*two, 4, IGNORE, IGNORE]


def test_random_is_a_permutation_and_changes() -> None:
    torch.manual_seed(0)
    seen = set()
    for _ in range(30):
        targets = random_order(LOGITS, LABELS)
        assert sorted(targets[0, :4].tolist()) == [0, 1, 2, 3]
        assert sorted(targets[1, :2].tolist()) == [0, 2]
        assert targets[1, 2:].tolist() == [4, IGNORE, IGNORE]
        seen.add(tuple(targets[0].tolist()))
    assert len(seen) > 10


@pytest.mark.parametrize("name", ORDERS)
def test_every_order_has_one_interface(name: str) -> None:
    order = make_order(name, VOCABULARY)
    targets = order(torch.randn(3, 5, 5), LABELS)
    assert targets.shape == (3, 5)
    assert targets.dtype == torch.long
    assert [sorted(row[row >= 0].tolist()) for row in targets] == [[0, 1, 2, 3, 4], [0, 2, 4], [4]]


def test_unknown_order_is_named() -> None:
    with pytest.raises(UsageError, match="'alphabetic'"):
        make_order("alphabetic", VOCABULARY)
