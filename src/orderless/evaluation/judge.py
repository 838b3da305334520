"""Predict every batch and judge the whole: the one path from batches to final metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import torch
from torch import Tensor

from orderless.data.dataset import Batch
from orderless.errors import OrderlessError
from orderless.evaluation.accumulate import TaggingMetrics
from orderless.evaluation.ranking import best_threshold
from orderless.model.prediction import Prediction


@dataclass
class Judgement:
    """Metrics over the images that could be read, and those that could not."""

    metrics: dict[str, float]
    images: int
    unreadable: dict[int, str]  # index in the split -> reason
    best_threshold: float  # on the scores, for OF1: with hindsight, unless it is used on another split
    predictions: dict[str, Tensor]  # all that was judged, by the names of `evaluate`, and the `index` in the split


@torch.inference_mode()
def judge(predict: Callable[[Tensor], Prediction], batches: Iterable[Batch]) -> Judgement:
    """Run `predict` on the inputs of every batch and evaluate its sets against the batch's labels."""
    metrics = TaggingMetrics(sync_on_compute=False)  # other processes may train, but do not judge
    unreadable: dict[int, str] = {}
    index: list[Tensor] = []
    for batch in batches:
        unreadable.update(batch.unreadable)
        if not len(batch.inputs):
            continue
        prediction = predict(batch.inputs).to("cpu")
        metrics.update(batch.labels, prediction.labels, prediction.scores, prediction.written, ignore=batch.ignore)
        index.append(batch.rows)
    if not index:
        raise OrderlessError("there is nothing to judge: not one image could be read")
    predictions = metrics.collected() | {"index": torch.cat(index)}
    threshold = best_threshold(predictions["scores"], predictions["truth"], "OF1", predictions["ignore"])
    return Judgement(metrics.compute(), len(predictions["index"]), unreadable, threshold, predictions)
