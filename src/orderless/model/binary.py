"""The binary head: every label on its own, by a threshold. Stage one of the paper, and its baseline."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from orderless.model.prediction import Prediction
from orderless.model.threshold import ThresholdedHead, choose


def make_classifier(feature_size: int, n_labels: int, hidden_size: int = 0, dropout: float = 0.0) -> nn.Sequential:
    """[..., C] -> one logit per label; optionally through one hidden layer."""
    layers: list[nn.Module] = []
    if hidden_size:
        layers += [nn.Linear(feature_size, hidden_size), nn.ReLU()]
    return nn.Sequential(*layers, nn.Dropout(dropout), nn.Linear(hidden_size or feature_size, n_labels))


def cell_evidence(classifier: nn.Module, features: Tensor) -> Tensor:
    """Where the evidence for each label lies: the classifier applied to each cell alone.

    features [B, cells, C] -> [B, m, cells], summing to one over the cells.
    """
    logits: Tensor = classifier(features)  # [B, cells, m]
    return logits.softmax(dim=1).transpose(1, 2)


class BinaryHead(ThresholdedHead):
    """Average-pooled features -> one logit per label."""

    def __init__(self, feature_size: int, n_labels: int, hidden_size: int = 0, dropout: float = 0.0) -> None:
        super().__init__()
        self.n_labels = n_labels
        self.classifier = make_classifier(feature_size, n_labels, hidden_size, dropout)

    def forward(self, features: Tensor) -> Tensor:
        """features [B, cells, C] -> logits [B, m]."""
        logits: Tensor = self.classifier(features.mean(dim=1))
        return logits

    @torch.no_grad()
    def predict(self, features: Tensor) -> Prediction:
        """The labels at or above the threshold, written in the order of their scores."""
        scores, evidence = self.judge(features)
        return choose(scores, self.threshold, evidence)

    def judge(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """features [B, cells, C] -> scores [B, m], and where each label would be seen [B, m, cells]."""
        return self(features).sigmoid(), cell_evidence(self.classifier, features)
