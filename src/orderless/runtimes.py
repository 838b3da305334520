"""What runs the encoder: plain PyTorch, compiled PyTorch. One small table; tags do not depend on the choice."""

from __future__ import annotations

import shutil
from collections.abc import Callable

import torch
from torch import Tensor

from orderless.errors import UsageError
from orderless.model.encoder import Encoder

Encode = Callable[[Tensor], Tensor]  # images [B, 3, S, S] -> features [B, cells, C]

# Compiling takes half a minute and then saves less than a millisecond an image, as batch norms are folded already:
# see `orderless bench runtime`.
COMPILE_PAYS_FROM = 100_000


def eager(encoder: Encoder) -> Encode:
    """PyTorch, operation by operation."""
    return encoder


def compiled(encoder: Encoder) -> Encode:
    """torch.compile: operations fused by a C++ compiler, once for each size of batch."""
    if not compiler_found():
        raise UsageError("--runtime compile needs a C++ compiler (g++ or clang++), which is not there; use eager")
    run: Encode = torch.compile(encoder)
    size = 0  # of the batches compiled for

    def encode(images: Tensor) -> Tensor:
        nonlocal size
        size = size or len(images)
        if len(images) >= size:
            return run(images)
        filler = images.new_zeros(size - len(images), *images.shape[1:])  # a short last batch is not worth compiling
        return run(torch.cat((images, filler)))[: len(images)]

    return encode


RUNTIMES: dict[str, Callable[[Encoder], Encode]] = {"eager": eager, "compile": compiled}


def choose_runtime(name: str, images: int) -> str:
    """The runtime of that name; for "auto" the one that is done first with so many images."""
    if name == "auto":
        return "compile" if images >= COMPILE_PAYS_FROM and compiler_found() else "eager"
    if name not in RUNTIMES:
        raise UsageError(f"there is no runtime {name!r}; choose auto, {' or '.join(RUNTIMES)}")
    return name


def compiler_found() -> bool:
    return torch.cuda.is_available() or any(shutil.which(name) for name in ("g++", "clang++", "c++"))
