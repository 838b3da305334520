"""Lets torchvision be imported beside a CPU build of torch.

PyPI's torchvision wheel is built against the CUDA build of torch. Beside a CPU build its C++ library does
not load, and `import torchvision` (hence timm, torchmetrics, Lightning) fails with "operator
torchvision::nms does not exist", because a Python module registers fake kernels for ops that were never
declared. Declaring the schemas first is enough: nothing here calls these ops, and image decoding is Pillow's.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path

import torch

_SCHEMAS = ("nms", "qnms")
_declared: torch.library.Library | None = None  # must live as long as the process


def declare_missing_ops() -> bool:
    """Declare torchvision's schemas if its own library cannot; True if anything was declared."""
    global _declared
    if _declared is not None or _native_ops_load():
        return False
    _declared = torch.library.Library("torchvision", "FRAGMENT")  # type: ignore[no-untyped-call]
    for name in _SCHEMAS:
        _declared.define(f"{name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")  # type: ignore[no-untyped-call]
    return True


def _native_ops_load() -> bool:
    if hasattr(torch.ops.torchvision, "nms"):
        return True
    spec = importlib.util.find_spec("torchvision")
    if spec is None or spec.origin is None:
        return True  # no torchvision: nothing to repair
    for library in Path(spec.origin).parent.glob("_C.*"):
        try:
            torch.ops.load_library(str(library))  # type: ignore[no-untyped-call]
        except OSError:
            return False
        return hasattr(torch.ops.torchvision, "nms")
    return False


declare_missing_ops()
