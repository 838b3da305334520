"""Weight averaging: one average per trained model, one count, batch-norm statistics of the average's own."""

from __future__ import annotations

import orderless.torchvision_ops  # noqa: F401  must come before Lightning

from collections.abc import Iterable  # isort: skip
from itertools import chain, islice
from typing import Any

import torch
from lightning.pytorch.callbacks import WeightAveraging
from torch import Tensor, nn

from orderless.training.schedules import is_low_point

EMA_DECAY = 0.995  # an average over the last few hundred steps: short trainings are common here
BATCHNORM_BATCHES = 100  # enough for the statistics of any layer, a fraction of an epoch


class SnapshotAveraging(WeightAveraging):
    """Stochastic weight averaging: the plain mean of the snapshots taken at the saw-tooth's low points."""

    def __init__(self) -> None:
        # Averaged statistics of batch normalisation belong to no model: they are recomputed instead.
        super().__init__(use_buffers=False)

    def should_update(self, step_idx: int | None = None, epoch_idx: int | None = None) -> bool:
        return step_idx is not None and is_low_point(step_idx)


class MovingAverage(WeightAveraging):
    """An exponential moving average; what does not learn stays as it is to the last bit.

    A warm one begins short and grows: a plain one would still hold half of the first weights after 140 steps.
    """

    def __init__(self, *, warm: bool) -> None:
        super().__init__(multi_avg_fn=self._move)
        self.warm, self.step = warm, 0

    def should_update(self, step_idx: int | None = None, epoch_idx: int | None = None) -> bool:
        self.step = step_idx or 0
        return step_idx is not None

    def _move(self, averages: Any, weights: Any, _: Any) -> None:
        decay = min(EMA_DECAY, (1 + self.step) / (10 + self.step)) if self.warm else EMA_DECAY
        if averages[0].is_floating_point():
            torch._foreach_lerp_(averages, weights, 1 - decay)
        else:  # counters of batch normalisation
            torch._foreach_copy_(averages, weights)


def make_averaging(kind: str) -> WeightAveraging | None:
    if kind == "swa":
        return SnapshotAveraging()
    if kind in ("ema", "warm-ema"):
        return MovingAverage(warm=kind == "warm-ema")
    return None


@torch.no_grad()
def recompute_batchnorm(encoder: nn.Module, batches: Iterable[Tensor]) -> None:
    """Give averaged weights batch-norm statistics that fit them: the mean over some training batches."""
    layers = [m for m in encoder.modules() if isinstance(m, nn.modules.batchnorm._BatchNorm)]
    some = iter(islice(batches, BATCHNORM_BATCHES)) if layers else iter(())
    first = next(some, None)
    if first is None:  # nothing to learn statistics from
        return
    was_training, momenta = encoder.training, [layer.momentum for layer in layers]
    for layer in layers:
        layer.reset_running_stats()
        layer.momentum = None  # a cumulative mean
    encoder.train()
    for images in chain((first,), some):
        encoder(images)
    for layer, momentum in zip(layers, momenta, strict=True):
        layer.momentum = momentum
    encoder.train(was_training)
