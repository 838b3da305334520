"""Greedy decoding of a few images on a CPU, one after another, in C.

For one image a step takes as long as reading the decoder's weights does, if nothing else gets in the way: `_decode.c`.
The more images, the more a library's products for whole batches pay; that is `SequenceDecoder._predict`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from orderless.model.prediction import Prediction

if TYPE_CHECKING:
    from orderless.model.decoder import SequenceDecoder

try:
    from orderless.model import _decode as native
except ImportError:  # installed on a machine without a C compiler
    native = None  # type: ignore[assignment]

FEW = 2  # images, for which C is faster than PyTorch
_PLAIN = (Tensor, nn.Parameter)


def predict(decoder: SequenceDecoder, features: Tensor) -> Prediction | None:
    """What `decoder.predict` says of features [B, cells, C]; None if there are too many, or C cannot do it.

    Hooks of the decoder's layers are not called.
    """
    if native is None or features.numel() == 0 or len(features) > FEW or torch.is_autocast_enabled("cpu"):
        return None
    if features.dim() != 3 or features.shape[2] != decoder.initial_hidden.in_features:
        return None  # PyTorch says what is wrong
    if decoder.dropout.training and decoder.dropout.p > 0:
        return None
    attention, lstm = decoder.attention, decoder.lstm
    attends: tuple[Tensor | None, ...] = (None,) * 4
    if attention is not None:
        attends = attention.from_hidden.weight, attention.score.weight, attention.gate.weight, attention.gate.bias
    weights = (
        *(decoder.initial_hidden.weight, decoder.initial_hidden.bias),
        *(decoder.initial_cell.weight, decoder.initial_cell.bias),
        *attends,
        *(lstm.weight_ih, lstm.bias_ih, lstm.weight_hh, lstm.bias_hh),
        *(decoder.output.weight, decoder.output.bias, decoder.embedding.weight),
    )
    if not all(tensor is None or _readable(tensor) for tensor in (features, *weights)):
        return None
    batch, cells, channels = features.shape
    projected = attention.project(features) if attention is not None else None  # [B, cells, A]
    limit, n_labels = decoder.max_steps, decoder.n_labels
    sequence = features.new_empty((batch, limit), dtype=torch.long)
    labels = features.new_empty((batch, n_labels), dtype=torch.bool)
    scores = features.new_empty((batch, n_labels))
    probabilities = features.new_empty((batch, limit, n_labels + 1))
    looked = features.new_empty((batch, limit, cells)) if attention is not None else None
    asks = attention.from_hidden.out_features if attention is not None else 0
    steps = native.decode(
        (decoder.embedding.embedding_dim, lstm.hidden_size, asks, channels, n_labels + 1, batch, cells, limit),
        tuple(map(_address, weights)),
        (features.data_ptr(), _address(projected)),
        tuple(map(_address, (sequence, labels, scores, probabilities, looked))),
    )
    return Prediction(
        sequence=sequence[:, :steps],
        labels=labels,
        scores=scores,
        probabilities=probabilities[:, :steps],
        attention=looked[:, :steps] if looked is not None else None,
    )


def _readable(tensor: Tensor) -> bool:
    """Whether it is numbers in this machine's memory, as they are and without gaps."""
    return (
        tensor.dtype is torch.float32
        and tensor.is_cpu
        and type(tensor) in _PLAIN
        and tensor.is_contiguous()
        and not tensor.is_neg()
    )


def _address(tensor: Tensor | None) -> int:
    return 0 if tensor is None else tensor.data_ptr()
