"""Numbers over seeds: mean, spread, and when one is called better than another.

Two means differ if they are further apart than twice the sum of their standard errors. That is stricter than a
95 % interval of the difference; with one seed the spread is not known, and nothing differs from anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean, stdev

RULE = (
    "Two means differ if they are further apart than twice the sum of their standard errors over seeds; "
    "with a single seed the spread is unknown and no difference is claimed."
)


@dataclass(frozen=True)
class Spread:
    """A number over seeds; `sd` is the sample standard deviation, 0 with one seed."""

    mean: float
    sd: float = 0.0
    n: int = 1

    @classmethod
    def of(cls, values: Sequence[float]) -> Spread:
        return cls(mean(values), stdev(values) if len(values) > 1 else 0.0, len(values))

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return float(self.sd / self.n**0.5)


def differ(a: Spread, b: Spread) -> bool:
    """Whether the spread allows to tell the two apart."""
    return min(a.n, b.n) > 1 and abs(a.mean - b.mean) > 2 * (a.error + b.error)


def best(cells: Sequence[Spread | None], lower: bool = False) -> int | None:
    """The place of the one cell that is better than every other, if there is one."""
    known = [i for i, cell in enumerate(cells) if cell is not None]
    if len(known) < 2:
        return None

    def value(i: int) -> float:
        cell = cells[i]
        assert cell is not None
        return cell.mean

    top = (min if lower else max)(known, key=value)
    winner = cells[top]
    assert winner is not None
    rivals = (cell for i, cell in enumerate(cells) if i != top and cell is not None)
    return top if all(differ(winner, rival) for rival in rivals) else None
