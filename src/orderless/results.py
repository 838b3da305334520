"""What a tagger says about an image, whatever computed it: PyTorch or ONNX Runtime. Plain NumPy, no PyTorch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from orderless.errors import UsageError

ImageSource = str | Path | bytes | BinaryIO | Image.Image

RUNNERS_UP = 3


@dataclass(frozen=True)
class Tag:
    """One label of an image."""

    label: str
    score: float  # in [0, 1]
    region: NDArray[np.float32] | None = field(default=None, compare=False)  # [rows, columns], sums to one


@dataclass(frozen=True)
class Step:
    """One step of the decoder: what it wrote (None: the end) and what else it considered."""

    label: str | None
    probability: float
    runners_up: tuple[tuple[str | None, float], ...]
    region: NDArray[np.float32] | None = field(default=None, compare=False)  # [rows, columns], sums to one


@dataclass(frozen=True)
class Result:
    """What the tagger says about one image; `error` is set, and everything else empty, if it cannot be read."""

    name: str
    tags: tuple[Tag, ...] = ()
    scores: dict[str, float] = field(default_factory=dict)  # of every label of the vocabulary
    steps: tuple[Step, ...] = ()  # of a sequence model, duplicates and the end included
    error: str | None = None

    @property
    def labels(self) -> list[str]:
        return [tag.label for tag in self.tags]


def check_many(images: Iterable[str | Path], batch_size: int, workers: int) -> Iterator[str | Path]:
    """What `predict_many` was given, one by one."""
    if isinstance(images, str | bytes | Path):
        raise TypeError("predict_many wants several files, say a list of paths; predict tags one")
    if batch_size < 1 or workers < 0:
        raise UsageError(f"batch_size is at least 1 and workers at least 0, not {batch_size} and {workers}")
    return iter(images)


class Outputs(NamedTuple):
    """A model's answer for a batch, as `model.prediction.Prediction` defines it, in arrays."""

    sequence: NDArray[np.int64]  # [B, T] label indices as written, -1 after the end
    labels: NDArray[np.bool_]  # [B, m]
    scores: NDArray[np.float32]  # [B, m]
    probabilities: NDArray[np.float32] | None = None  # [B, T, m + 1], end token last
    attention: NDArray[np.float32] | None = None  # [B, T, cells]


def make_results(outputs: Outputs, names: Sequence[str], labels: Sequence[str]) -> list[Result]:
    """One result per image; `names` are those of the images, `labels` those of the vocabulary."""
    return [_result(outputs, row, name, labels) for row, name in enumerate(names)]


def grid_shape(cells: int) -> tuple[int, int]:
    """Rows and columns of a feature map of a square image."""
    side = round(cells**0.5)
    return (side, side) if side * side == cells else (1, cells)


def _result(outputs: Outputs, row: int, name: str, labels: Sequence[str]) -> Result:
    scores = outputs.scores[row].tolist()
    sequence = outputs.sequence[row].tolist()
    regions = _regions(outputs, row)
    tags: dict[int, Tag] = {}  # keeps the first of every label: duplicates are dropped
    for label, region in zip(sequence, regions, strict=True):
        if label >= 0 and label not in tags:
            tags[label] = Tag(labels[label], scores[label], region)
    steps: tuple[Step, ...] = ()
    if outputs.probabilities is not None:
        steps = _steps(sequence, outputs.probabilities[row], regions, labels)
    return Result(name, tuple(tags.values()), dict(zip(labels, scores, strict=True)), steps)


def _steps(
    sequence: list[int],
    probabilities: NDArray[np.float32],
    regions: Sequence[NDArray[np.float32] | None],
    labels: Sequence[str],
) -> tuple[Step, ...]:
    """The steps of a sequence [T] with its probabilities [T, m + 1], up to its end."""
    tokens: list[str | None] = [*labels, None]  # the end has index m, or -1 in a sequence
    likeliest = np.argsort(-probabilities, axis=1, kind="stable")[:, : RUNNERS_UP + 1]  # [T, 4]
    tops = np.take_along_axis(probabilities, likeliest, axis=1).tolist()
    chosen = probabilities[np.arange(len(sequence)), sequence].tolist()
    steps = []
    for written, own, places, top, region in zip(sequence, chosen, likeliest.tolist(), tops, regions, strict=True):
        others = [(tokens[i], p) for i, p in zip(places, top, strict=True) if i != written % len(tokens)]
        steps.append(Step(tokens[written], own, tuple(others[:RUNNERS_UP]), region))
        if written < 0:
            break
    return tuple(steps)


def _regions(outputs: Outputs, row: int) -> Sequence[NDArray[np.float32] | None]:
    """Where the model looked at each step."""
    if outputs.attention is None:
        return [None] * outputs.sequence.shape[1]
    steps, cells = outputs.attention[row].shape
    return list(outputs.attention[row].reshape(steps, *grid_shape(cells)))
