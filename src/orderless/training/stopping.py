"""SIGTERM and SIGINT: the first is a request, which training grants at its next step; the same again is an order."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType
from typing import Any

from orderless.errors import Stopped

SIGNALS = (signal.SIGTERM, signal.SIGINT)


class StopSignals:
    """Listens for signals within `with`.

    While `patient`, the first one is only noted in `received`: whoever set it looks there between two steps. At other
    times it raises `Stopped` on the spot; files are written wholly or not at all, so any moment is good.
    """

    def __init__(self) -> None:
        self.received: int | None = None
        self.patient = False
        self._process = os.getpid()
        self._heard_before: set[int] = set()
        self._before: dict[int, Any] = {}

    def __enter__(self) -> StopSignals:
        self._before = {number: signal.getsignal(number) for number in SIGNALS}
        self.listen()
        return self

    def __exit__(self, *_: object) -> None:
        if _may_listen():
            for number, handler in self._before.items():
                signal.signal(number, handler)

    def listen(self) -> None:
        """Take the signals, also from whoever took them since (Lightning does, and would end without a checkpoint)."""
        if _may_listen():
            for number in SIGNALS:
                signal.signal(number, self._heard)

    def _heard(self, number: int, frame: FrameType | None) -> None:
        if os.getpid() != self._process:
            return  # a forked process that decodes images: it is needed until the checkpoint, and ends with its parent
        if number in self._heard_before:
            signal.signal(number, signal.SIG_DFL)
            os.kill(self._process, number)
        self._heard_before.add(number)
        self.received = number
        if not self.patient:
            raise Stopped("stopped", number)


def _may_listen() -> bool:
    return threading.current_thread() is threading.main_thread()
