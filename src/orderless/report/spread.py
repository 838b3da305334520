"""Numbers over seeds: mean, spread, and when one is called better than another.

Two means differ if Welch's t-test says so at the level of 5 %: with few seeds a standard error is itself uncertain, and
two of them would not be enough. With one seed, or without any spread, nothing measured differs from anything measured.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, stdev

from scipy.special import stdtrit  # the quantiles of Student's t, without the weight of scipy.stats

LEVEL = 0.05
RULE = (
    "Two means differ if Welch's t-test over seeds says so at the level of 5 %; "
    "with a single seed, or seeds that all agree to the last digit, "
    "the spread is unknown and no difference is claimed."
)


@dataclass(frozen=True)
class Spread:
    """A number over seeds; `sd` is the sample standard deviation, 0 with one seed. A `bound` was set, not measured."""

    mean: float
    sd: float = 0.0
    n: int = 1
    bound: bool = False

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        return cls(mean(values), stdev(values) if len(values) > 1 else 0.0, len(values))

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return float(self.sd / self.n**0.5)


def differ(a: Spread, b: Spread) -> bool:
    """Whether the spread allows to tell the two apart.

    Seeds that all gave the same number differ from a bound beside it, but not from other seeds: how much those would
    spread is not known then.
    """
    measured = [spread for spread in (a, b) if not spread.bound]
    if any(spread.n < 2 for spread in measured):
        return False
    variances = [spread.error**2 for spread in measured]
    if not any(variances):
        return len(measured) < 2 and a.mean != b.mean
    uncertainty = sum(v**2 / (s.n - 1) for v, s in zip(variances, measured, strict=True))  # of the variances
    quantile = float(stdtrit(sum(variances) ** 2 / uncertainty, 1 - LEVEL / 2))
    return abs(a.mean - b.mean) > quantile * math.sqrt(sum(variances))


def best(cells: Sequence[Spread | None], lower: bool = False, same: Sequence[str] | None = None) -> int | None:
    """The place of the one cell that is better than every other, if there is one.

    Cells that `same` gives one name are no rivals.
    """
    names = list(range(len(cells))) if same is None else list(same)
    known = [i for i, cell in enumerate(cells) if cell is not None]
    if len({names[i] for i in known}) < 2:
        return None

    def value(i: int) -> float:
        cell = cells[i]
        assert cell is not None
        return cell.mean

    top = (min if lower else max)(known, key=value)
    winner = cells[top]
    assert winner is not None
    rivals = (cell for i, cell in enumerate(cells) if names[i] != names[top] and cell is not None)
    return top if all(differ(winner, rival) for rival in rivals) else None
