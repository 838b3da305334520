"""Two sides in turns: noise of the machine hits both, and the ratio stays."""

from __future__ import annotations

import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch

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


def in_turns(
    ours: Side, theirs: Side, quick: bool = False, *, processes: bool = False, seconds: float = 12.0, least: int = 3
) -> tuple[float, float]:
    """Seconds of one call of each of two sides; see `all_in_turns`."""
    first, second = all_in_turns((ours, theirs), quick, processes=processes, seconds=seconds, least=least)
    return first, second


def all_in_turns(
    sides: Sequence[Side], quick: bool = False, *, processes: bool = False, seconds: float = 12.0, least: int = 3
) -> list[float]:
    """Seconds of one call of each side: the least of as many turns as fit, after one turn to warm up.

    With one thread (OMP_NUM_THREADS=1) it is processor time, which other programs do not change; with several,
    where a thread that waits for another is busy too, it is the clock on the wall. For sides that start `processes`
    it is the time of those.
    """
    clock: Callable[[], float] = time.perf_counter
    if torch.get_num_threads() == 1:
        clock = _time_of_processes if processes else time.process_time
    best = [float("inf")] * len(sides)
    started, turn = time.perf_counter(), 0
    while turn <= (1 if quick else least) or (not quick and time.perf_counter() - started < seconds):
        for place, side in enumerate(sides):
            start = clock()
            side()
            if turn:
                best[place] = min(best[place], clock() - start)
        turn += 1
    return best


def _time_of_processes() -> float:
    """Processor time of all processes that were started and have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def faster(bench: str, case: str, sides: tuple[float, float], at_least: float) -> Row:
    """A row for "so many times faster than": ratio = theirs / ours."""
    ours, theirs = sides
    return Row(bench, case, ours, theirs, theirs / ours, (">=", at_least))


def no_dearer(bench: str, case: str, sides: tuple[float, float], at_most: float, unit: str = "s") -> Row:
    """A row for "costs at most so many times": ratio = ours / theirs."""
    ours, theirs = sides
    return Row(bench, case, ours, theirs, ours / theirs, ("<=", at_most), unit)
