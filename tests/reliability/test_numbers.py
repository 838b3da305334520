"""Losses that are no numbers, and data of the oddest shapes: training goes on, or says why not."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

import orderless.training.run as training
from orderless.errors import OrderlessError
from orderless.run_folder import RunFolder
from orderless.training.history import read_rows
from orderless.training.run import train
from training.test_run import Listener, tiny

Objective = Callable[..., torch.Tensor]


def spoil(monkeypatch: pytest.MonkeyPatch, bad: Callable[[int], float | None]) -> None:
    """Multiply the loss of some steps; they are counted from zero."""
    make = training.make_objective

    def spoiled(*arguments: Any) -> Objective:
        objective, calls = make(*arguments), iter(range(10**6))

        def call(*inputs: Any) -> torch.Tensor:
            factor = bad(next(calls))
            return objective(*inputs) * (1.0 if factor is None else factor)

        return call

    monkeypatch.setattr(training, "make_objective", spoiled)


@pytest.mark.parametrize("factor", [math.nan, math.inf, 1e30])  # the last: a finite loss with a gradient that is not
@pytest.mark.parametrize("optimizer", ["adamw", "sgd"])
def test_a_bad_step_is_skipped_counted_and_named(
    factor: float, optimizer: str, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The very first step, where an optimizer has no state yet, and one in the middle."""
    spoil(monkeypatch, lambda step: factor if step in (0, 6) else None)
    listener, run = Listener(), RunFolder(tmp_path / "run")
    config = tiny(photos, "pla", epochs=2, optimizer=optimizer, gradient_clip=0.0 if factor == 1e30 else 5.0)
    if factor == 1e30:  # which has to overflow on its way back
        spoil(monkeypatch, lambda step: 1e38 if step in (0, 6) else None)
    metrics = train(config, run, watcher=listener)
    assert metrics["skipped"] == 2
    assert [row["skipped"] for row in read_rows(run.metrics_csv)] == [1, 1]
    assert all(math.isfinite(float(row["loss"])) for row in read_rows(run.metrics_csv))
    bad = [text for text in listener.warnings if "was skipped" in text]
    assert [text.split()[1] for text in bad] == ["0", "6"]
    assert "train-000" in bad[0]
    assert "and 8 more" in bad[0]  # of 16 images
    assert all(tensor.isfinite().all() for tensor in load_file(run.weights_file).values())


def test_skipping_is_as_if_the_step_had_not_been(photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The weights after a training whose every step is skipped, if few enough, are those it began with."""
    spoil(monkeypatch, lambda step: math.nan)
    config = tiny(photos, "bce", epochs=1, average="none")
    before: dict[str, torch.Tensor] = {}
    build = training.build_head

    def remembered(*arguments: Any) -> torch.nn.Module:
        head = build(*arguments)
        before.update({key: value.clone() for key, value in head.state_dict().items()})
        return head

    monkeypatch.setattr(training, "build_head", remembered)
    train(config, RunFolder(tmp_path / "run"))
    after = load_file(tmp_path / "run" / "last" / "stage-0.safetensors")
    assert all(torch.equal(after[f"head.{key}"], value) for key, value in before.items())


def test_too_many_in_a_row_end_at_a_good_checkpoint(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config, run, listener = tiny(photos, "pla", epochs=6), RunFolder(tmp_path / "run"), Listener()
    with monkeypatch.context() as patch:
        spoil(patch, lambda step: math.nan if step >= 7 else None)
        with pytest.raises(OrderlessError, match="not finite for 10 steps in a row"):
            train(config, run, watcher=listener)
    assert len(listener.warnings) == 10
    checkpoint = torch.load(run.last / "stage-0.ckpt", weights_only=True)
    assert all(value.isfinite().all() for value in checkpoint["state_dict"].values())
    train(config, run, resume=True)  # once the cause is gone
    assert all(tensor.isfinite().all() for tensor in load_file(run.weights_file).values())


@pytest.mark.parametrize("method", ["bce", "pla", "mla", "asl"])
@pytest.mark.parametrize(
    ("labels", "batch_size"),
    [
        (["cat"] * 8, 4),
        (["cat", "", "", "dog|cat", "", "", "dog", ""], 4),
        (["cat", "dog", "cat", "dog", "cat", "dog", "cat", "dog|cat"], 3),
        (["cat", "dog|cat", "cat", "dog", "cat", "dog", "cat", "dog"], 1),
        (["cat", "dog|cat", "cat", "dog", "cat", "dog", "cat", "dog"], 500),
    ],
    ids=["one label", "images without labels", "a class without positives", "a batch of one", "an epoch below a batch"],
)
def test_odd_data_trains(labels: list[str], batch_size: int, method: str, photos: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    data.mkdir()
    names = ["cat"] if set(labels) == {"cat"} else ["cat", "dog", "owl"]  # nobody has an owl
    lines = [f"file_name,split,{','.join(names)}"]
    for number, text in enumerate(labels):
        shutil.copy(photos / "images" / f"train-0000{number}.jpg", data / f"{number}.jpg")
        marks = ",".join(str(int(name in text.split("|"))) for name in names)
        lines.append(f"{number}.jpg,{'val' if number == 7 else 'train'},{marks}")
    (data / "metadata.csv").write_text("\n".join(lines) + "\n")
    run = RunFolder(tmp_path / "run")
    metrics = train(tiny(data, method, batch_size=batch_size, epochs=1), run)
    assert metrics["val"]["images"] == 1
    assert len(run.vocabulary()) == len(names)
    assert math.isfinite(float(read_rows(run.metrics_csv)[-1]["loss"]))
