"""What an exported file says about itself, in ONNX's `metadata_props`: text under names that begin with `orderless.`

Read without PyTorch, hence written without it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from orderless import __version__
from orderless.errors import UsageError
from orderless.labels import Vocabulary

FORMAT_VERSION = 1  # raised when an older orderless could not use a new file

INPUT = "images"  # uint8 [B, S, S, 3], RGB
OUTPUTS = ("sequence", "labels", "scores", "probabilities", "attention")  # as `results.Outputs`; the last two may lack

_PREFIX = "orderless."
_LARGEST_SIZE = 4096
_INTERPOLATIONS = ("nearest", "bilinear", "bicubic", "lanczos", "box", "hamming")  # Pillow's


@dataclass(frozen=True)
class InputRule:
    """How a photo becomes the graph's input. Normalisation (`mean`, `std`, of values in [0, 1]) is inside the graph."""

    size: int
    mean: tuple[float, ...]
    std: tuple[float, ...]
    interpolation: str
    resize: str = "squeeze"  # the whole image into a square
    pixel_limit: int = 100_000_000


def _checked(rule: InputRule) -> InputRule:
    """A file may come from anybody."""
    if type(rule.size) is not int or not 1 <= rule.size <= _LARGEST_SIZE:
        raise ValueError(f"images of {rule.size!r} pixels")
    if type(rule.pixel_limit) is not int or rule.pixel_limit < 1:
        raise ValueError(f"a limit of {rule.pixel_limit!r} pixels")
    if rule.interpolation not in _INTERPOLATIONS:
        raise ValueError(f"the interpolation {rule.interpolation!r}")
    return rule


@dataclass(frozen=True)
class Metadata:
    """Everything about a model but its graph."""

    vocabulary: Vocabulary
    preprocessing: InputRule
    method: str
    config: dict[str, Any]  # of the run, without the place of its data
    threshold: float | None = None  # of a head that decides by one
    metrics: dict[str, float] = field(default_factory=dict)
    int8: bool = False
    version: str = __version__

    def to_props(self) -> dict[str, str]:
        values = {
            "format": str(FORMAT_VERSION),
            "version": self.version,
            "labels": self.vocabulary.to_json(),
            "preprocessing": json.dumps(vars(self.preprocessing)),
            "method": self.method,
            "threshold": json.dumps(self.threshold),
            "int8": json.dumps(self.int8),
            "config": json.dumps(self.config, ensure_ascii=False),
            "metrics": json.dumps(self.metrics),
        }
        return {_PREFIX + name: text for name, text in values.items()}

    @classmethod
    def from_props(cls, props: Mapping[str, str], source: str) -> Metadata:
        """What `to_props` wrote; anything else is a UsageError."""
        found = {name.removeprefix(_PREFIX): text for name, text in props.items() if name.startswith(_PREFIX)}
        if "format" not in found:
            raise UsageError(
                f"{source} was not written by orderless export: it says nothing of labels or preprocessing"
            )
        if found["format"].isdecimal() and int(found["format"]) > FORMAT_VERSION:
            raise UsageError(f"{source} was written by a newer orderless (format {found['format']}); upgrade orderless")
        try:
            rule = json.loads(found["preprocessing"])
            return cls(
                vocabulary=Vocabulary.from_json(found["labels"]),
                preprocessing=_checked(InputRule(**{**rule, "mean": tuple(rule["mean"]), "std": tuple(rule["std"])})),
                method=found["method"],
                config=json.loads(found["config"]),
                threshold=json.loads(found["threshold"]),
                metrics=json.loads(found["metrics"]),
                int8=json.loads(found["int8"]),
                version=found["version"],
            )
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError, UsageError) as error:
            raise UsageError(f"{source} has damaged metadata ({error}); export the run again") from None
