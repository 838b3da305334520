"""The binary head: every label on its own, by a threshold. Stage one of the paper, and its baseline."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from orderless.model.prediction import Prediction, set_to_sequence


class BinaryHead(nn.Module):
    """Average-pooled features -> one logit per label; optionally through one hidden layer."""

    threshold: Tensor

    def __init__(self, feature_size: int, n_labels: int, hidden_size: int = 0, dropout: float = 0.0) -> None:
        super().__init__()
        self.n_labels = n_labels
        layers: list[nn.Module] = []
        if hidden_size:
            layers += [nn.Linear(feature_size, hidden_size), nn.ReLU()]
        self.classifier = nn.Sequential(*layers, nn.Dropout(dropout), nn.Linear(hidden_size or feature_size, n_labels))
        self.register_buffer("threshold", torch.tensor(0.5))  # kept with the weights

    def forward(self, features: Tensor) -> Tensor:
        """features [B, cells, C] -> logits [B, m]."""
        logits: Tensor = self.classifier(features.mean(dim=1))
        return logits

    @torch.no_grad()
    def predict(self, features: Tensor) -> Prediction:
        """The labels at or above the threshold, written in the order of their scores.

        Attention is the head applied to each cell alone: where the evidence for a label lies.
        """
        scores = self(features).sigmoid()  # [B, m]
        labels = scores >= self.threshold
        sequence = set_to_sequence(labels, scores)  # [B, T]
        evidence = self.classifier(features).softmax(dim=1).transpose(1, 2)  # [B, m, cells]
        chosen = sequence.clamp(min=0).unsqueeze(2).expand(-1, -1, features.shape[1])
        return Prediction(sequence, labels, scores, attention=evidence.gather(1, chosen))
