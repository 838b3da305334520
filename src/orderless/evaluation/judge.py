"""Predict every batch and judge the whole: the one path from batches to final metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from orderless.data.dataset import Batch
from orderless.errors import OrderlessError
from orderless.evaluation.accumulate import TaggingMetrics
from orderless.model.prediction import Prediction


@dataclass
class Judgement:
    """Metrics over the images that could be read, and those that could not."""

    metrics: dict[str, float]
    images: int
    unreadable: dict[int, str]  # index in the split -> reason


@torch.inference_mode()
def judge(predict: Callable[[Tensor], Prediction], batches: Iterable[Batch]) -> Judgement:
    """Run `predict` on the inputs of every batch and evaluate its sets against the batch's labels."""
    metrics = TaggingMetrics()
    unreadable: dict[int, str] = {}
    images = 0
    for batch in batches:
        unreadable.update(batch.unreadable)
        if not len(batch.inputs):
            continue
        prediction = predict(batch.inputs).to("cpu")
        metrics.update(batch.labels, prediction.labels, prediction.scores, prediction.written, ignore=batch.ignore)
        images += len(batch.inputs)
    if not images:
        raise OrderlessError("there is nothing to judge: not one image could be read")
    return Judgement(metrics.compute(), images, unreadable)
