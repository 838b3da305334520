"""What a stage minimises: a head, a batch of features and their label sets -> a loss."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch import Tensor, nn

from orderless.config import StageConfig
from orderless.labels import Vocabulary
from orderless.loss import (
    asymmetric_loss,
    binary_cross_entropy,
    log_sum_exp_pairwise,
    sequence_loss,
    stepwise_loss,
)
from orderless.methods import METHODS
from orderless.model.ranking import RankingHead
from orderless.order import Order, make_order

# head, features [B, cells, C], labels [B, m], number of labels of each image -> loss
Objective = Callable[[nn.Module, Tensor, Tensor, Sequence[int]], Tensor]


def binary_objective(head: nn.Module, features: Tensor, labels: Tensor, counts: Sequence[int]) -> Tensor:
    return binary_cross_entropy(head(features), labels)


def asymmetric_objective(head: nn.Module, features: Tensor, labels: Tensor, counts: Sequence[int]) -> Tensor:
    return asymmetric_loss(head(features), labels)


def ranking_objective(head: nn.Module, features: Tensor, labels: Tensor, counts: Sequence[int]) -> Tensor:
    """LSEP for the ranking; for the thresholds cross-entropy of σ(f - θ), with the ranking held fixed."""
    assert isinstance(head, RankingHead)
    scores, thresholds = head.rank(features)
    return log_sum_exp_pairwise(scores, labels) + binary_cross_entropy(scores.detach() - thresholds, labels)


def stepwise_objective(head: nn.Module, features: Tensor, labels: Tensor, counts: Sequence[int]) -> Tensor:
    """Every label at every step, and the CNN's own prediction that the first step starts from."""
    class_logits, logits = head(features, max(counts) + 1)
    return stepwise_loss(logits, labels) + binary_cross_entropy(class_logits, labels)


def make_objective(
    method: str, stage: StageConfig, vocabulary: Vocabulary, watch: Callable[[Order], Order] | None = None
) -> Objective:
    """The objective of a stage: BCE for the encoder, or the method's own; `watch` may wrap its order to see it work."""
    chosen = METHODS[method]
    if stage.objective == "binary":
        return binary_objective
    if chosen.order is not None:
        order = make_order(chosen.order, vocabulary)
        return _sequence_objective(watch(order) if watch else order, chosen.head in ("semantic", "joint"), stage)
    if chosen.head == "ranking":
        return ranking_objective
    if chosen.head == "stepwise":
        return stepwise_objective
    return asymmetric_objective if chosen.loss == "asl" else binary_objective


def _sequence_objective(order: Order, classifies: bool, stage: StageConfig) -> Objective:
    def sequence_objective(head: nn.Module, features: Tensor, labels: Tensor, counts: Sequence[int]) -> Tensor:
        logits, _ = head(features, _steps(counts))
        return sequence_loss(logits, order(logits, labels), stage.label_smoothing)

    def both_objective(head: nn.Module, features: Tensor, labels: Tensor, counts: Sequence[int]) -> Tensor:
        class_logits, logits = head(features, _steps(counts))  # both are supervised
        targets = order(logits, labels)
        return binary_cross_entropy(class_logits, labels) + sequence_loss(logits, targets, stage.label_smoothing)

    return both_objective if classifies else sequence_objective


def _steps(counts: Sequence[int]) -> list[int]:
    """Each image's labels and its end token: no further step carries loss."""
    return [count + 1 for count in counts]
