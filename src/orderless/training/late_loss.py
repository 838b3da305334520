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
        self._pending: tuple[Tensor, torch.cuda.Event | None, str] | None = None

    def note(self, loss: Tensor, where: str) -> None:
        """Start to fetch this step's loss and look at the one before; `where` names the step if it is bad."""
        self.check()
        fetched = loss.detach().to("cpu", non_blocking=True)
        done = torch.cuda.Event() if loss.is_cuda else None  # type: ignore[no-untyped-call]
        if done is not None:
            done.record()
        self._pending = fetched, done, where

    def check(self) -> None:
        """Look at the loss noted last; one that is not finite is an error."""
        if self._pending is None:
            return
        fetched, done, where = self._pending
        self._pending = None
        if done is not None:
            done.synchronize()
        self.last = float(fetched)
        if not math.isfinite(self.last):
            raise OrderlessError(f"the loss is {self.last} {where}; lower the learning rate")
