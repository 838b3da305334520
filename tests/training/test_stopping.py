"""Signals: the first is a request, the same again an order."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from orderless.errors import Stopped
from orderless.training.stopping import SIGNALS, StopSignals

PATIENT = """
import os, sys, signal, time
from orderless.training.stopping import StopSignals
with StopSignals() as stop:
    stop.patient = True
    os.kill(os.getpid(), int(sys.argv[1]))
    assert stop.received == int(sys.argv[1])
    print("noted", flush=True)
    os.kill(os.getpid(), int(sys.argv[1]))
    time.sleep(5)
    print("still here", flush=True)
"""


@pytest.mark.parametrize("number", SIGNALS)
def test_the_same_signal_again_ends_at_once(number: int) -> None:
    done = subprocess.run([sys.executable, "-c", PATIENT, str(int(number))], capture_output=True, text=True)
    assert done.stdout == "noted\n"
    assert done.returncode == -number


def test_between_steps_one_is_enough_and_handlers_come_back() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Stopped), StopSignals():
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is before
