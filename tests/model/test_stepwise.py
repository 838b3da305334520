"""The order-free decoder against a plain loop over one image."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from orderless.model.stepwise import StepwiseDecoder, highest_thresholds


def make(attention_size: int = 7, **settings: int) -> StepwiseDecoder:
    torch.manual_seed(0)
    head = StepwiseDecoder(8, 6, hidden_size=12, embedding_size=5, attention_size=attention_size, **settings).eval()
    head.output.weight.data *= 40  # decided enough for sequences of different lengths
    head.output.bias.data += 0.3
    return head


def plain(head: StepwiseDecoder, features: Tensor, threshold: float) -> tuple[list[int], dict[int, float]]:
    """The definition for one image [1, cells, C]: labels in their order, and the score of every label."""
    _, logits = head(features, head.max_steps)
    pool, written, scores = set(range(head.n_labels)), [], {}
    for p in logits[0].sigmoid().tolist():
        scores |= {label: p[label] for label in pool}
        best = max(pool, key=lambda label: p[label])
        if p[best] < threshold:
            break
        written.append(best)
        pool.remove(best)
    return written, scores


@pytest.mark.parametrize("attention_size", [0, 7])
@pytest.mark.parametrize("threshold", [0.5, 0.6])
def test_greedy_over_the_candidates(attention_size: int, threshold: float) -> None:
    head, features = make(attention_size, max_steps=6), 3 * torch.randn(12, 9, 8)
    head.threshold.fill_(threshold)
    prediction = head.predict(features)
    lengths = set()
    for image in range(12):
        written, scores = plain(head, features[image : image + 1], threshold)
        assert [label for label in prediction.sequence[image].tolist() if label >= 0] == written
        assert prediction.scores[image].tolist() == pytest.approx([scores[label] for label in range(6)], abs=1e-5)
        lengths.add(len(written))
    assert len(lengths) > 1, "the case should have sequences of different lengths"
    assert torch.equal(prediction.labels, prediction.scores >= threshold)
    assert (prediction.attention is None) == (attention_size == 0)


def test_a_threshold_of_zero_writes_every_label_once() -> None:
    head = make()
    head.threshold.fill_(0.0)
    prediction = head.predict(torch.randn(5, 9, 8))
    assert prediction.written is not None
    assert prediction.written.shape == (5, 7)  # the last step finds the pool empty
    assert torch.equal(prediction.written[:, :6].sort(1).values, torch.arange(6).expand(5, 6))


def test_the_step_limit_ends_what_does_not_stop() -> None:
    head = make(max_steps=2)
    head.threshold.fill_(0.0)
    prediction = head.predict(torch.randn(3, 9, 8))
    assert prediction.labels.sum(1).tolist() == [2, 2, 2]


def test_the_first_step_reads_the_cnns_prediction() -> None:
    head, features = make(), torch.randn(2, 9, 8)
    class_logits, logits = head(features, 1)
    _, state, projected = head._begin(features)
    assert torch.equal(class_logits, head.classifier(features.mean(1)))
    torch.testing.assert_close(logits[:, 0], head._step(class_logits.sigmoid(), state, features, projected)[0])


def test_probabilities_are_those_of_the_candidates() -> None:
    head = make()
    prediction = head.predict(torch.randn(4, 9, 8))
    assert prediction.probabilities is not None
    for row, steps in zip(prediction.sequence.tolist(), prediction.probabilities.tolist(), strict=True):
        for step, label in enumerate(row):
            if label < 0:
                break
            assert steps[step][label] == max(steps[step][:-1])
            assert steps[step][-1] == pytest.approx(1 - steps[step][label], abs=1e-6)
            assert all(later[label] == 0 for later in steps[step + 1 :])


@pytest.mark.parametrize("max_steps", [3, 6])
def test_the_highest_threshold_at_which_a_label_is_written(max_steps: int) -> None:
    head, features = make(max_steps=max_steps), 3 * torch.randn(12, 9, 8)
    head.threshold.fill_(0.0)
    highest = highest_thresholds(head.predict(features))
    for threshold in (*highest.unique().tolist(), 0.3, 0.5, 0.7):
        if threshold > 0:
            head.threshold.fill_(threshold)
            assert torch.equal(head.predict(features).labels, highest >= head.threshold)
