"""Chance that follows from a few integers, and from nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np

T = TypeVar("T")


class Dice:
    """Random choices keyed by integers: equal keys give equal choices on every machine and in every process.

    Numbers are drawn in blocks, because one call into NumPy costs as much as fifty list look-ups.
    """

    __slots__ = ("_generator", "_next", "_numbers")

    def __init__(self, *key: int) -> None:
        self._generator = np.random.Generator(np.random.PCG64(np.random.SeedSequence(key)))
        self._numbers: list[float] = self._generator.random(128).tolist()
        self._next = 0

    def unit(self) -> float:
        """A number in [0, 1)."""
        if self._next == len(self._numbers):
            self._numbers = self._generator.random(128).tolist()
            self._next = 0
        value = self._numbers[self._next]
        self._next += 1
        return value

    def between(self, low: float, high: float) -> float:
        return low + (high - low) * self.unit()

    def whole(self, low: int, high: int) -> int:
        """An integer from `low` to `high`, both included."""
        return low + int((high - low + 1) * self.unit())

    def chance(self, probability: float) -> bool:
        return self.unit() < probability

    def choose(self, options: Sequence[T]) -> T:
        return options[int(len(options) * self.unit())]

    def weighted(self, weights: Mapping[T, float]) -> T:
        """A key of `weights`, as often as its weight says."""
        left = self.unit() * sum(weights.values())
        for option, weight in weights.items():
            left -= weight
            if left < 0:
                return option
        return option  # rounding may leave a crumb

    def noise(self, rows: int, columns: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        """A grid of numbers in [0, 1), for textures."""
        return self._generator.random((rows, columns), dtype=np.float32)
