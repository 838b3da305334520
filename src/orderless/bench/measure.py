"""Two sides in turns: noise of the machine hits both, and the ratio stays."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

Side = Callable[[], object]


@dataclass(frozen=True)
class Row:
    """One comparison. `goal` bounds the ratio: (">=", 50.0), ("<=", 1.1), or None where there is nothing to reach."""

    bench: str
    case: str
    ours: float
    theirs: float
    ratio: float
    goal: tuple[str, float] | None = None
    unit: str = "s"  # of `ours` and `theirs`

    @property
    def holds(self) -> bool | None:
        if self.goal is None:
            return None
        sign, bound = self.goal
        return self.ratio >= bound if sign == ">=" else self.ratio <= bound

    def as_dict(self) -> dict[str, Any]:
        goal = None if self.goal is None else f"{self.goal[0]} {self.goal[1]:g}"
        return {**asdict(self), "goal": goal, "holds": self.holds}


def in_turns(ours: Side, theirs: Side, repeats: int, inner: int = 1) -> tuple[float, float]:
    """Seconds of one call of each side: the least of `repeats` turns, after one turn to warm up.

    `inner` calls make one turn, for sides that are over before a clock can tell.
    """
    best = [float("inf"), float("inf")]
    for turn in range(repeats + 1):
        for place, side in enumerate((ours, theirs)):
            start = time.perf_counter()
            for _ in range(inner):
                side()
            if turn:
                best[place] = min(best[place], (time.perf_counter() - start) / inner)
    return best[0], best[1]


def faster(bench: str, case: str, sides: tuple[float, float], at_least: float) -> Row:
    """A row for "so many times faster than": ratio = theirs / ours."""
    ours, theirs = sides
    return Row(bench, case, ours, theirs, theirs / ours, (">=", at_least))


def no_dearer(bench: str, case: str, sides: tuple[float, float], at_most: float, unit: str = "s") -> Row:
    """A row for "costs at most so many times": ratio = ours / theirs."""
    ours, theirs = sides
    return Row(bench, case, ours, theirs, ours / theirs, ("<=", at_most), unit)
