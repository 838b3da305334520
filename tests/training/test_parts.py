"""The small parts of training: schedules, averaging, checkpoints."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel

from orderless.config import ModelConfig
from orderless.errors import OrderlessError
from orderless.evaluation import TaggingMetrics
from orderless.methods import HeadName
from orderless.model.network import BUILDERS, build_head
from orderless.training.averaging import MovingAverage, SnapshotAveraging, recompute_batchnorm
from orderless.training.checkpoint import AtomicCheckpoints, intact_checkpoint, previous
from orderless.training.schedules import cosine, is_low_point, sawtooth


def test_sawtooth_falls_a_thousandfold_in_three_iterations() -> None:
    assert [1e-3 * sawtooth(step) for step in range(6)] == pytest.approx([1e-3, 5.005e-4, 1e-6] * 2)
    assert [is_low_point(step) for step in range(6)] == [False, False, True] * 2


def test_cosine_rises_then_falls_to_zero() -> None:
    values = [cosine(step, 100) for step in range(101)]
    assert values[0] == pytest.approx(0.2)
    assert max(values) == values[5] == 1.0
    assert values[-1] == pytest.approx(0.0, abs=1e-9)
    assert all(a >= b for a, b in zip(values[5:], values[6:], strict=False))
    assert math.isfinite(cosine(0, 1))


def test_snapshots_are_taken_at_the_low_points_only() -> None:
    averaging = SnapshotAveraging()
    assert [averaging.should_update(step_idx=step) for step in range(4)] == [False, False, True, False]
    assert not averaging.should_update(epoch_idx=2)


def test_batchnorm_statistics_are_those_of_the_data() -> None:
    layer = nn.Sequential(nn.BatchNorm2d(2))
    layer[0].running_mean.fill_(99.0)
    data = [torch.randn(8, 2, 4, 4) + 3 for _ in range(5)]
    layer.eval()
    recompute_batchnorm(layer, data)
    expected = torch.stack([batch.mean((0, 2, 3)) for batch in data]).mean(0)
    torch.testing.assert_close(layer[0].running_mean, expected)
    assert layer[0].momentum == 0.1
    assert not layer.training


def test_without_a_batch_batchnorm_keeps_its_statistics() -> None:
    layer = nn.Sequential(nn.BatchNorm2d(2))
    layer[0].running_var.fill_(0.25)
    recompute_batchnorm(layer, [])
    assert layer[0].running_var.tolist() == [0.25, 0.25]


@pytest.mark.parametrize("head", BUILDERS)
def test_every_head_judges_a_batch_of_no_images(head: HeadName) -> None:
    """One of several processes may have no readable image, and must have something of the right kind to gather."""
    built = build_head(ModelConfig(head=head, hidden=8, embedding=8, attention_size=8, query_size=16), 12, 5).eval()
    some, none = (built.predict(torch.randn(images, 4, 12)) for images in (2, 0))
    assert none.labels.shape == none.scores.shape == (0, 5)
    assert (none.written is None) == (some.written is None)
    metrics = TaggingMetrics()
    for prediction in (some, none):
        truth = torch.zeros_like(prediction.labels)
        metrics.update(truth, prediction.labels, prediction.scores, prediction.written, ignore=truth)
    assert len(metrics.collected()["truth"]) == 2


def test_a_torn_checkpoint_gives_way_to_the_one_before(tmp_path: Path) -> None:
    file, io = tmp_path / "a.ckpt", AtomicCheckpoints()
    warnings: list[str] = []
    assert intact_checkpoint(file, warnings.append) is None
    io.save_checkpoint({"epoch": 1, "epoch_so_far": {}}, file)
    io.save_checkpoint({"epoch": 2, "epoch_so_far": {}, "weights": torch.arange(5)}, file)
    assert intact_checkpoint(file, warnings.append) == file
    assert io.load_checkpoint(file)["epoch"] == 2
    file.write_bytes(file.read_bytes()[:-7])
    assert not warnings
    good = intact_checkpoint(file, warnings.append)
    assert good == previous(file)
    assert "damaged" in warnings[0]
    assert io.load_checkpoint(good)["epoch"] == 1
    io.save_checkpoint({"epoch": 3, "epoch_so_far": {}}, file)  # the damaged one does not become its predecessor
    assert io.load_checkpoint(previous(file))["epoch"] == 1
    for each in (file, previous(file)):
        each.write_bytes(b"x")
    with pytest.raises(OrderlessError, match="no earlier checkpoint"):
        intact_checkpoint(file, warnings.append)


def test_a_checkpoint_cannot_run_code(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple:
            return (Path(tmp_path / "trapped").touch, ())

    file, io = tmp_path / "a.ckpt", AtomicCheckpoints()
    io.save_checkpoint({"x": Trap()}, file)
    with pytest.raises(Exception, match=r"[Ww]eights"):
        io.load_checkpoint(file)
    assert not (tmp_path / "trapped").exists()


@pytest.mark.parametrize("warm", [True, False])
def test_a_moving_average_keeps_what_does_not_move_and_if_warm_soon_forgets_the_first_steps(warm: bool) -> None:
    model = nn.ModuleList([nn.Linear(1, 1, bias=False), nn.Linear(8, 8), nn.BatchNorm1d(8)])
    moving, still = model[0].weight, model[1].weight.detach().clone()
    average = MovingAverage(warm=warm)
    averaged = AveragedModel(model, use_buffers=True, **average._kwargs)
    expected = 0.0
    for step in range(300):
        with torch.no_grad():
            moving.fill_(float(step))
        assert average.should_update(step_idx=step)
        averaged.update_parameters(model)
        decay = min(0.995, (1 + step) / (10 + step)) if warm else 0.995
        expected = step if step == 0 else decay * expected + (1 - decay) * step
    assert not average.should_update(epoch_idx=1)
    assert averaged.module[0].weight.item() == pytest.approx(expected, rel=1e-4)
    assert torch.equal(averaged.module[1].weight, still)
