"""ML-Decoder (Ridnik et al., WACV 2023): a query per label looks at the image by cross-attention.

As in the paper, the queries do not attend to one another, and they are fixed: the attention's own projection of
the queries can learn whatever learned queries could (`learned` trains them nevertheless: it pays on small data). A
large vocabulary is served by group decoding: at most `groups` queries, each of which answers for an equal share of
the labels.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from orderless.model.prediction import Prediction
from orderless.model.threshold import ThresholdedHead, choose


class QueryHead(ThresholdedHead):
    """Features of an image -> one logit per label. Default sizes are the paper's."""

    queries: Tensor

    def __init__(
        self,
        feature_size: int,
        n_labels: int,
        size: int = 768,
        groups: int = 100,
        heads: int = 8,
        feedforward: int = 2048,
        dropout: float = 0.1,
        learned: bool = False,
    ) -> None:
        super().__init__()
        self.n_labels = n_labels
        self.per_group = -(-n_labels // min(groups, n_labels))  # labels per query, rounded up
        n_queries = -(-n_labels // self.per_group)
        queries = torch.randn(n_queries, size)
        if learned:  # small, so that what a query finds outweighs the query itself from the start
            self.queries = nn.Parameter(queries * size**-0.5)
        else:
            self.register_buffer("queries", queries)  # never trained, but kept with the weights
        self.embed = nn.Sequential(nn.Linear(feature_size, size), nn.ReLU())
        self.attention = nn.MultiheadAttention(size, heads, dropout=dropout, batch_first=True)
        self.attention_norm = nn.LayerNorm(size)
        self.feedforward = nn.Sequential(
            nn.Linear(size, feedforward), nn.ReLU(), nn.Dropout(dropout), nn.Linear(feedforward, size)
        )
        self.feedforward_norm = nn.LayerNorm(size)
        self.dropout = nn.Dropout(dropout)
        # One small linear layer per query, from its vector to the logits of its labels.
        self.output = nn.Parameter(torch.empty(n_queries, size, self.per_group))
        self.bias = nn.Parameter(torch.zeros(n_labels))
        nn.init.uniform_(self.output, -(size**-0.5), size**-0.5)  # as nn.Linear begins

    def forward(self, features: Tensor) -> Tensor:
        """features [B, cells, C] -> logits [B, m]."""
        return self._decode(features, need_weights=False)[0]

    @torch.no_grad()
    def predict(self, features: Tensor) -> Prediction:
        """The labels at or above the threshold; attention is that of a label's query, averaged over the heads."""
        scores, evidence = self.judge(features)
        return choose(scores, self.threshold, evidence)

    def judge(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """features [B, cells, C] -> scores [B, m], and where each label's query looks [B, m, cells]."""
        logits, weights = self._decode(features, need_weights=True)
        assert weights is not None
        return logits.sigmoid(), weights.repeat_interleave(self.per_group, dim=1)[:, : self.n_labels]

    def _decode(self, features: Tensor, need_weights: bool) -> tuple[Tensor, Tensor | None]:
        cells = self.embed(features)  # [B, cells, D]
        queries = self.queries.expand(features.shape[0], -1, -1)  # [B, K, D]
        attended, weights = self.attention(queries, cells, cells, need_weights=need_weights)
        vectors = self.attention_norm(queries + self.dropout(attended))
        vectors = self.feedforward_norm(vectors + self.dropout(self.feedforward(vectors)))  # [B, K, D]
        logits = torch.einsum("bkd,kdg->bkg", vectors, self.output).flatten(1)  # [B, K * labels per query]
        return logits[:, : self.n_labels] + self.bias, weights
