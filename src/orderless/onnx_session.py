"""ONNX Runtime on the CPU: one way to open a model, with errors of one sentence."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from orderless.errors import UsageError

_REFUSALS = (
    "Fail",
    "InvalidArgument",
    "InvalidGraph",
    "InvalidProtobuf",
    "NoModel",
    "NotImplemented",
    "RuntimeException",
)

_EIGHT = re.compile(rb"(?:\x08|\x88\x80*\x00)\Z")  # the length of what follows; it may be written longer


def open_session(source: Path | bytes, threads: int | None = None, *, beside_others: bool = False) -> Any:
    """A session for a file or its content; what is no model is a UsageError.

    The content alone is read: a model that asks for other files is refused, since ONNX Runtime would read any file
    below the working directory. `threads` are as many as $OMP_NUM_THREADS says, else as there are cores; if they run
    `beside_others`, they do not wait for the next call by turning in circles.
    """
    try:
        import onnxruntime
    except ImportError:
        raise UsageError("ONNX Runtime is not installed; pip install 'orderless[onnx]' brings it") from None
    from onnxruntime.capi import onnxruntime_pybind11_state as state

    name = "the model" if isinstance(source, bytes) else str(source)
    try:
        content = source if isinstance(source, bytes) else source.read_bytes()
    except OSError as error:
        raise UsageError(f"{name} cannot be read: {error.strerror or error}") from None
    if _lies_elsewhere(content):
        raise UsageError(f"{name} asks for weights in other files, which are not read; a model must be one file")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads or _environment_threads()
    if beside_others:
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 4  # what is wrong is said below; its warnings are about the exporter's tidiness
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except tuple(getattr(state, refusal) for refusal in _REFUSALS) as error:
        reason = str(error).rpartition(" : ")[2].strip()[:160].rstrip(".")
        raise UsageError(f"{name} is damaged or not an ONNX file ({reason})") from None


def _lies_elsewhere(content: bytes) -> bool:
    """Whether a tensor says in which file it lies: by a text that is "location", with its length before it."""
    place = content.find(b"location")
    while place >= 0:
        if _EIGHT.search(content[max(0, place - 11) : place]):
            return True
        place = content.find(b"location", place + 1)
    return False


def _environment_threads() -> int:
    """$OMP_NUM_THREADS, of which OpenMP reads a number for each level; 0, which is all cores, if it says nothing."""
    first = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
    return int(first) if first.isdecimal() else 0
