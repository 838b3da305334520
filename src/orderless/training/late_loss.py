"""Reading the loss without making anybody wait; and what happens to a step whose loss is no number.

Such a step changes no weight: the optimizer itself leaves it out, on the device (`StageModule`). Here it is found one
step later, counted and named; too many in a row end the training, whose weights are still good.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor

from orderless.errors import OrderlessError

MOST_SKIPPED = 10  # in a row
STATE = ("last", "in_a_row", "total", "images", "skipped")  # what a resume within an epoch needs


class BadStep(NamedTuple):
    """A step that was left out."""

    step: int
    loss: float
    rows: list[int]  # its images


class LateLoss:
    """Looks at each step's loss one step later, when the device has long been done with it.

    To read a loss at once would stop the program until the device has caught up, at every step. The transfer
    starts at once, however, so that nothing of the step is kept.
    """

    def __init__(self) -> None:
        self.last = math.nan  # the latest that is known
        self.in_a_row = 0  # steps left out one after another
        self.bad: list[BadStep] = []  # not told to anybody yet
        self._pending: list[Tensor] = []  # loss and, once it is known, norm of the gradient
        self._step: tuple[int, Tensor, float] = (0, torch.zeros(0), 0.0)
        self._done: torch.cuda.Event | None = None
        self.begin_epoch()

    def begin_epoch(self) -> None:
        self.total, self.images, self.skipped = 0.0, 0, 0

    def note(self, loss: Tensor, step: int, rows: Tensor, weight: float | None = None) -> None:
        """Start to fetch the loss of this step, with these images [B], and look at the one before.

        `weight` is what the loss counts in the epoch's mean: its images, unless several processes share them.
        """
        self.check()
        self._step = step, rows, float(len(rows)) if weight is None else weight
        self._fetch(loss)

    def note_gradient(self, norm: Tensor) -> None:
        """The same for the norm of the step's gradient: it may overflow where the loss does not."""
        if self._pending:
            self._fetch(norm)

    def check(self) -> None:
        """Look at the loss noted last."""
        if not self._pending:
            return
        if self._done is not None:
            self._done.synchronize()
        numbers, self._pending = [float(number) for number in self._pending], []
        step, rows, weight = self._step
        self.last = numbers[0]
        if all(map(math.isfinite, numbers)):
            self.total += self.last * weight
            self.images += len(rows)
            self.in_a_row = 0
            return
        self.skipped += 1
        self.in_a_row += 1
        self.bad.append(BadStep(step, self.last, rows.tolist()))
        if self.in_a_row >= MOST_SKIPPED:
            raise OrderlessError(
                f"the loss or its gradient was not finite for {MOST_SKIPPED} steps in a row, the last is step {step}; "
                "lower the learning rate (--set stages.0.learning_rate=…) or look at the images named above"
            )

    def state(self) -> dict[str, Any]:
        self.check()
        return {key: getattr(self, key) for key in STATE}

    def restore(self, state: dict[str, Any]) -> None:
        for key in STATE:
            setattr(self, key, state[key])

    def _fetch(self, number: Tensor) -> None:
        self._pending.append(number.detach().to("cpu", non_blocking=True))
        if number.is_cuda:
            self._done = torch.cuda.Event()  # type: ignore[no-untyped-call]
            self._done.record()
