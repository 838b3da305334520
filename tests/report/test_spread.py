"""When a difference counts: the rule behind bold numbers and verdicts."""

from __future__ import annotations

import pytest

from orderless.report.claims import verdict_of
from orderless.report.spread import Spread, best, differ


def test_mean_and_sample_standard_deviation() -> None:
    spread = Spread.of([1.0, 2.0, 3.0])
    assert (spread.mean, spread.sd, spread.n) == (2.0, 1.0, 3)
    assert spread.error == pytest.approx(3**-0.5)


def test_one_seed_has_no_spread_and_claims_nothing() -> None:
    assert not differ(Spread.of([1.0]), Spread.of([9.0]))
    assert best([Spread.of([1.0]), Spread.of([9.0])]) is None


def test_means_differ_beyond_twice_the_sum_of_their_errors() -> None:
    a, b = Spread(10.0, 1.0, 4), Spread(12.0, 1.0, 4)  # errors of 0.5: the gap must exceed 2
    assert not differ(a, b)
    assert differ(a, Spread(12.01, 1.0, 4))


def test_best_is_better_than_every_other_or_nobody() -> None:
    clear, near, far = Spread(20.0, 0.1, 3), Spread(19.9, 0.1, 3), Spread(1.0, 0.1, 3)
    assert best([far, clear, None]) == 1
    assert best([near, clear, far]) is None
    assert best([far, clear], lower=True) == 0
    assert best([clear]) is None


def test_verdicts() -> None:
    low, high, vague = Spread(1.0, 0.1, 3), Spread(2.0, 0.1, 3), Spread(1.5, 5.0, 3)
    assert verdict_of([(low, high)]) == "confirmed"
    assert verdict_of([(high, low)]) == "not confirmed"
    assert verdict_of([(low, high), (high, low)]) == "not confirmed"
    assert verdict_of([(low, high), (low, vague)]) == "unclear"
    assert verdict_of([]) == "unclear"
