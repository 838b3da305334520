"""The real command in processes of its own, to be killed, starved and compared."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from safetensors.torch import load_file

# Three stages, of which two train the encoder; averaging, a plateau, MLA's counts: all that has a state to lose.
TINY = [
    "--backbone", "test_resnet", "--weights", "none", "--image-size", "32", "--workers", "0",
    "--set", "model.hidden=16", "--set", "model.embedding=8", "--set", "model.attention_size=8",
]  # fmt: skip


def stages(epochs: int, batch_size: int = 8, count: int = 3) -> list[str]:
    return [
        text
        for n in range(count)
        for text in ("--set", f"stages.{n}.epochs={epochs}", "--set", f"stages.{n}.batch_size={batch_size}")
    ]


def command(*arguments: str | Path) -> list[str]:
    return [sys.executable, "-m", "orderless", *map(str, arguments)]


def start(*arguments: str | Path, **options: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        command(*arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,  # type: ignore[call-overload]
    )


def run(*arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command(*arguments), capture_output=True, text=True, timeout=900)
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return done


def end_when(
    process: subprocess.Popen[str], happens: Callable[[], object], number: int = signal.SIGKILL
) -> tuple[int, str]:
    """Send a signal as soon as something happens, or let the process end; exit code and stderr."""
    while process.poll() is None and not happens():
        time.sleep(0.0005)
    if process.poll() is None:
        os.kill(process.pid, number)
    _, err = process.communicate(timeout=600)
    return process.returncode, err


def one_sentence(err: str) -> str:
    """What the command said last; there must be no traceback."""
    assert "Traceback" not in err, err
    last = err.strip().splitlines()[-1]
    assert last.startswith("orderless: "), err
    return last


def assert_same_run(ours: Path, theirs: Path) -> None:
    """The same weights, bit for bit, and the same table."""
    assert (ours / "metrics.csv").read_text() == (theirs / "metrics.csv").read_text()
    assert_same_weights(ours, theirs)


def assert_same_weights(ours: Path, theirs: Path) -> None:
    """The same weights, bit for bit, and what they were judged."""
    assert (ours / "metrics.json").read_text() == (theirs / "metrics.json").read_text()
    a, b = load_file(ours / "model.safetensors"), load_file(theirs / "model.safetensors")
    assert a.keys() == b.keys()
    different = [key for key in a if not torch.equal(a[key], b[key])]
    assert not different, different[:5]
