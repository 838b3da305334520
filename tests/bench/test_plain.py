"""The plain solver against every permutation."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orderless.bench.plain import hungarian


@given(
    st.integers(0, 5).flatmap(
        lambda n: st.lists(st.lists(st.integers(-4, 4), min_size=n, max_size=n), min_size=n, max_size=n)
    )
)
@settings(max_examples=150, deadline=None)
def test_hungarian_is_optimal(matrix: list[list[int]]) -> None:
    n = len(matrix)
    chosen = hungarian([[float(value) for value in row] for row in matrix])
    assert sorted(chosen) == list(range(n))
    best = min(sum(matrix[i][j] for i, j in enumerate(order)) for order in itertools.permutations(range(n)))
    assert sum(matrix[i][j] for i, j in enumerate(chosen)) == pytest.approx(best)
