"""LSEP's head (Li, Song and Luo, CVPR 2017): labels are ranked, then a label decision module says how far down.

Of the paper's two decision modules this is the better one, threshold estimation: a small network (100, then 10
hidden units) looks at the image's features and gives every label its own threshold θ_k; the label is
predicted where its ranking score f_k exceeds it. The paper trains the ranking first, then the thresholds with the
ranking frozen. Here both train at once, but nothing flows from the thresholds into features or ranking: their
gradients are the same as in a step of their own.
"""

from __future__ import annotations

from torch import Tensor, nn

from orderless.model.binary import BinaryHead

DECISION_SIZES = (100, 10)


class RankingHead(BinaryHead):
    """Average-pooled features -> ranking scores and thresholds; σ(f - θ) is a label's probability."""

    def __init__(self, feature_size: int, n_labels: int, hidden_size: int = 0, dropout: float = 0.0) -> None:
        super().__init__(feature_size, n_labels, hidden_size, dropout)
        first, second = DECISION_SIZES
        self.decision = nn.Sequential(
            nn.Linear(feature_size, first), nn.ReLU(), nn.Linear(first, second), nn.ReLU(), nn.Linear(second, n_labels)
        )

    def rank(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """features [B, cells, C] -> ranking scores f [B, m], thresholds θ [B, m]."""
        scores = super().forward(features)
        thresholds: Tensor = self.decision(features.mean(dim=1).detach())
        return scores, thresholds

    def forward(self, features: Tensor) -> Tensor:
        """features [B, cells, C] -> f - θ [B, m]: positive where the label is predicted."""
        scores, thresholds = self.rank(features)
        return scores - thresholds
