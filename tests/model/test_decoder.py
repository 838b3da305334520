"""The decoder: shapes, free-running, early stop, scores, and independence of the batch."""

from __future__ import annotations

import pytest
import torch

from orderless.model.decoder import SequenceDecoder
from orderless.model.prediction import NO_LABEL, sequence_to_set

CELLS, CHANNELS, LABELS = 9, 12, 5


def make_decoder(attention_size: int = 8, **kwargs: int) -> SequenceDecoder:
    torch.manual_seed(0)
    return SequenceDecoder(CHANNELS, LABELS, 16, 6, attention_size, **kwargs).eval()


def always(decoder: SequenceDecoder, token: int) -> None:
    """Make the decoder write one token whatever it sees."""
    with torch.no_grad():
        decoder.output.weight.zero_()
        decoder.output.bias.zero_()
        decoder.output.bias[token] = 9.0


@pytest.mark.parametrize("attention_size", [8, 0])
def test_shapes_with_and_without_attention(attention_size: int) -> None:
    decoder = make_decoder(attention_size)
    logits, weights = decoder(torch.randn(3, CELLS, CHANNELS), steps=4)
    assert logits.shape == (3, 4, LABELS + 1)
    if attention_size:
        assert weights is not None
        assert weights.shape == (3, 4, CELLS)
        torch.testing.assert_close(weights.sum(2), torch.ones(3, 4))
    else:
        assert weights is None


def test_the_sizes_of_the_paper_are_the_defaults() -> None:
    decoder = SequenceDecoder(32, LABELS)
    assert decoder.lstm.hidden_size == 512
    assert decoder.embedding.embedding_dim == 256
    assert decoder.attention is not None
    assert decoder.attention.from_features.out_features == 512


def test_training_and_prediction_write_the_same_sequence() -> None:
    """Free-running in training too: both choose their own labels."""
    decoder = make_decoder(max_steps=6)
    features = torch.randn(20, CELLS, CHANNELS)
    logits, _ = decoder(features, steps=6)
    prediction = decoder.predict(features)
    for row, sequence in enumerate(prediction.sequence.tolist()):
        expected = logits[row].argmax(1).tolist()
        if LABELS in expected:
            expected = expected[: expected.index(LABELS)]
        assert [label for label in sequence if label != NO_LABEL] == expected[: len(sequence)]


def test_stops_at_the_end_token() -> None:
    decoder = make_decoder()
    always(decoder, decoder.end)
    prediction = decoder.predict(torch.randn(4, CELLS, CHANNELS))
    assert prediction.sequence.tolist() == [[NO_LABEL]] * 4
    assert not prediction.labels.any()


def test_stops_at_the_step_limit_and_keeps_duplicates_in_the_sequence() -> None:
    decoder = make_decoder(max_steps=3)
    always(decoder, 2)
    prediction = decoder.predict(torch.randn(1, CELLS, CHANNELS))
    assert prediction.sequence.tolist() == [[2, 2, 2]]
    assert prediction.labels.tolist() == [[False, False, True, False, False]]


def test_an_images_result_does_not_depend_on_its_batch() -> None:
    decoder = make_decoder()
    features = torch.randn(16, CELLS, CHANNELS)
    together = decoder.predict(features)
    for row in range(len(features)):
        alone = decoder.predict(features[row : row + 1])
        width = alone.sequence.shape[1]
        assert torch.equal(together.sequence[row, :width], alone.sequence[0])
        assert (together.sequence[row, width:] == NO_LABEL).all()
        torch.testing.assert_close(together.scores[row], alone.scores[0])


def test_scores_are_the_largest_probability_up_to_the_end() -> None:
    decoder = make_decoder(max_steps=5)
    prediction = decoder.predict(torch.randn(8, CELLS, CHANNELS))
    assert prediction.probabilities is not None
    torch.testing.assert_close(prediction.scores, prediction.probabilities[:, :, :LABELS].amax(1))
    assert ((prediction.scores >= 0) & (prediction.scores <= 1)).all()
    assert torch.equal(prediction.labels, sequence_to_set(prediction.sequence, LABELS))


def test_gradients_reach_every_parameter() -> None:
    decoder = make_decoder().train()
    logits, _ = decoder(torch.randn(4, CELLS, CHANNELS), steps=3)
    logits.logsumexp(2).sum().backward()
    assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in decoder.parameters())
