"""The vote of a decoder and a classifier."""

from __future__ import annotations

import torch

from orderless.model.decoder import SequenceDecoder
from orderless.model.joint import JointHead, vote
from orderless.model.prediction import NO_LABEL, Prediction, sequence_to_set, written_somewhere
from orderless.model.query import QueryHead

LABELS, CELLS, SIZE = 5, 6, 16


def joint() -> JointHead:
    torch.manual_seed(0)
    classifier = QueryHead(SIZE, LABELS, size=16, feedforward=16)
    return JointHead(classifier, SequenceDecoder(SIZE, LABELS, 12, 8, 8, max_steps=7)).eval()


def written(sequence: list[int], probabilities: list[list[float]]) -> Prediction:
    """One image whose decoder wrote `sequence` and looked at cell t at step t."""
    steps = torch.tensor([[*sequence, NO_LABEL]])
    table = torch.tensor([probabilities])
    attention = torch.eye(CELLS)[: steps.shape[1]].unsqueeze(0)
    return Prediction(steps, sequence_to_set(steps, LABELS), written_somewhere(table), table, attention)


def test_written_somewhere_is_one_minus_the_chance_of_never() -> None:
    table = torch.tensor([[[0.5, 0.1, 0.4], [0.5, 0.3, 0.2], [0.0, 0.0, 0.0]]])
    torch.testing.assert_close(written_somewhere(table), torch.tensor([[0.75, 1 - 0.9 * 0.7]]))


def test_decoder_order_first_then_what_the_vote_brings() -> None:
    decoder = written(
        [3, 1, 3],
        [
            [0.0, 0.1, 0.0, 0.8, 0.0, 0.1],
            [0.0, 0.7, 0.1, 0.1, 0.0, 0.1],
            [0.1, 0.1, 0.1, 0.5, 0.1, 0.1],
            [0.2, 0.0, 0.1, 0.0, 0.1, 0.6],
        ],
    )
    scores = torch.tensor([[0.99, 0.9, 0.1, 0.02, 0.97]])
    evidence = torch.full((1, LABELS, CELLS), 1 / CELLS)
    result = vote(decoder, scores, evidence, torch.tensor(0.5))
    # 3 comes before 1 if its odds survive the vote: .9 from the decoder, .02 from the classifier do not
    assert result.labels.tolist() == [[True, True, False, False, True]]
    assert result.sequence.tolist() == [[1, 0, 4, NO_LABEL, NO_LABEL, NO_LABEL]]
    assert result.probabilities is not None
    assert result.attention is not None
    torch.testing.assert_close(result.probabilities[0, 0], decoder.probabilities[0, 1])  # type: ignore[index]
    for step in (1, 2, 3):  # brought in by the vote, and the end: the step at which the decoder ended
        torch.testing.assert_close(result.probabilities[0, step], decoder.probabilities[0, 3])  # type: ignore[index]
    assert not result.probabilities[0, 4:].any()
    torch.testing.assert_close(result.attention[0, 0], torch.eye(CELLS)[1])
    torch.testing.assert_close(result.attention[0, 1], evidence[0, 0])
    torch.testing.assert_close(result.attention[0, 3], torch.eye(CELLS)[3])


def test_score_is_the_mean_of_the_log_odds() -> None:
    head, features = joint(), torch.randn(4, CELLS, SIZE)
    decoder, (scores, _) = head.decoder.predict(features), head.classifier.judge(features)
    expected = ((decoder.scores.logit() + scores.logit()) / 2).sigmoid()
    torch.testing.assert_close(head.predict(features).scores, expected, atol=1e-5, rtol=1e-4)


def test_threshold_decides_and_no_label_comes_twice() -> None:
    head, features = joint(), torch.randn(8, CELLS, SIZE)
    for threshold in (0.0, 0.1, 0.3, 0.5, 1.1):
        head.threshold.fill_(threshold)
        result = head.predict(features)
        assert torch.equal(result.labels, result.scores >= threshold)
        assert torch.equal(sequence_to_set(result.sequence, LABELS), result.labels)
        assert (result.sequence >= 0).sum(1).tolist() == result.labels.sum(1).tolist()
        assert result.written is not None
        assert result.attention is not None
        assert result.attention.shape[:2] == result.sequence.shape
        torch.testing.assert_close(result.attention.sum(2), torch.ones(result.sequence.shape))


def test_a_photo_alone_is_judged_as_in_a_batch() -> None:
    head, features = joint(), torch.randn(6, CELLS, SIZE)
    head.threshold.fill_(0.3)
    together = head.predict(features)
    for row in range(len(features)):
        alone = head.predict(features[row : row + 1])
        torch.testing.assert_close(alone.scores[0], together.scores[row])
        steps = alone.sequence.shape[1]
        assert torch.equal(alone.sequence[0], together.sequence[row, :steps])
