"""`predict` on what strangers send: no crash, no hang, memory flat, every file tagged or named as failed."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from statistics import median

import pytest
from PIL import Image

from .commands import command
from .hostile import write_mutants, write_zoo

MUTANTS = int(os.environ.get("ORDERLESS_MUTANTS", "1000"))
MOST_GROWTH = 64_000_000  # bytes between the second and the last quarter


@pytest.fixture(scope="module")
def photo(photos: Path) -> Image.Image:
    with Image.open(photos / "images" / "test-00000.jpg") as image:
        return image.convert("RGB")


def outcomes(text: str) -> dict[bytes, str | None]:
    """The error of every file, None for those that were tagged; no file may come twice."""
    rows = [json.loads(line) for line in text.splitlines()]
    found = {os.fsencode(row["file_name"]).rsplit(b"/", 1)[1]: row.get("error") for row in rows}
    assert len(found) == len(rows)
    assert all(("labels" in row) != ("error" in row) for row in rows)
    return found


@pytest.mark.parametrize("workers", ["0", "2"])
def test_the_zoo(workers: str, tiny_run: Path, photo: Image.Image, tmp_path: Path) -> None:
    zoo = tmp_path / "zoo"
    expected = write_zoo(zoo, photo)
    out = tmp_path / "tags.jsonl"
    arguments = command("predict", tiny_run, zoo, "--out", out, "--workers", workers, "--attention", tmp_path / "maps")
    done = subprocess.run(arguments, capture_output=True, timeout=120)
    assert done.returncode == 1, done.stderr  # some failed
    assert b"Traceback" not in done.stderr
    found = outcomes(out.read_text(encoding="utf-8", errors="surrogateescape"))
    assert {name for name, error in found.items() if error is None} == expected["tagged"]
    assert {name for name, error in found.items() if error is not None} == expected["failed"]
    assert len(list((tmp_path / "maps").iterdir())) == len(expected["tagged"])
    assert "pixels" in str(found[b"bomb.png"])
    assert "not a file" in str(found[b"pipe.jpg"])


@pytest.mark.parametrize("form", ["table", "csv", "txt", "xmp", "parquet", "label-studio", "fiftyone"])
def test_every_output_takes_the_zoo(
    form: str, tiny_run: Path, photo: Image.Image, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """In one process each, since only the writing differs; sidecars go to a folder of their own and nowhere else."""
    import sys

    from orderless.cli.main import main

    zoo = tmp_path / "zoo"
    write_zoo(zoo, photo)
    before = sorted(zoo.rglob("*"))
    out = tmp_path / ("out" if form in ("txt", "xmp") else f"out.{form}")
    with pytest.MonkeyPatch.context() as patch:
        more = [] if form == "table" else ["--out", str(out)]
        patch.setattr(sys, "argv", ["orderless", "predict", str(tiny_run), str(zoo), "--to", form, *more])
        with pytest.raises(SystemExit) as caught:
            main()
    assert caught.value.code == 1
    assert "Traceback" not in capfd.readouterr().err
    assert sorted(zoo.rglob("*")) == before
    assert {path.name for path in tmp_path.iterdir()} <= {"zoo", "out", out.name}


@pytest.mark.slow
@pytest.mark.parametrize("runtime", ["eager", "onnx"])
def test_mutants(runtime: str, tiny_run: Path, photo: Image.Image, tmp_path: Path) -> None:
    """ORDERLESS_MUTANTS sets how many."""
    mutants = tmp_path / "mutants"
    write_mutants(mutants, photo, MUTANTS, seed=6)
    out, said = tmp_path / "tags.jsonl", tmp_path / "stderr"
    with said.open("wb") as err:
        process = subprocess.Popen(
            command("predict", tiny_run, mutants, "--out", out, "--runtime", runtime), stderr=err
        )
        early, late = watch_memory(process, out, limit=60 + MUTANTS)
    assert process.returncode in (0, 1), said.read_bytes()[-2000:]
    found = outcomes(out.read_text())
    assert set(found) == {os.fsencode(file.name) for file in mutants.iterdir()}
    assert any(error is None for error in found.values())
    assert any(error is not None for error in found.values())
    assert late - early < MOST_GROWTH
    failed = sum(error is not None for error in found.values())
    print(f"{len(found)} images, {failed} failed, memory {early / 1e6:.0f} then {late / 1e6:.0f} MB")


def watch_memory(process: subprocess.Popen[bytes], out: Path, limit: float) -> tuple[float, float]:
    """Bytes in memory while the second and the last quarter of the output was written (a median: large images come and
    go); a process that takes too long is killed.
    """
    seen, end = [], time.monotonic() + limit
    while process.poll() is None:
        if time.monotonic() > end:
            process.kill()
            raise AssertionError("it hangs")
        try:
            pages = Path(f"/proc/{process.pid}/statm").read_text().split()[1]
            seen.append((out.with_name(f"{out.name}.part").stat().st_size, int(pages) * os.sysconf("SC_PAGE_SIZE")))
        except (OSError, IndexError):
            continue
        time.sleep(0.01)
    whole = out.stat().st_size
    early = [memory for written, memory in seen if whole / 4 < written <= whole / 2]
    late = [memory for written, memory in seen if whole * 3 / 4 < written]
    return median(early), median(late)
