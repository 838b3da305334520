"""Freed memory is kept by the commands, and by nobody else."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

glibc = pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")

# Prints how many pages had to be found anew for tensors as large as the maps of a batch, after some rounds.
FAULTS = """
import resource, torch
for turn in range(30):
    if turn == 20:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    maps = [torch.ones(size << 20) for size in (24, 12, 6)]
    del maps
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def _faults(before: str) -> int:
    return int(subprocess.run([sys.executable, "-c", before + FAULTS], check=True, capture_output=True).stdout)


@glibc
def test_a_large_tensor_takes_the_memory_of_the_last() -> None:
    given_back = _faults("")
    kept = _faults("from orderless.kept_memory import keep_freed_memory; keep_freed_memory()")
    assert kept < given_back / 5


@glibc
@pytest.mark.parametrize(("verb", "kept"), [("methods", True), ("serve", False)])
def test_commands_keep_it_but_not_the_service(verb: str, kept: bool) -> None:
    code = f"""
import sys
from orderless.cli.main import main
from orderless.kept_memory import freed_memory_is_kept
sys.argv = ["orderless", {verb!r}, "--help"]
try:
    main()
except SystemExit:
    print(freed_memory_is_kept())
"""
    shown = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert shown.splitlines()[-1] == str(kept)


@glibc
def test_importing_the_library_changes_nothing() -> None:
    code = "import orderless.tagger; from orderless.kept_memory import freed_memory_is_kept as k; print(k())"
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True).stdout.strip() == b"False"
