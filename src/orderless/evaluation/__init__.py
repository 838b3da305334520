"""Every metric and every analysis of the paper, as pure functions on tensors.

Labels travel as bool `[images, labels]`, scores as float `[images, labels]` in [0, 1], cells to ignore as bool
`[images, labels]`, written sequences as int `[images, steps]` padded with -1. Results are fractions, not percent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orderless.evaluation.breakdown import Band, by_frequency, by_label_count, by_object_size
from orderless.evaluation.cooccurrence import (
    cooccurrence_difference,
    cooccurrence_error,
    cooccurrence_error_by_group,
    cooccurrence_matrix,
    matrix_by_group,
)
from orderless.evaluation.penalisation import PenalisationCounts, count_penalised
from orderless.evaluation.ranking import (
    average_precision,
    average_precision_11point,
    best_threshold,
    best_thresholds_per_class,
    top_k_metrics,
    top_k_sets,
)
from orderless.evaluation.sequences import drop_duplicates, duplicate_rate, order_rigidness, sequence_to_set
from orderless.evaluation.sets import SetCounts, count_sets, harmonic_mean, set_metrics
from orderless.evaluation.summary import LOWER_IS_BETTER, METRICS, evaluate
from orderless.evaluation.table import ClassResult, per_class

if TYPE_CHECKING:
    from orderless.evaluation.accumulate import PenalisationRate, TaggingMetrics

__all__ = [
    "LOWER_IS_BETTER",
    "METRICS",
    "Band",
    "ClassResult",
    "PenalisationCounts",
    "PenalisationRate",
    "SetCounts",
    "TaggingMetrics",
    "average_precision",
    "average_precision_11point",
    "best_threshold",
    "best_thresholds_per_class",
    "by_frequency",
    "by_label_count",
    "by_object_size",
    "cooccurrence_difference",
    "cooccurrence_error",
    "cooccurrence_error_by_group",
    "cooccurrence_matrix",
    "count_penalised",
    "count_sets",
    "drop_duplicates",
    "duplicate_rate",
    "evaluate",
    "harmonic_mean",
    "matrix_by_group",
    "order_rigidness",
    "per_class",
    "sequence_to_set",
    "set_metrics",
    "top_k_metrics",
    "top_k_sets",
]


def __getattr__(name: str) -> Any:
    # torchmetrics takes a second to import; the pure functions do without it.
    if name in ("PenalisationRate", "TaggingMetrics"):
        from orderless.evaluation import accumulate

        return getattr(accumulate, name)
    raise AttributeError(f"module 'orderless.evaluation' has no attribute {name!r}")
