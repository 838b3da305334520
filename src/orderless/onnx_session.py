"""ONNX Runtime on the CPU: one way to open a model, with errors of one sentence."""

from __future__ import annotations

import os
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


def open_session(source: Path | bytes, threads: int | None = None) -> Any:
    """A session for a file or its content; what is no model is a UsageError.

    The content alone is read: a model that asks for files beside it is refused. `threads` are as many as
    $OMP_NUM_THREADS says, else as there are cores.
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
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads or int(os.environ.get("OMP_NUM_THREADS") or 0)
    options.log_severity_level = 4  # what is wrong is said below; its warnings are about the exporter's tidiness
    try:
        return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    except tuple(getattr(state, refusal) for refusal in _REFUSALS) as error:
        reason = str(error).rpartition(" : ")[2].strip()[:160].rstrip(".")
        raise UsageError(f"{name} is damaged or not an ONNX file ({reason})") from None
