"""The final judgement of a trained model, on validation and test."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from torch import Tensor

from orderless.evaluation.judge import Judgement, judge
from orderless.model.network import TaggingModel
from orderless.model.prediction import Prediction
from orderless.model.stepwise import StepwiseDecoder, highest_thresholds
from orderless.model.threshold import DEFAULT_THRESHOLD, ThresholdedHead
from orderless.run_folder import RunFolder
from orderless.training.data import TrainingData
from orderless.training.features import stored_part
from orderless.training.history import read_rows
from orderless.training.penalisation import read_penalisation


def final_metrics(model: TaggingModel, data: TrainingData, run: RunFolder) -> dict[str, Any]:
    """Metrics of the finished model on validation and test, fractions in [0, 1].

    A head with a threshold is judged at 0.5, and on test (on validation, if that is all there is) also at the
    threshold that was best for OF1 on validation ("threshold", "test-tuned"); it keeps that one if the configuration
    says so.
    """
    config = data.config
    model.to(data.device).eval()
    results: dict[str, Any] = {"method": config.method, "seed": config.seed}
    judged: dict[str, Judgement] = {name: _judge(model, data, name) for name in ("val", "test") if name in data.splits}
    results |= {name: _summary(data, name, judgement) for name, judgement in judged.items()}
    if isinstance(model.head, ThresholdedHead):
        results["threshold"] = _best_threshold(model, data, judged["val"])
        model.head.threshold.fill_(results["threshold"])
        split = "test" if "test" in judged else "val"
        judged[f"{split}-tuned"] = _judge(model, data, split)
        results[f"{split}-tuned"] = _summary(data, split, judged[f"{split}-tuned"])
        if config.threshold == "fixed":
            model.head.threshold.fill_(DEFAULT_THRESHOLD)
    if run.penalisation_file.exists():
        results["penalisation"] = read_penalisation(run.penalisation_file, data.vocabulary)
    results["unreadable"] = data.unreadable
    results["skipped"] = sum(int(row.get("skipped") or 0) for row in read_rows(run.metrics_csv))  # batches
    run.save_predictions({name: judgement.predictions for name, judgement in judged.items()})
    return results


def _best_threshold(model: TaggingModel, data: TrainingData, judged: Judgement) -> float:
    """For OF1 on validation."""
    if not isinstance(model.head, StepwiseDecoder):
        return judged.best_threshold
    model.head.threshold.fill_(0.0)  # at which it writes all that it would at any other
    return _judge(
        model, data, "val", lambda written: replace(written, scores=highest_thresholds(written))
    ).best_threshold


def _judge(
    model: TaggingModel,
    data: TrainingData,
    name: str,
    change: Callable[[Prediction], Prediction] = lambda prediction: prediction,
) -> Judgement:
    stage = data.config.stages[-1]
    predict: Callable[[Tensor], Prediction] = model.predict
    if stage.cache:
        predict = model.predict_trunk if stored_part(model.encoder, stage) == "trunk" else model.predict_features
    loader = data.loader(name, stage, training=False, shared=False)
    judged = judge(lambda inputs: change(predict(inputs.to(data.device))), loader)
    data.name_unreadable(name, judged.unreadable)
    return judged


def _summary(data: TrainingData, name: str, judged: Judgement) -> dict[str, Any]:
    left_out = len(data.splits[name].samples) - judged.images
    return {"images": judged.images, "unreadable": left_out, **judged.metrics}
