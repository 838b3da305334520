"""The encoder in 8-bit integers: a smaller file, at a cost in accuracy that is measured and told.

Static quantisation: photos of the training split show the range of every activation. Convolutions are rounded, with
what stands between them; from the last one on all stays in floats, because the head is small and its decisions build on
one another. Weights have a scale per output channel and 7 bits, since processors without VNNI instructions add pairs
of 8-bit products in 16 bits.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from PIL import Image

from orderless.errors import UnreadableImage, UsageError
from orderless.evaluation.accumulate import TaggingMetrics
from orderless.export.metadata import INPUT
from orderless.export.photos import Photos
from orderless.onnx_tagger import OnnxTagger

if TYPE_CHECKING:
    import onnx

_BATCH = 16
_TURNS = 5


@dataclass(frozen=True)
class Cost:
    """What rounding costs and brings; F1 is None if the labelled photos are gone."""

    photos: int
    f1: dict[str, tuple[float, float]]  # OF1 and CF1, before and after
    size: float  # ratio of the files
    speed: float  # ratio of the times, one image at a time: how many times faster


def quantise(content: bytes, photos: Sequence[Image.Image]) -> onnx.ModelProto:
    """The model with its convolutions in int8."""
    import onnx
    from onnxruntime.quantization import (
        CalibrationDataReader,
        CalibrationMethod,
        QuantFormat,
        QuantType,
        quantize_static,
    )
    from onnxruntime.quantization.shape_inference import quant_pre_process

    tagger = OnnxTagger(content)

    class Reader(CalibrationDataReader):  # type: ignore[misc]
        def __init__(self) -> None:
            self.images = iter(photos)

        def get_next(self) -> dict[str, Any] | None:
            image = next(self.images, None)
            return None if image is None else {INPUT: tagger.resized(image)[None]}

    with tempfile.TemporaryDirectory() as folder:
        whole, ready, rounded = (Path(folder) / name for name in ("whole.onnx", "ready.onnx", "int8.onnx"))
        whole.write_bytes(content)
        quant_pre_process(whole, ready, skip_symbolic_shape=True)
        quantize_static(
            ready,
            rounded,
            Reader(),
            quant_format=QuantFormat.QDQ,
            op_types_to_quantize=["Conv", "Clip", "Relu", "Add"],
            nodes_to_exclude=_from_last_convolution(ready),
            per_channel=True,
            reduce_range=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            calibrate_method=CalibrationMethod.MinMax,
        )
        return onnx.load(rounded)


def _from_last_convolution(file: Path) -> list[str]:
    """Names of the nodes that stay in floats: the last convolution, so that features are exact, and all after it."""
    import onnx

    nodes = onnx.load(file).graph.node  # in the order of computation
    convolutions = [place for place, node in enumerate(nodes) if node.op_type == "Conv"]
    if len(convolutions) < 2:
        raise UsageError("--int8 rounds convolutions, and this run's encoder has none to speak of")
    return [node.name for node in nodes[convolutions[-1] :]]


def measure_cost(before: bytes, after: bytes, photos: Photos) -> Cost:
    """Both files on the validation split, and on one image in turns."""
    taggers = OnnxTagger(before), OnnxTagger(after)
    judged = [_f1(tagger, photos) for tagger in taggers] if photos.labelled else []
    scores = [metrics for metrics, count in judged if count]
    pixels = [taggers[0].resized(photos.checked[0])]
    seconds = [float("inf"), float("inf")]
    for _ in range(_TURNS):
        for side, tagger in enumerate(taggers):
            start = time.perf_counter()
            tagger.run(pixels)
            seconds[side] = min(seconds[side], time.perf_counter() - start)
    return Cost(
        photos=judged[0][1] if judged else 0,
        f1={name: (scores[0][name], scores[1][name]) for name in ("OF1", "CF1")} if scores else {},
        size=len(after) / len(before),
        speed=seconds[0] / seconds[1],
    )


def _f1(tagger: OnnxTagger, photos: Photos) -> tuple[dict[str, float], int]:
    """Metrics, and of how many photos."""
    metrics, count = TaggingMetrics(), 0
    for start in range(0, len(photos.labelled), _BATCH):
        pixels, samples = [], []
        for sample in photos.labelled[start : start + _BATCH]:
            with suppress(UnreadableImage):  # as in training, it is left out
                pixels.append(tagger.resized(sample.load(tagger.preprocessing.size, tagger.preprocessing.pixel_limit)))
                samples.append(sample)
        if not samples:
            continue
        outputs = tagger.run(pixels)
        truth = np.zeros((len(samples), len(tagger.vocabulary)), bool)
        for row, sample in enumerate(samples):
            truth[row, tagger.vocabulary.indices(sample.labels, ignore_unknown=True)] = True
        metrics.update(
            torch.from_numpy(truth), torch.from_numpy(outputs.labels), torch.from_numpy(outputs.scores), None
        )
        count += len(samples)
    return (metrics.compute() if count else {}), count
