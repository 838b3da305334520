"""The command line on a local Ray: the same tags as without, every image accounted for, a killed process survived."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("ray")
pytestmark = pytest.mark.slow

TINY = ["--backbone", "test_resnet", "--weights", "none", "--image-size", "64", "--epochs", "1", "--workers", "0"]


@pytest.fixture(scope="module")
def run(photos: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "tiny"
    finish(start("train", photos, "--out", out, *TINY))
    return out


def start(*arguments: str | Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "orderless", *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def finish(process: subprocess.Popen[str], code: int = 0) -> str:
    _, err = process.communicate(timeout=600)
    assert process.returncode == code, err
    return err


def tags(rows: list[dict[str, object]]) -> dict[str, object]:
    return {Path(str(row["file_name"])).name: row.get("labels") for row in rows}


def test_the_same_tags_and_every_image_accounted_for(run: Path, photos: Path, tmp_path: Path) -> None:
    """Images inside a Parquet file, addresses and missing files; results as a folder and as one file."""
    folder = tmp_path / "in"
    folder.mkdir()
    for name in ("test-00001.jpg", "test-00002.jpg", "test-00003.jpg"):
        shutil.copy(photos / "images" / name, folder)
    (folder / "bad.jpg").write_bytes(b"\xff\xd8 no")
    finish(start("predict", run, folder, "--out", tmp_path / "plain.jsonl"), code=1)
    plain = tags([json.loads(line) for line in (tmp_path / "plain.jsonl").read_text().splitlines()])
    err = finish(
        start("predict", run, f"file://{folder}", tmp_path / "gone.jpg", "--engine", "ray", "--out", tmp_path / "out"),
        code=1,
    )
    assert "3 photos tagged, 2 failed" in err
    assert len(err.strip().splitlines()) == 2, err  # nothing but what it does, and what it did
    rows = pq.read_table(tmp_path / "out").to_pylist()
    assert tags(rows) == plain | {"bad.jpg": None, "gone.jpg": None}
    assert {row["error"] for row in rows if "gone" in row["file_name"]} == {"there is no such file"}
    images = {path.name: path.read_bytes() for path in folder.iterdir()}
    table = pa.table({"file_name": list(images), "bytes": list(images.values())})
    pq.write_table(table, tmp_path / "in.parquet")
    finish(start("predict", run, tmp_path / "in.parquet", "--engine", "ray", "--out", tmp_path / "one.parquet"), code=1)
    assert tags(pq.read_table(tmp_path / "one.parquet").to_pylist()) == plain | {"bad.jpg": None}


def test_a_killed_process_costs_nothing(run: Path, photos: Path, tmp_path: Path) -> None:
    listed = [str(path) for path in sorted((photos / "images").glob("*.jpg"))] * 40
    (tmp_path / "list.txt").write_text("\n".join(listed))
    out = tmp_path / "tags.jsonl"
    job = start("predict", run, tmp_path / "list.txt", "--engine", "ray", "--out", out, "--batch-size", "4")
    killed: set[int] = set()
    seen: set[int] = set()
    part = tmp_path / "tags.jsonl.part"
    end = time.monotonic() + 600
    while job.poll() is None:
        if time.monotonic() > end:
            job.kill()
            pytest.fail(f"the job does not end; killed: {killed}, stderr: {job.communicate()[1]}")
        seen |= (now := taggers_of(job.pid))
        with suppress(FileNotFoundError):  # not there yet, or renamed already
            if not killed and now and part.stat().st_size:  # in the middle of its work
                os.kill(min(now), signal.SIGKILL)
                killed.add(min(now))
        time.sleep(0.05)
    finish(job)
    assert killed
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["file_name"] for row in rows] == listed
    assert all("labels" in row for row in rows)


def taggers_of(driver: int) -> set[int]:
    """Ray's processes below the driver that hold a tagger."""
    parents: dict[int, int] = {}
    names: dict[int, str] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                names[int(entry.name)] = (entry / "cmdline").read_text()
            except OSError:
                continue
    found = set()
    for process, name in names.items():
        above = process
        while above in parents and above != driver:
            above = parents[above]
        if above == driver and name.startswith("ray::") and "RayTagger" in name:
            found.add(process)
    return found
