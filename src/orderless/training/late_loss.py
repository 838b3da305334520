"""Reading the loss without making anybody wait."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from orderless.errors import OrderlessError


class LateLoss:
    """Looks at each step's loss one step later, when the device has long been done with it.

    To read a loss at once would stop the program until the device has caught up, at every step. The transfer
    starts at once, however, so that nothing of the step is kept.
    """

    def __init__(self) -> None:
        self.last = math.nan  # the latest that is known
        self._pending: tuple[Tensor, torch.cuda.Event | None, int, Tensor] | None = None

    def note(self, loss: Tensor, step: int, rows: Tensor) -> None:
        """Start to fetch the loss of this step, with these images [B], and look at the one before."""
        self.check()
        fetched = loss.detach().to("cpu", non_blocking=True)
        done = torch.cuda.Event() if loss.is_cuda else None  # type: ignore[no-untyped-call]
        if done is not None:
            done.record()
        self._pending = fetched, done, step, rows

    def check(self) -> None:
        """Look at the loss noted last; one that is not finite is an error."""
        if self._pending is None:
            return
        fetched, done, step, rows = self._pending
        self._pending = None
        if done is not None:
            done.synchronize()
        self.last = float(fetched)
        if not math.isfinite(self.last):
            raise OrderlessError(
                f"the loss is {self.last} at step {step}, with the training images {rows.tolist()[:8]}…; "
                "lower the learning rate or look at these images"
            )
