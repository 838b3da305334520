"""torchvision imports beside a CPU build of torch, in a fresh process, and stays untouched where it is whole."""

from __future__ import annotations

import subprocess
import sys


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_everything_that_imports_torchvision_imports() -> None:
    code = (
        "import orderless.torchvision_ops as ops, torch\n"
        "import torchvision, timm, torchmetrics, lightning\n"
        "assert hasattr(torch.ops.torchvision, 'nms')\n"
        "print(ops.declare_missing_ops())"
    )
    assert run(code).strip() == "False"  # the second call has nothing left to do


def test_ops_that_are_there_are_left_alone() -> None:
    code = (
        "import torch\n"
        "lib = torch.library.Library('torchvision', 'DEF')\n"
        "lib.define('nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor')\n"
        "import orderless.torchvision_ops as ops\n"
        "print(ops._declared is None)"
    )
    assert run(code).strip() == "True"
