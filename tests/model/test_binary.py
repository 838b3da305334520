"""Heads that judge every label on its own: binary, and ranking with a decision module."""

from __future__ import annotations

import pytest
import torch

from orderless.model.binary import BinaryHead
from orderless.model.ranking import RankingHead


@pytest.mark.parametrize("make", [BinaryHead, RankingHead])
def test_the_threshold_decides(make: type[BinaryHead]) -> None:
    torch.manual_seed(0)
    head, features = make(8, 5, hidden_size=6).eval(), torch.randn(4, 9, 8)
    prediction = head.predict(features)
    assert torch.equal(prediction.scores, head(features).sigmoid())
    assert torch.equal(prediction.labels, prediction.scores >= 0.5)
    assert prediction.written is None
    head.threshold.fill_(0.0)
    everything = head.predict(features)
    assert everything.labels.all()
    assert torch.equal(everything.sequence, prediction.scores.argsort(dim=1, descending=True))
    assert everything.attention is not None
    assert torch.allclose(everything.attention.sum(2), torch.ones(4, 5))


def test_a_label_is_predicted_where_its_score_exceeds_its_threshold() -> None:
    torch.manual_seed(0)
    head, features = RankingHead(8, 5).eval(), torch.randn(4, 9, 8)
    scores, thresholds = head.rank(features)
    assert torch.allclose(scores, head.classifier(features.mean(1)))
    assert torch.equal(head.predict(features).labels, scores >= thresholds)


def test_thresholds_teach_neither_features_nor_ranking() -> None:
    head, features = RankingHead(8, 5), torch.randn(4, 9, 8, requires_grad=True)
    _, thresholds = head.rank(features)
    thresholds.sum().backward()
    assert features.grad is None
    assert all(parameter.grad is None for parameter in head.classifier.parameters())
    assert all(parameter.grad is not None for parameter in head.decision.parameters())


def test_the_papers_decision_module() -> None:
    layers = [layer for layer in RankingHead(32, 7).decision if isinstance(layer, torch.nn.Linear)]
    assert [(layer.in_features, layer.out_features) for layer in layers] == [(32, 100), (100, 10), (10, 7)]
