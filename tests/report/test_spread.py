"""When a difference counts: the rule behind bold numbers and verdicts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ttest_1samp, ttest_ind

from orderless.report.claims import verdict_of
from orderless.report.spread import Spread, best, differ


def test_mean_and_sample_standard_deviation() -> None:
    spread = Spread.of([1.0, 2.0, 3.0])
    assert (spread.mean, spread.sd, spread.n) == (2.0, 1.0, 3)
    assert spread.error == pytest.approx(3**-0.5)


def test_one_seed_has_no_spread_and_claims_nothing() -> None:
    assert not differ(Spread.of([1.0]), Spread.of([9.0]))
    assert best([Spread.of([1.0]), Spread.of([9.0])]) is None


def test_means_differ_as_welchs_test_says() -> None:
    dice = np.random.default_rng(0)
    verdicts = set()
    for _ in range(300):
        a, b = (dice.normal(dice.uniform(0, 3), dice.uniform(0.2, 2), dice.integers(2, 6)) for _ in range(2))
        expected = ttest_ind(a, b, equal_var=False).pvalue < 0.05
        assert differ(Spread.of(list(a)), Spread.of(list(b))) == expected
        assert differ(Spread.of(list(a)), Spread(1.5, bound=True)) == (ttest_1samp(a, 1.5).pvalue < 0.05)
        verdicts.add(expected)
    assert verdicts == {True, False}


def test_seeds_that_agree_by_chance_prove_nothing() -> None:
    """Welch's test is not defined without a spread; a number that was set needs none."""
    same = Spread.of([50.0, 50.0])
    assert not differ(same, Spread.of([50.01, 50.01]))
    assert differ(same, Spread(50.01, bound=True))
    assert not differ(same, Spread(50.0, bound=True))
    assert not differ(Spread.of([50.0]), Spread(50.01, bound=True))


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
