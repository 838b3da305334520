"""Every metric and every analysis of the paper, as pure functions on tensors.

Labels travel as bool `[images, labels]`, scores as float `[images, labels]` in [0, 1], cells to ignore as bool
`[images, labels]`, written sequences as int `[images, steps]` padded with -1. Results are fractions, not percent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orderless.evaluation.summary import LOWER_IS_BETTER, METRICS, evaluate

if TYPE_CHECKING:
    from orderless.evaluation.accumulate import TaggingMetrics

__all__ = ["LOWER_IS_BETTER", "METRICS", "TaggingMetrics", "evaluate"]


def __getattr__(name: str) -> Any:
    # torchmetrics takes a second to import; the pure functions do without it.
    if name == "TaggingMetrics":
        from orderless.evaluation.accumulate import TaggingMetrics

        return TaggingMetrics
    raise AttributeError(f"module 'orderless.evaluation' has no attribute {name!r}")
