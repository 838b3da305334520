"""PyTorch's compiler is not imported for tagging, and whole when somebody wants it."""

from __future__ import annotations

import subprocess
import sys


def run(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()


def test_tagging_imports_nothing_that_it_does_not_use() -> None:
    code = (
        "import sys, orderless.tagger\n"
        "unused = {'torch._dynamo', 'sympy', 'scipy', 'pandas', 'matplotlib', 'lightning', 'torchmetrics', 'sklearn'}\n"
        "print(sorted(unused & set(sys.modules)))"
    )
    assert run(code) == "[]"


def test_the_compiler_works_afterwards() -> None:
    code = (
        "import torch, orderless.model.encoder\n"
        "from torchvision.ops.roi_align import is_compile_supported\n"
        "is_compile_supported('cpu')\n"
        "double = torch.compile(lambda x: x * 2, backend='eager')\n"
        "print(double(torch.ones(2)).tolist(), torch._dynamo.__file__ is not None)"
    )
    assert run(code) == "[2.0, 2.0] True"


def test_whoever_wants_more_gets_the_real_one_and_marks_are_kept() -> None:
    code = (
        "import sys, torch\n"
        "from orderless.compiler_later import compiler_later\n"
        "with compiler_later():\n"
        "    @torch.compiler.disable\n"
        "    def left_alone(x): return x\n"
        "    from torch._dynamo.utils import counters\n"
        "import torch._dynamo\n"
        "seen = []\n"
        "def backend(graph, inputs): seen.append(graph); return graph.forward\n"
        "print(torch.compile(lambda x: left_alone(x + 1) * 2, backend=backend)(torch.ones(1)).item(), len(seen))"
    )
    assert run(code) == "4.0 2"  # two graphs: the compiler stopped at the mark


def test_nothing_happens_where_it_is_there_already() -> None:
    code = (
        "import torch._dynamo as real, sys\n"
        "from orderless.compiler_later import compiler_later\n"
        "with compiler_later(): print(sys.modules['torch._dynamo'] is real)\n"
    )
    assert run(code) == "True"
