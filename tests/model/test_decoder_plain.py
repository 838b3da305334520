"""The decoder against the plain one with the same weights: logits and gradients."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from orderless.bench.plain import plain_decode
from orderless.loss import sequence_loss
from orderless.model.decoder import SequenceDecoder
from orderless.order.fixed import arrange_by

CELLS, CHANNELS, LABELS = 9, 12, 6


def make(seed: int, attention_size: int) -> tuple[SequenceDecoder, torch.Tensor]:
    torch.manual_seed(seed)
    decoder = SequenceDecoder(CHANNELS, LABELS, hidden_size=16, embedding_size=8, attention_size=attention_size)
    return decoder, torch.randn(5, CELLS, CHANNELS, requires_grad=True)


@pytest.mark.parametrize("attention_size", [8, 0])
@given(seed=st.integers(0, 1000), counts=st.lists(st.integers(0, LABELS), min_size=5, max_size=5))
@settings(max_examples=25, deadline=None)
def test_each_image_runs_its_own_steps_and_nothing_else_changes(
    attention_size: int, seed: int, counts: list[int]
) -> None:
    decoder, features = make(seed, attention_size)
    logits, weights = decoder(features, [count + 1 for count in counts])
    expected = plain_decode(decoder, features)
    assert logits.shape == (5, max(counts) + 1, LABELS + 1)
    for image, count in enumerate(counts):
        torch.testing.assert_close(logits[image, : count + 1], expected[image, : count + 1], atol=1e-5, rtol=1e-5)
        assert (logits[image, count + 1 :] == 0).all()
    assert (weights is None) == (attention_size == 0)


@pytest.mark.parametrize("attention_size", [8, 0])
def test_gradients_are_those_of_the_plain_decoder(attention_size: int) -> None:
    decoder, features = make(3, attention_size)
    labels = torch.rand(5, LABELS) < 0.4
    counts = labels.sum(1).tolist()
    keys = torch.rand(labels.shape)
    gradients = []
    for logits in (decoder(features, [count + 1 for count in counts])[0], plain_decode(decoder, features)):
        decoder.zero_grad()
        features.grad = None
        sequence_loss(logits, arrange_by(keys, labels, logits.shape[1])).backward()
        gradients.append([features.grad, *(parameter.grad for parameter in decoder.parameters())])
    for ours, theirs in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)


def test_prediction_writes_what_the_plain_decoder_writes() -> None:
    decoder, features = make(1, 8)
    with torch.no_grad():
        decoder.output.bias[decoder.end] += 0.15  # so that images end at different steps
        tokens = plain_decode(decoder, features).argmax(2).tolist()
    sequences = decoder.predict(features).sequence.tolist()
    for sequence, written in zip(sequences, tokens, strict=True):
        expected = written[: written.index(decoder.end)] if decoder.end in written else written
        assert [label for label in sequence if label >= 0] == expected


def test_no_image_at_all() -> None:
    decoder, _ = make(0, 8)
    empty = torch.zeros(0, CELLS, CHANNELS)
    assert decoder.predict(empty).labels.shape == (0, LABELS)
    assert decoder(empty, 3)[0].shape == (0, 3, LABELS + 1)
