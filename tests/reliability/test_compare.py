"""A comparison that is killed or stopped goes on, and leaves nobody behind."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from .commands import assert_same_run, end_when, one_sentence, run, start

pytestmark = pytest.mark.slow

RECIPE = """
recipe: quick
data: {image_size: 32, workers: 0}
model: {backbone: test_resnet, weights: none, hidden: 16, embedding: 8, attention_size: 8}
stages:
- {name: head, epochs: 3, batch_size: 8, learning_rate: 0.001, cache: true, average: ema, schedule: cosine}
checkpoint_minutes: 0
"""


@pytest.fixture(scope="module")
def settings(photos: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str | Path]:
    recipe = tmp_path_factory.mktemp("recipe") / "tiny.yaml"
    recipe.write_text(RECIPE)
    return ["compare", photos, "--recipe", recipe, "--methods", "pla,mla", "--seeds", "0", "--attention", "on"]


@pytest.fixture(scope="module")
def whole(settings: list[str | Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("compare") / "whole"
    run(*settings, "--out", out)
    return out


def assert_same_comparison(ours: Path, theirs: Path) -> None:
    for name in ("pla/seed-0", "mla/seed-0"):
        assert_same_run(ours / name, theirs / name)
    assert (ours / "report.html").is_file()


def test_killed_within_the_second_run(settings: list[str | Path], whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "killed"
    second = out / "mla" / "seed-0" / "last" / "stage-0.previous.ckpt"
    code, _ = end_when(start(*settings, "--out", out), second.exists)
    assert code == -signal.SIGKILL
    run(*settings, "--out", out)
    assert_same_comparison(out, whole)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGKILL, -9)])
def test_beside_each_other(number: int, code: int, settings: list[str | Path], whole: Path, tmp_path: Path) -> None:
    """Both runs at work when the parent is told to end, or is killed: no run goes on without it."""
    out = tmp_path / "beside"
    checkpoints = [out / name / "seed-0" / "last" / "stage-0.previous.ckpt" for name in ("pla", "mla")]
    process = start(*settings, "--out", out, "--jobs", "2", start_new_session=True)
    ended, err = end_when(process, lambda: any(file.exists() for file in checkpoints), number)
    assert ended == code, err
    if number == signal.SIGTERM:
        assert one_sentence(err) == "orderless: stopped; the same command goes on from here"
    end = time.monotonic() + 60
    while members(process.pid):
        assert time.monotonic() < end, "processes were left behind"
        time.sleep(0.05)
    run(*settings, "--out", out)
    assert_same_comparison(out, whole)


def members(session: int) -> list[int]:
    """The processes that are left of a session."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z" and int(folder.name) != os.getpid():
            found.append(int(folder.name))
    return found
