"""What runs the encoder: PyTorch, compiled PyTorch, ONNX Runtime, OpenVINO. Tags do not depend on the choice.

Which is fastest does depend, on the encoder, the processor and the threads; so `auto` does not guess, but tries.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from orderless.errors import OrderlessError, UsageError
from orderless.model.encoder import Encode, Encoder, in_portions

# `auto`: to export the encoder and try the runtimes takes some ten seconds, and saves a tenth to a third of the work.
# See `orderless bench runtime`.
TRIAL_PAYS_FROM = 60.0  # seconds of work left


def eager(encoder: Encoder) -> Encode:
    """PyTorch, operation by operation."""
    return lambda images: in_portions(encoder, images)


def compiled(encoder: Encoder) -> Encode:
    """torch.compile: operations fused by a C++ compiler, for one size of portion."""
    if not compiler_found():
        raise UsageError("--runtime compile needs a C++ compiler (g++ or clang++), which is not there; use eager")
    run: Encode = torch.compile(encoder)
    size = 0  # of the portions compiled for

    def encode(images: Tensor) -> Tensor:
        nonlocal size
        size = size or len(images)
        if len(images) >= size:
            return run(images)
        filler = images.new_zeros(size - len(images), *images.shape[1:])  # a short last one is not worth compiling
        return run(torch.cat((images, filler)))[: len(images)]

    return lambda images: in_portions(encode, images)


def onnx(encoder: Encoder) -> Encode:
    """ONNX Runtime on the CPU."""
    _need("onnx")
    from orderless.onnx_session import open_session

    def start(content: bytes) -> Callable[[NDArray[Any]], Any]:
        session = open_session(content, torch.get_num_threads(), beside_others=True)  # PyTorch decodes
        return lambda images: session.run(None, {"images": images})[0]

    return _exported(encoder, start)


def openvino(encoder: Encoder) -> Encode:
    """OpenVINO on the CPU, in full precision."""
    _need("openvino")

    def start(content: bytes) -> Callable[[NDArray[Any]], Any]:
        from openvino import Core

        core = Core()
        settings = {"INFERENCE_NUM_THREADS": torch.get_num_threads(), "INFERENCE_PRECISION_HINT": "f32"}
        model = core.compile_model(core.read_model(content), "CPU", settings)
        return lambda images: model.infer_new_request(images)[0]  # a new one: threads may tag side by side

    return _exported(encoder, start)


def _exported(encoder: Encoder, start: Callable[[bytes], Callable[[NDArray[Any]], Any]]) -> Encode:
    """Export for the size of the first images; `start` makes a function on arrays of the file's content."""
    if next(encoder.parameters()).device.type != "cpu":
        raise UsageError("the runtimes onnx and openvino run on the CPU; use eager or compile on a GPU")
    run: Callable[[NDArray[Any]], Any] | None = None

    def encode(images: Tensor) -> Tensor:
        nonlocal run
        if run is None:
            from orderless.export.encoder import exported_encoder

            run = start(exported_encoder(encoder, images.shape[-1]))
        return torch.from_numpy(run(np.ascontiguousarray(images.permute(0, 2, 3, 1).numpy())))

    return encode


RUNTIMES: dict[str, Callable[[Encoder], Encode]] = {
    "eager": eager,
    "compile": compiled,
    "onnx": onnx,
    "openvino": openvino,
}


class Auto:
    """PyTorch at first; then, if that would take long for the images that are left, the fastest runtime there is.

    torch.compile takes no part: it gains least, and takes longest to start.
    """

    TURNS = 8

    def __init__(self, encoder: Encoder, images: int) -> None:
        self.picked = "eager"
        self._encoder, self._left = encoder, images
        self._encode = eager(encoder)
        self._batches = 0

    def __call__(self, images: Tensor) -> Tensor:
        start = time.perf_counter()
        features = self._encode(images)
        seconds = (time.perf_counter() - start) / max(1, len(images))
        self._batches += 1
        self._left -= len(images)
        # The first batch is slow at any speed. Those on a GPU stay there.
        if self._batches == 2 and images.device.type == "cpu" and seconds * self._left > TRIAL_PAYS_FROM:
            self._pick(images, features)
        return features

    def _pick(self, images: Tensor, expected: Tensor) -> None:
        runtimes = {"eager": self._encode}
        for name in filter(installed, ("onnx", "openvino")):
            try:
                encode = RUNTIMES[name](self._encoder)
                if torch.allclose(encode(images), expected, rtol=1e-3, atol=1e-3 * float(expected.abs().max())):
                    runtimes[name] = encode
            except (OrderlessError, RuntimeError):  # an encoder that cannot be exported, or run there
                continue
        seconds = dict.fromkeys(runtimes, float("inf"))
        for name, encode in runtimes.items():  # not in turns: the threads of one stay busy for a while after its turn
            for _ in range(self.TURNS if len(runtimes) > 1 else 0):
                start = time.perf_counter()
                encode(images)
                seconds[name] = min(seconds[name], time.perf_counter() - start)
        self.picked = min(seconds, key=seconds.__getitem__)
        self._encode = runtimes[self.picked]


def make_runtime(name: str, encoder: Encoder, images: int = 1) -> Encode:
    """The runtime of that name; "auto" is the one that is done first with so many images."""
    if name == "auto":
        return Auto(encoder, images)
    if name not in RUNTIMES:
        *first, last = ("auto", *RUNTIMES)
        raise UsageError(f"there is no runtime {name!r}; choose {', '.join(first)} or {last}")
    return RUNTIMES[name](encoder)


# What a runtime needs beside PyTorch.
_PACKAGES = {"onnx": ("onnx", "onnxscript", "onnxruntime"), "openvino": ("onnx", "onnxscript", "openvino")}


def installed(name: str) -> bool:
    return compiler_found() if name == "compile" else all(map(find_spec, _PACKAGES.get(name, ())))


def _need(name: str) -> None:
    if not installed(name):
        extras = "onnx" if name == "onnx" else f"onnx,{name}"
        raise UsageError(f"--runtime {name} needs packages that are not there; pip install 'orderless[{extras}]'")


def compiler_found() -> bool:
    return torch.cuda.is_available() or any(shutil.which(name) for name in ("g++", "clang++", "c++"))
