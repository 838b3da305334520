"""Learning-rate schedules, as factors of the stage's learning rate."""

from __future__ import annotations

import math

SAWTOOTH_PERIOD = 3  # iterations from the high to the low point
SAWTOOTH_LOW = 1e-3  # low point as a share of the high one: 1e-3 down to 1e-6 in the paper


def sawtooth(step: int) -> float:
    """1 down to `SAWTOOTH_LOW` in a straight line within one period, then up at once."""
    place = step % SAWTOOTH_PERIOD / (SAWTOOTH_PERIOD - 1)  # 0 … 1
    return 1.0 + place * (SAWTOOTH_LOW - 1.0)


def is_low_point(step: int) -> bool:
    """Whether this step was taken at the low point: the moment to take a snapshot."""
    return step % SAWTOOTH_PERIOD == SAWTOOTH_PERIOD - 1


def cosine(step: int, total: int, warmup: float = 0.05) -> float:
    """A short linear rise, then half a cosine down to zero."""
    rise = max(1, round(total * warmup))
    if step < rise:
        return (step + 1) / rise
    return 0.5 * (1.0 + math.cos(math.pi * min(1.0, (step - rise) / max(1, total - rise))))
