"""Training in two processes over gloo: the result of one, no hang on uneven batches, and life after a killed worker."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from orderless.data.dataset import EpochSampler, SharedBatches
from orderless.training.history import read_rows

from .commands import TINY, assert_same_weights, run, stages

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def uneven(photos: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """33 training images: in batches of 16, the last is one image, and one of two processes has none."""
    folder = tmp_path_factory.mktemp("uneven") / "photos"
    shutil.copytree(photos, folder)
    head, *rows = (folder / "metadata.csv").read_text().splitlines()
    training = [row for row in rows if row.endswith(",train")]
    rows = [row for row in rows if row not in training[33:]]
    (folder / "metadata.csv").write_text("\n".join([head, *rows]) + "\n")
    return folder


def torchrun(*arguments: str | Path, restarts: int = 0) -> subprocess.Popen[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    launcher = [
        sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", "2", "--master-addr", "127.0.0.1",
        "--master-port", str(port), "--max-restarts", str(restarts), "--monitor-interval", "0.1",
    ]  # fmt: skip
    return subprocess.Popen(
        [*launcher, "-m", "orderless", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"CUDA_VISIBLE_DEVICES": ""},
    )


def finish(process: subprocess.Popen[str]) -> str:
    out, err = process.communicate(timeout=200)
    assert process.returncode == 0, err[-3000:]
    return out + err


@pytest.mark.parametrize(("method", "cache"), [("pla", True), ("bce", False)])
def test_two_processes_learn_what_one_learns(method: str, cache: bool, uneven: Path, tmp_path: Path) -> None:
    settings: list[str | Path] = [
        uneven, *TINY, "--ignore-unknown", "--method", method, *stages(2, 16, count=1),
        # The encoder's last block learns on stored features; batch norm that learns would see other batches.
        "--set", f"stages.0.cache={str(cache).lower()}", "--set", f"stages.0.encoder_share={0.5 if cache else 0}",
        # Processes roll dice of their own, and Adam makes large steps of small rounding.
        "--set", "model.dropout=0", "--set", "stages.0.channel_dropout=0", "--set", "stages.0.cell_dropout=0",
        "--set", "stages.0.optimizer=sgd", "--set", "stages.0.learning_rate=0.1",
    ]  # fmt: skip
    run("train", *settings, "--out", tmp_path / "one")
    said = finish(torchrun("train", *settings, "--out", tmp_path / "two"))
    assert said.count("run written to") == 1
    one, two = (read_rows(tmp_path / name / "metrics.csv") for name in ("one", "two"))
    assert [row["images"] for row in two] == [row["images"] for row in one]
    for ours, theirs in zip(two, one, strict=True):
        assert ours["loss"] == pytest.approx(theirs["loss"], rel=1e-4)
        assert ours["mAP"] == pytest.approx(theirs["mAP"], abs=1e-3)
    weights, expected = (load_file(tmp_path / name / "last" / "stage-0.safetensors") for name in ("two", "one"))
    for key, value in expected.items():
        torch.testing.assert_close(
            weights[key].float(), value.float(), rtol=1e-2, atol=1e-3, msg=lambda m, k=key: f"{k}: {m}"
        )


def test_a_killed_worker_is_started_again_and_goes_on(uneven: Path, tmp_path: Path) -> None:
    settings: list[str | Path] = [
        uneven, *TINY, "--image-size", "64", "--ignore-unknown", "--recipe", "paper", "--method", "pla", *stages(2, 16),
        "--set", "checkpoint_minutes=0",
    ]  # fmt: skip
    finish(torchrun("train", *settings, "--out", tmp_path / "whole"))
    killed = torchrun("train", *settings, "--out", tmp_path / "killed", restarts=3)
    while killed.poll() is None and not (tmp_path / "killed" / "last" / "stage-1.previous.ckpt").exists():
        time.sleep(0.005)
    os.kill(worker_of(killed.pid, rank=1), signal.SIGKILL)
    finish(killed)
    assert_same_weights(tmp_path / "killed", tmp_path / "whole")  # the epoch's mean loss is an estimate


def worker_of(launcher: int, rank: int) -> int:
    """The process id of one worker, as the environment of torchrun's children tells it."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
            environment = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if int(parent) == launcher and f"RANK={rank}".encode() in environment:
            return int(folder.name)
    raise AssertionError("the worker is not there")


def test_shares_of_batches_are_the_batches() -> None:
    for length in (1, 15, 16, 17, 33):
        whole = list(SharedBatches(EpochSampler(length, 0, True), 8))
        for world in (2, 3):
            shares = [list(SharedBatches(EpochSampler(length, 0, True), 8, rank, world)) for rank in range(world)]
            assert {len(share) for share in shares} == {len(whole)}  # or one would wait for the others
            for number, batch in enumerate(whole):
                together = [index for share in shares for index in share[number]]
                assert sorted(together) == sorted(batch)
