"""A training that is killed, at any moment and in any stage, ends as if nothing had happened."""

from __future__ import annotations

import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from orderless.training.checkpoint import previous

from .commands import TINY, assert_same_run, end_when, one_sentence, run, stages, start

# The paper's three stages with MLA, a checkpoint at every step: everything that has a state to lose.
PAPER = [*TINY, "--recipe", "paper", "--method", "mla", *stages(3, batch_size=16), "--set", "checkpoint_minutes=0"]


@pytest.fixture(scope="module")
def data(photos: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With images that cannot be read: they are counted, also across a kill."""
    folder = tmp_path_factory.mktemp("data") / "photos"
    shutil.copytree(photos, folder)
    (folder / "images" / "train-00003.jpg").write_bytes(b"not a picture")
    return folder


@pytest.fixture(scope="module")
def whole(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run that was never stopped."""
    out = tmp_path_factory.mktemp("runs") / "whole"
    run("train", data, "--out", out, *PAPER)
    return out


# The command, which sends itself a signal when it writes a given file for the (n + 1)th time: no watcher from outside
# could be sure to see a temporary file that is there for milliseconds. "half": only half of it is on the disk so far.
# "whole": it is about to be renamed.
_SIGNALLED = """
import os, signal, sys
from orderless.cli.main import main

file, moment, before, number = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
written = 0

def watch(event, arguments):
    global written
    if event == "open" and moment == "half" and written == before:
        name = os.path.basename(str(arguments[0]))
        if name.startswith(f".{file}.") and name.endswith(".tmp") and os.path.exists(arguments[0]):
            os.truncate(arguments[0], os.path.getsize(arguments[0]) // 2)
            signal.raise_signal(number)
    if event == "os.rename" and os.path.basename(str(arguments[1])) == file:
        written += 1
        if moment == "whole" and written == before + 1:
            signal.raise_signal(number)

sys.addaudithook(watch)
sys.argv = ["orderless", *sys.argv[5:]]
main()
"""


def end_at(
    file: str, moment: str, *arguments: str | Path, before: int = 0, number: int = signal.SIGKILL
) -> tuple[int, str]:
    """Run the command until it writes `file`, after it did so `before` times; exit code and stderr."""
    watched = [file, moment, str(before), str(int(number))]
    done = subprocess.run(
        [sys.executable, "-c", _SIGNALLED, *watched, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=900,
    )
    return done.returncode, done.stderr


def finish(out: Path, whole: Path) -> None:
    run("train", "--resume", "--out", out)
    assert_same_run(out, whole)
    assert not [file for file in out.rglob(".*.tmp")]  # noqa: C416


@pytest.mark.slow
def test_the_same_seed_gives_the_same_weights(data: Path, whole: Path, tmp_path: Path) -> None:
    run("train", data, "--out", tmp_path / "again", *PAPER)
    assert_same_run(tmp_path / "again", whole)


@pytest.mark.slow
@pytest.mark.parametrize("trial", range(2))
def test_killed_at_random_moments(trial: int, data: Path, whole: Path, tmp_path: Path) -> None:
    """Again and again, until the run gets through between two kills."""
    dice, out = random.Random(trial), tmp_path / "killed"
    arguments: list[str | Path] = ["train", data, "--out", out, *PAPER]
    for _ in range(3):
        started = start(*arguments)
        while started.poll() is None and not (out / "last").exists():
            time.sleep(0.001)
        end = time.monotonic() + dice.uniform(0.0, 2.0)
        end_when(started, lambda end=end: time.monotonic() > end)  # type: ignore[misc]
        if (out / "config.yaml").exists():
            arguments = ["train", "--resume", "--out", out]
    finish(out, whole)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "before"), [("stage-0.ckpt", 0), ("stage-2.ckpt", 2), ("stage-1.best.safetensors", 0)]
)
def test_killed_while_a_file_is_written(file: str, before: int, data: Path, whole: Path, tmp_path: Path) -> None:
    """In every stage: while the temporary file of a checkpoint, or of the best weights, is there, half or whole."""
    out = tmp_path / "killed"
    arguments: list[str | Path] = ["train", data, "--out", out, *PAPER]
    for moment in ("half", "whole"):
        code, err = end_at(file, moment, *arguments, before=before)
        assert code == -signal.SIGKILL, err
        assert list((out / "last").glob(f".{file}.*.tmp"))
        arguments = ["train", "--resume", "--out", out]
    finish(out, whole)


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["cut", "flip"])
def test_a_torn_checkpoint_gives_way_to_the_one_before(damage: str, data: Path, whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "torn"
    checkpoint = out / "last" / "stage-1.ckpt"
    end_at(checkpoint.name, "half", "train", data, "--out", out, *PAPER, before=2)
    assert previous(checkpoint).exists()
    content = bytearray(checkpoint.read_bytes())
    if damage == "flip":
        content[len(content) // 2] ^= 1
    checkpoint.write_bytes(content[: len(content) // 2] if damage == "cut" else content)
    done = run("train", "--resume", "--out", out)
    assert "is damaged; going on from the checkpoint before it" in done.stderr
    assert_same_run(out, whole)


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_saves_and_ends(number: int, code: int, data: Path, whole: Path, tmp_path: Path) -> None:
    """No timer here: what is saved within the epoch is saved because of the signal."""
    out = tmp_path / "stopped"
    patient = [*PAPER, "--set", "checkpoint_minutes=99"]
    best = "stage-1.best.safetensors"  # written before the end of stage two's first epoch
    ended, err = end_at(best, "whole", "train", data, "--out", out, *patient, number=number)
    assert ended == code, err
    assert one_sentence(err) == f"orderless: stopped; go on with: orderless train --resume --out {out}"
    assert list((out / "last").glob("stage-1*.ckpt"))
    finish(out, whole)


@pytest.mark.slow
def test_a_signal_before_the_first_step(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "early"
    code, err = end_at("labels.json", "whole", "train", data, "--out", out, *PAPER, number=signal.SIGTERM)
    assert code == 143, err
    one_sentence(err)
    run("train", "--resume", "--out", out)


@pytest.mark.slow
def test_killed_while_features_are_stored_and_with_worker_processes(data: Path, tmp_path: Path) -> None:
    """Stored features, and images decoded by other processes: whose order must survive a resume within an epoch."""
    for name, more in {
        "cache": ["--recipe", "quick", *stages(3, 16, count=1)],
        "workers": ["--finetune", "--method", "bce", *stages(2, 16, count=1), "--workers", "2"],
    }.items():
        whole, out = tmp_path / f"{name}-whole", tmp_path / name
        tiny = [*TINY, *more, "--set", "checkpoint_minutes=0"]
        run("train", data, "--out", whole, *tiny)
        code, err = end_at("stage-0.ckpt", "half", "train", data, "--out", out, *tiny, before=2)
        assert code == -signal.SIGKILL, err
        finish(out, whole)


@pytest.mark.slow
def test_early_stopping_and_the_plateau_survive_a_kill(data: Path, tmp_path: Path) -> None:
    """Both count epochs without improvement; with hardly a learning rate there is none."""
    still = [*TINY, "--recipe", "paper", "--method", "bce", *stages(12, 40, count=1),
             "--set", "stages.0.learning_rate=1e-6", "--set", "stages.0.patience=5"]  # fmt: skip
    whole, out = tmp_path / "whole", tmp_path / "killed"
    run("train", data, "--out", whole, *still)
    rows = (whole / "metrics.csv").read_text().splitlines()
    assert len(rows) < 12
    assert len({row.split(",")[2] for row in rows[1:]}) > 1  # the rate was lowered

    def epochs(count: int) -> bool:
        file = out / "metrics.csv"
        return file.exists() and len(file.read_text().splitlines()) > count

    end_when(start("train", data, "--out", out, *still), lambda: epochs(2))
    for count in (4, 5):
        end_when(start("train", "--resume", "--out", out), lambda count=count: epochs(count))  # type: ignore[misc]
    finish(out, whole)


@pytest.mark.slow
def test_a_full_disk_leaves_the_last_checkpoint(data: Path, whole: Path, tmp_path: Path) -> None:
    """From some moment on no file may grow beyond a few kilobytes: as on a disk that is full."""
    out = tmp_path / "full"
    end_at("stage-1.ckpt", "half", "train", data, "--out", out, *PAPER, before=2)
    kept = {file.name: file.read_bytes() for file in (out / "last").glob("stage-1*.ckpt")}
    assert len(kept) == 2
    limit = 100_000
    assert all(len(content) > limit for content in kept.values())
    full = start(
        "train", "--resume", "--out", out, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    )
    _, err = full.communicate(timeout=900)
    assert full.returncode == 1
    assert f"cannot write {out}" in one_sentence(err)
    assert {file.name: file.read_bytes() for file in (out / "last").glob("stage-1*.ckpt")} == kept
    finish(out, whole)


@pytest.mark.parametrize("out", ["/proc/orderless", "file/run"])
def test_an_unwritable_folder_is_one_sentence(out: str, photos: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = run("train", photos, "--out", tmp_path / out, *TINY, code=1)  # an absolute path stands for itself
    assert "cannot write" in one_sentence(done.stderr)
