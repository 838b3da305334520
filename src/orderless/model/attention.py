"""Additive (Bahdanau) attention over the cells of a feature map, as in Show, Attend and Tell."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from orderless.model.stepping import Linear


class AdditiveAttention(nn.Module):
    """Scores every cell against the decoder's state and returns the gated, weighted sum of the cells.

    The projection of the features does not depend on the step: call `project` once per image and pass its
    result to every step.
    """

    def __init__(self, feature_size: int, hidden_size: int, attention_size: int) -> None:
        super().__init__()
        self.from_features = nn.Linear(feature_size, attention_size)
        self.from_hidden = nn.Linear(hidden_size, attention_size, bias=False)
        self.score = nn.Linear(attention_size, 1, bias=False)  # a bias would cancel in the softmax
        self.gate = nn.Linear(hidden_size, feature_size)

    def project(self, features: Tensor, linear: Linear = F.linear) -> Tensor:
        """[B, cells, C] -> [B, cells, A]."""
        return linear(features, self.from_features.weight, self.from_features.bias)

    def forward(
        self, features: Tensor, projected: Tensor, hidden: Tensor, linear: Linear = F.linear
    ) -> tuple[Tensor, Tensor]:
        """features [B, cells, C], projected [B, cells, A], hidden [B, H] -> context [B, C], weights [B, cells]."""
        asked = linear(hidden, self.from_hidden.weight, None)  # [B, A]
        energy = (projected + asked.unsqueeze(1)).tanh_()  # [B, cells, A], the largest tensor of a step: in place
        weights = self.score(energy).squeeze(2).softmax(dim=1)  # [B, cells]
        context = torch.bmm(weights.unsqueeze(1), features).squeeze(1)  # [B, C]
        gate = linear(hidden, self.gate.weight, self.gate.bias).sigmoid()  # [B, C]
        return gate * context, weights


def stack_weights(steps: list[Tensor | None]) -> Tensor | None:
    """The weights [B, cells] of every step -> [B, T, cells]; None if there was no attention."""
    present = [weights for weights in steps if weights is not None]
    return torch.stack(present, dim=1) if present else None
