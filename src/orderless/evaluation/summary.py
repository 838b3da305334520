"""All headline numbers of an evaluation, by name."""

from __future__ import annotations

from torch import Tensor

from orderless.evaluation.checks import check_labels, check_sequences
from orderless.evaluation.cooccurrence import cooccurrence_error
from orderless.evaluation.ranking import ranking_metrics
from orderless.evaluation.sequences import duplicate_rate, order_rigidness
from orderless.evaluation.sets import count_sets, set_metrics

SET_METRICS = (
    "CP",
    "CR",
    "CF1",
    "OP",
    "OR",
    "OF1",
    "macro-F1",
    "example-accuracy",
    "example-precision",
    "example-recall",
    "example-F1",
    "mA",
    "hamming-loss",
    "subset-accuracy",
    "cooccurrence-error",
)
SCORE_METRICS = (
    "mAP",
    "mAP-11point",
    "top3-CP",
    "top3-CR",
    "top3-CF1",
    "top3-OP",
    "top3-OR",
    "top3-OF1",
)
SEQUENCE_METRICS = ("duplicate-rate", "order-rigidness")

METRICS = SET_METRICS + SCORE_METRICS + SEQUENCE_METRICS
LOWER_IS_BETTER = frozenset({"hamming-loss", "cooccurrence-error", "duplicate-rate"})


def evaluate(
    truth: Tensor,
    predicted: Tensor,
    scores: Tensor | None = None,
    sequences: Tensor | None = None,
    ignore: Tensor | None = None,
) -> dict[str, float]:
    """Every headline metric that the inputs allow, as fractions, in the order of `METRICS`.

    truth:      bool `[images, labels]`
    predicted:  bool `[images, labels]`, the sets the model chose
    scores:     float `[images, labels]` in [0, 1]; without them there are no `SCORE_METRICS`
    sequences:  int `[images, steps]`, label indices as written, repeats included, then -1; without them there
                are no `SEQUENCE_METRICS`
    ignore:     bool `[images, labels]`, cells to leave out of every metric of sets and scores
    """
    check_labels(truth, predicted, ignore)
    # One device and double precision for all: not every accelerator has the latter.
    truth, predicted = truth.cpu(), predicted.cpu()
    ignore = None if ignore is None else ignore.cpu()
    results = set_metrics(count_sets(truth, predicted, ignore))
    results["cooccurrence-error"] = cooccurrence_error(predicted, truth, ignore)
    if scores is not None:
        results |= ranking_metrics(scores.cpu(), truth, ignore)
    if sequences is not None:
        images, labels = truth.shape
        check_sequences(sequences, labels, images)
        results["duplicate-rate"] = duplicate_rate(sequences.cpu())
        results["order-rigidness"] = order_rigidness(sequences.cpu(), labels).value
    return results
