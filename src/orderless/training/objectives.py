"""What a stage minimises: a head, a batch of features and their label sets -> a loss."""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from orderless.config import StageConfig
from orderless.labels import Vocabulary
from orderless.loss import binary_cross_entropy, sequence_loss
from orderless.methods import METHODS
from orderless.order import make_order

Objective = Callable[[nn.Module, Tensor, Tensor, int], Tensor]  # head, features, labels [B, m], longest -> loss


def binary_objective(head: nn.Module, features: Tensor, labels: Tensor, longest: int) -> Tensor:
    return binary_cross_entropy(head(features), labels)


def make_objective(method: str, stage: StageConfig, vocabulary: Vocabulary) -> Objective:
    """The objective of a stage: BCE for the encoder, or the method's own."""
    order_name = METHODS[method].order
    if stage.objective == "binary" or order_name is None:
        return binary_objective
    order = make_order(order_name, vocabulary)

    def sequence_objective(head: nn.Module, features: Tensor, labels: Tensor, longest: int) -> Tensor:
        logits, _ = head(features, longest + 1)  # the longest label set and its end token
        return sequence_loss(logits, order(logits, labels), stage.label_smoothing)

    return sequence_objective
