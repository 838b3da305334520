"""Locks: one process at a time, and none that its children keep."""

from __future__ import annotations

import multiprocessing
import time
from multiprocessing.synchronize import Event
from pathlib import Path

from orderless.files import alone_with, temporary_name


def _wait(started: Event) -> None:
    started.set()
    time.sleep(60)


def test_a_forked_process_does_not_hold_what_its_parent_locked(tmp_path: Path) -> None:
    """A worker outlives a killed training for some seconds, in which that may be resumed."""
    with alone_with(tmp_path) as alone:
        assert alone
        with alone_with(tmp_path) as again:
            assert not again
        context = multiprocessing.get_context("fork")
        started = context.Event()
        child = context.Process(target=_wait, args=(started,))
        child.start()
        assert started.wait(30)
    try:
        with alone_with(tmp_path) as alone:
            assert alone
    finally:
        child.kill()
        child.join()


def test_what_was_renamed_meanwhile_is_not_ours(tmp_path: Path) -> None:
    file = tmp_path / "a.part"
    file.touch()
    with alone_with(file) as alone:
        assert alone
        file.rename(tmp_path / "a")
        file.touch()
        with alone_with(file) as other:
            assert other


def test_temporary_names_are_of_one_write(tmp_path: Path) -> None:
    names = {temporary_name(tmp_path / ("x" * 255)) for _ in range(20)}
    assert len(names) == 20
    assert all(len(name.name) < 100 for name in names)
