"""The whole tagger: an encoder and one head."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch
from torch import Tensor, nn

from orderless.config import ModelConfig
from orderless.model.binary import BinaryHead
from orderless.model.decoder import SequenceDecoder
from orderless.model.encoder import Encoder, in_portions
from orderless.model.joint import JointHead
from orderless.model.prediction import Prediction
from orderless.model.query import QueryHead
from orderless.model.ranking import RankingHead
from orderless.model.semantic import SemanticDecoder
from orderless.model.stepwise import StepwiseDecoder


class Head(Protocol):
    """Anything that turns features [B, cells, C] into label sets."""

    def predict(self, features: Tensor) -> Prediction: ...


class TaggingModel(nn.Module):
    """images -> features -> label sets; encoder and head train and load together or apart."""

    def __init__(self, encoder: Encoder, head: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = head

    def predict_features(self, features: Tensor) -> Prediction:
        prediction: Prediction = self.head.predict(features)  # type: ignore[operator]
        return prediction

    @torch.no_grad()
    def predict_trunk(self, cells: Tensor) -> Prediction:
        """From what the encoder's trunk says of images, [B, cells, C']."""
        return self.predict_features(self.encoder.tail(cells))

    @torch.no_grad()
    def predict(self, images: Tensor) -> Prediction:
        """images [B, 3, S, S], normalised as the encoder asks."""
        return self.predict_features(in_portions(self.encoder, images))


def _binary(config: ModelConfig, feature_size: int, n_labels: int) -> nn.Module:
    return BinaryHead(feature_size, n_labels, config.binary_hidden, config.dropout)


def _ranking(config: ModelConfig, feature_size: int, n_labels: int) -> nn.Module:
    return RankingHead(feature_size, n_labels, config.binary_hidden, config.dropout)


def _query(config: ModelConfig, feature_size: int, n_labels: int, learned: bool = False) -> QueryHead:
    return QueryHead(
        feature_size,
        n_labels,
        config.query_size,
        config.query_groups,
        feedforward=config.query_feedforward,
        dropout=config.dropout,
        learned=learned,
    )


def _sequence(config: ModelConfig, feature_size: int, n_labels: int) -> SequenceDecoder:
    return SequenceDecoder(
        feature_size,
        n_labels,
        hidden_size=config.hidden,
        embedding_size=config.embedding,
        attention_size=config.attention_size if config.attention else 0,
        dropout=config.dropout,
        max_steps=config.max_steps,
    )


def _stepwise(config: ModelConfig, feature_size: int, n_labels: int) -> nn.Module:
    return StepwiseDecoder(
        feature_size,
        n_labels,
        hidden_size=config.hidden,
        embedding_size=config.embedding,
        attention_size=config.attention_size if config.attention else 0,
        classifier_hidden=config.binary_hidden,
        dropout=config.dropout,
        max_steps=config.max_steps,
    )


def _semantic(config: ModelConfig, feature_size: int, n_labels: int) -> nn.Module:
    return SemanticDecoder(
        feature_size,
        n_labels,
        hidden_size=config.hidden,
        embedding_size=config.embedding,
        classifier_hidden=config.binary_hidden,
        dropout=config.dropout,
        max_steps=config.max_steps,
    )


def _joint(config: ModelConfig, feature_size: int, n_labels: int) -> nn.Module:
    return JointHead(_query(config, feature_size, n_labels, learned=True), _sequence(config, feature_size, n_labels))


BUILDERS: dict[str, Callable[[ModelConfig, int, int], nn.Module]] = {
    "binary": _binary,
    "ranking": _ranking,
    "query": _query,
    "sequence": _sequence,
    "stepwise": _stepwise,
    "semantic": _semantic,
    "joint": _joint,
}


def build_head(config: ModelConfig, feature_size: int, n_labels: int) -> nn.Module:
    """A fresh head as the configuration names it."""
    return BUILDERS[config.head](config, feature_size, n_labels)


def build_model(config: ModelConfig, n_labels: int) -> TaggingModel:
    """A model with fresh weights; see `model.weights` for pretrained encoders."""
    encoder = Encoder(config.backbone)
    return TaggingModel(encoder, build_head(config, encoder.feature_size, n_labels))
