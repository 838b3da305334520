import time

import numpy as np
import pytest
import torch
from hypothesis import given
from sklearn import metrics as sk

from orderless.evaluation import (
    LOWER_IS_BETTER,
    METRICS,
    average_precision,
    best_threshold,
    count_sets,
    evaluate,
    set_metrics,
)
from orderless.evaluation.summary import SET_METRICS

from .cases import LABEL_SETS, Case, cases, thorough


@given(cases())
@thorough
def test_every_metric_in_the_documented_order(case: Case):
    results = evaluate(*case)
    assert tuple(results) == METRICS
    assert all(type(value) is float for value in results.values())
    assert all(0 <= value <= 1 for name, value in results.items() if name != "cooccurrence-error")
    assert tuple(evaluate(case.truth, case.predicted)) == SET_METRICS
    assert set(METRICS) > LOWER_IS_BETTER


@given(cases())
@thorough
def test_perfect_predictions_are_perfect(case: Case):
    truth = case.truth[case.truth.any(1)][:, case.truth.any(0)]
    if truth.numel() == 0:
        return
    results = evaluate(truth, truth, truth.float())
    for name in ("CF1", "OF1", "macro-F1", "example-F1", "example-accuracy", "mAP", "mAP-11point", "subset-accuracy"):
        assert results[name] == 1.0
    for name in ("hamming-loss", "cooccurrence-error"):
        assert results[name] == 0.0


def test_refuses_what_does_not_fit_together():
    truth = torch.zeros(2, 3).bool()
    with pytest.raises(ValueError, match="there are 4 sequences but 2 images"):
        evaluate(truth, truth, sequences=torch.zeros(4, 1, dtype=torch.long))
    with pytest.raises(ValueError, match="predicted has the shape"):
        evaluate(truth, truth[:1])


def true_labels(name: str, split: str) -> torch.Tensor:
    path = LABEL_SETS / name
    if not path.exists():
        pytest.skip(f"no label set {name} beside the project")
    with np.load(path) as arrays:
        return torch.from_numpy(arrays[split]).bool()


def imitate(truth: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Scores of a plausible model for these labels, and its written sequences (best score first, some repeats)."""
    rng = torch.Generator().manual_seed(0)
    logits = 3 * truth - 2.5 + 1.2 * torch.randn(truth.shape, generator=rng)
    scores = logits.sigmoid()
    ordered, order = scores.sort(dim=1, descending=True)
    sequences = order.where(ordered >= 0.5, -1)
    repeated = torch.rand(len(truth), generator=rng) < 0.2
    twice = repeated & (sequences[:, 1] >= 0)
    sequences[twice, 1] = sequences[twice, 0]
    return scores, sequences[:, :20]


@pytest.mark.parametrize(
    ("name", "split", "images"),
    [("mscoco80.npz", "test", 40137), ("nuswide81.npz", "test", 59347), ("pa100k26.npz", "all", 100000)],
)
def test_true_scale(name: str, split: str, images: int):
    known = true_labels(name, split)
    truth = known.repeat(-(-images // len(known)), 1)[:images]
    scores, sequences = imitate(truth)
    predicted = scores >= 0.5
    start = time.perf_counter()
    results = evaluate(truth, predicted, scores, sequences)
    seconds = time.perf_counter() - start
    assert seconds < 10  # about one on an idle core
    some = range(0, truth.shape[1], 16)  # scikit-learn needs a while for them all
    t, p = truth.numpy(), predicted.numpy()
    assert results["OF1"] == pytest.approx(sk.f1_score(t.ravel(), p.ravel()))
    for column, ours in zip(some, average_precision(scores[:, some], truth[:, some]).tolist(), strict=True):
        if t[:, column].any():
            assert ours == pytest.approx(sk.average_precision_score(t[:, column], scores[:, column].numpy()))
    assert 0 < results["duplicate-rate"] < 0.2

    def cf1(threshold: float) -> float:
        return set_metrics(count_sets(truth, scores >= threshold))["CF1"]

    best = cf1(best_threshold(scores, truth, "CF1"))
    assert all(best >= cf1(threshold) for threshold in (0.4, 0.5, 0.6))
