"""Greedy decoding of a few images on a CPU, one after another, in C.

For one image a step takes as long as reading the decoder's weights does, if nothing else gets in the way: `_decode.c`.
The more images, the more a library's products for whole batches pay; those are the way of `SequenceDecoder.predict`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from orderless.model.prediction import NO_LABEL
from orderless.model.stepping import is_plain

if TYPE_CHECKING:
    from orderless.model.decoder import Images, SequenceDecoder

try:
    from orderless.model import _decode as native
except ImportError:  # installed on a machine without a C compiler
    native = None  # type: ignore[assignment]

FEW = 2  # images, for which C is faster than PyTorch


def suits(decoder: SequenceDecoder, features: Tensor) -> bool:
    """Whether features [B, cells, C] are few enough, and all numbers such that C can read them."""
    return (
        native is not None
        and 0 < len(features) <= FEW
        and not torch.is_autocast_enabled("cpu")
        and is_plain(features)
        and all(is_plain(weight) and weight.is_contiguous() for weight in decoder.parameters())
    )


def decode(decoder: SequenceDecoder, images: Images) -> tuple[Tensor, Tensor, Tensor | None]:
    """The sequence [B, T], probabilities [B, T, m + 1] and attention weights [B, T, cells] of a prediction."""
    features, (batch, cells, _) = images.features.contiguous(), images.features.shape
    limit, outputs, attention = decoder.max_steps, decoder.n_labels + 1, decoder.attention
    tokens = torch.full((batch, limit), decoder.end)
    probabilities = torch.zeros(batch, limit, outputs)
    weights = torch.zeros(batch, limit, cells) if attention is not None else None
    attends: tuple[int, ...] = (0, 0, 0, 0)
    sizes = (0, 0)
    if attention is not None:
        attends = _addresses(attention.from_hidden.weight, attention.score.weight, *attention.gate.parameters())
        sizes = attention.from_hidden.out_features, attention.gate.out_features
    lstm, output = decoder.lstm, decoder.output
    shared = _addresses(
        lstm.weight_ih, lstm.bias_ih, lstm.weight_hh, lstm.bias_hh, decoder.embedding.weight, output.weight
    )
    hidden, cell = images.hidden.clone(), images.cell.clone()  # [B, H]; C writes to them
    steps = 0
    for row in range(batch):
        projected = 0 if images.projected is None else images.projected[row].data_ptr()
        own = native.decode(
            (decoder.embedding.embedding_dim, lstm.hidden_size, *sizes, outputs, cells, limit),
            (*attends, *shared, output.bias.data_ptr()),
            (features[row].data_ptr(), projected, hidden[row].data_ptr(), cell[row].data_ptr()),
            (tokens[row].data_ptr(), probabilities[row].data_ptr(), 0 if weights is None else weights[row].data_ptr()),
        )
        steps = max(steps, own)
    sequence = tokens[:, :steps].masked_fill(tokens[:, :steps] == decoder.end, NO_LABEL)
    return sequence, probabilities[:, :steps], weights[:, :steps] if weights is not None else None


def _addresses(*tensors: Tensor) -> tuple[int, ...]:
    return tuple(tensor.data_ptr() for tensor in tensors)
