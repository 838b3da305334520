"""How long until there is something to see: the help page, the first prediction. Each in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from orderless.bench.material import write_photos, write_run
from orderless.bench.measure import Row, in_turns, no_dearer


def rows(quick: bool) -> Iterator[Row]:
    sides = in_turns(_python("-m", "orderless", "--help"), _python("-c", "pass"), quick, processes=True)
    yield no_dearer("start", "--help against a bare interpreter", sides, 5.0)
    with tempfile.TemporaryDirectory() as folder:
        backbone, size = ("test_resnet", 64) if quick else ("lite0", 192)
        run = write_run(Path(folder) / "run", backbone, size)
        photo = write_photos(Path(folder), 1)[0]
        first = _python("-m", "orderless", "predict", str(run), str(photo))
        sides = in_turns(first, _python("-c", "import torch"), quick, processes=True)
        # Dominated by importing torch: everything else takes no longer than that.
        yield no_dearer("start", f"first prediction ({backbone}) against importing torch", sides, 2.0)


def _python(*arguments: str) -> Callable[[], object]:
    return lambda: subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
