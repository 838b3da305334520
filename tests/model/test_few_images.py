"""A few images decoded in C: what PyTorch decodes."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from orderless.model import few_images
from orderless.model.decoder import SequenceDecoder
from orderless.model.prediction import Prediction

CELLS = 9

pytestmark = pytest.mark.skipif(few_images.native is None, reason="no C compiler when this was installed")


def make(
    seed: int, channels: int, attention_size: int, hidden_size: int = 21, labels: int = 7, limit: int = 9
) -> SequenceDecoder:
    torch.manual_seed(seed)
    decoder = SequenceDecoder(channels, labels, hidden_size, 10, attention_size, max_steps=limit).eval()
    with torch.no_grad():
        decoder.output.bias[decoder.end] += 0.3  # so that images end at different steps
    return decoder


@torch.no_grad()
def both_ways(decoder: SequenceDecoder, features: Tensor) -> tuple[Prediction, Prediction]:
    in_c = few_images.predict(decoder, features)
    assert in_c is not None
    return in_c, decoder._predict(features)


@settings(max_examples=80, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    channels=st.integers(1, 70),
    hidden=st.integers(1, 70),
    attention=st.sampled_from([0, 1, 8, 65, 130]),
    labels=st.integers(0, 20),
    limit=st.integers(1, 9),
    images=st.integers(1, few_images.FEW),
    cells=st.integers(1, 20),
    scale=st.sampled_from([0.01, 1.0, 30.0]),
)
def test_the_same_prediction(
    seed: int,
    channels: int,
    hidden: int,
    attention: int,
    labels: int,
    limit: int,
    images: int,
    cells: int,
    scale: float,
) -> None:
    decoder = make(seed, channels, attention, hidden, labels, limit)
    in_c, in_pytorch = both_ways(decoder, torch.randn(images, cells, channels) * scale)
    assert torch.equal(in_c.sequence, in_pytorch.sequence)
    assert torch.equal(in_c.labels, in_pytorch.labels)
    torch.testing.assert_close(in_c.scores, in_pytorch.scores, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(in_c.probabilities, in_pytorch.probabilities, atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(in_c.attention, in_pytorch.attention, atol=1e-5, rtol=1e-4)


@torch.no_grad()
def test_features_that_do_not_lie_in_a_row() -> None:
    decoder = make(0, 12, 8)
    features = torch.randn(1, 12, CELLS).transpose(1, 2)
    assert few_images.predict(decoder, features) is None
    assert torch.equal(decoder.predict(features).sequence, decoder.predict(features.contiguous()).sequence)


@torch.no_grad()
def test_only_what_c_can_read() -> None:
    decoder, features = make(0, 12, 8), torch.randn(2, CELLS, 12)
    assert few_images.predict(decoder, features) is not None
    assert few_images.predict(decoder, torch.randn(few_images.FEW + 1, CELLS, 12)) is None
    assert few_images.predict(decoder, features[:0]) is None
    assert few_images.predict(decoder, features.double()) is None
    with torch.autocast("cpu", torch.bfloat16):
        assert few_images.predict(decoder, features) is None
    assert few_images.predict(decoder, features[:, :0]) is None
    assert few_images.predict(decoder, features[..., :5].contiguous()) is None
    assert few_images.predict(decoder, torch._neg_view(features)) is None
    decoder.dropout.p = 0.5
    assert few_images.predict(decoder, features) is not None
    assert few_images.predict(decoder.train(), features) is None
    decoder.eval().output.double()
    assert few_images.predict(decoder, features) is None


def test_not_a_number_counts_as_the_largest() -> None:
    decoder, features = make(0, 12, 8), torch.randn(1, CELLS, 12)
    with torch.no_grad():
        decoder.output.bias[3] = torch.nan
    in_c, in_pytorch = both_ways(decoder, features)
    assert torch.equal(in_c.sequence, in_pytorch.sequence)


def test_the_step_limit() -> None:
    decoder, features = make(0, 12, 8), torch.randn(2, CELLS, 12)
    with torch.no_grad():
        decoder.output.bias[decoder.end] = -100.0
    in_c, in_pytorch = both_ways(decoder, features)
    assert in_c.sequence.shape == (2, decoder.max_steps)
    assert torch.equal(in_c.sequence, in_pytorch.sequence)


def test_whatever_the_default_dtype() -> None:
    decoder, features = make(0, 12, 8), torch.randn(1, CELLS, 12)
    torch.set_default_dtype(torch.float64)
    try:
        in_c, in_pytorch = both_ways(decoder, features)
    finally:
        torch.set_default_dtype(torch.float32)
    torch.testing.assert_close(in_c.scores, in_pytorch.scores, atol=1e-5, rtol=1e-4)


def test_features_of_another_size_are_refused_as_ever() -> None:
    with pytest.raises(RuntimeError):
        make(0, 12, 0).predict(torch.randn(1, CELLS, 40))
