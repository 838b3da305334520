"""The heads' predictions as one graph that can leave PyTorch.

A head that judges all labels at once has them ranked in the graph. A decoder's Python loop becomes `while_loop`, which
ONNX knows as `Loop`: it stops when every image has ended, and the projection of the features is computed before it.
Of the ways ONNX has for a loop this is the one that ONNX Runtime runs best. Decoding features of real photos (36 cells
of 1280, an LSTM of 512, limit 20 steps, one thread), `Loop` takes 4.6 ms for an image and 50 ms for 32 images, twenty
unrolled steps, which cannot stop early, 14.2 ms and 120 ms. `Scan` cannot stop early either.

What is written here is checked against the heads' own `predict` at every export.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch._higher_order_ops.while_loop import while_loop

from orderless.errors import UsageError
from orderless.model.binary import BinaryHead, cell_evidence
from orderless.model.decoder import SequenceDecoder
from orderless.model.joint import JointHead, vote
from orderless.model.prediction import NO_LABEL, Prediction, sequence_to_set, written_somewhere
from orderless.model.query import QueryHead
from orderless.model.ranking import RankingHead
from orderless.model.semantic import SemanticDecoder, _as_image
from orderless.model.stepwise import StepwiseDecoder
from orderless.model.threshold import evidence_of

Decode = Callable[[Any, Tensor], Prediction]


def predict(head: nn.Module, features: Tensor) -> Prediction:
    """features [B, cells, C] -> what `head.predict` says, its T steps padded to as many as there can ever be."""
    if type(head) not in DECODERS:
        raise UsageError(f"a model with the head {type(head).__name__} cannot be exported")
    return DECODERS[type(head)](head, features)


def _thresholded(head: BinaryHead | QueryHead, features: Tensor) -> Prediction:
    scores, evidence = head.judge(features)
    labels = scores >= head.threshold
    # ONNX puts equals in the order of their indices, as the stable sort of `set_to_sequence` does.
    ranked = torch.where(labels, scores, -torch.inf).sort(dim=1, descending=True).indices  # [B, m]
    sequence = torch.where(labels.gather(1, ranked), ranked, NO_LABEL)
    return Prediction(sequence, labels, scores, attention=evidence_of(sequence, evidence))


def _sequence(head: SequenceDecoder, features: Tensor) -> Prediction:
    images = head._begin(features)
    attends = head.attention is not None

    def body(step: Tensor, ended: Tensor, token: Tensor, hidden: Tensor, cell: Tensor, *written: Tensor) -> Any:
        logits, weights, now = head._step(images._replace(token=token, hidden=hidden, cell=cell))
        probabilities = logits.softmax(1).masked_fill(ended.unsqueeze(1), 0.0)  # nothing counts after the end
        ended = ended | (now.token == head.end)
        sequence = torch.where(ended, NO_LABEL, now.token)
        rows = (sequence, probabilities, weights) if attends else (sequence, probabilities)
        return (step + 1, ended, now.token, now.hidden, now.cell, *_written_at(step, written, rows))

    begin = (images.token, images.hidden, images.cell)
    sequence, probabilities, *weights = _loop(head, features, begin, body, attends)
    return Prediction(
        sequence=sequence,
        labels=sequence_to_set(sequence, head.n_labels),
        scores=written_somewhere(probabilities),
        probabilities=probabilities,
        attention=weights[0] if attends else None,
    )


def _joint(head: JointHead, features: Tensor) -> Prediction:
    return vote(_sequence(head.decoder, features), *head.classifier.judge(features), head.threshold)


def _semantic(head: SemanticDecoder, features: Tensor) -> Prediction:
    prediction = _sequence(head.decoder, _as_image(head.classifier(features.mean(dim=1))))
    prediction.attention = evidence_of(prediction.sequence, cell_evidence(head.classifier, features))
    return prediction


def _stepwise(head: StepwiseDecoder, features: Tensor) -> Prediction:
    class_logits, (hidden, cell), projected = head._begin(features)
    attends = head.attention is not None
    visited = torch.zeros_like(class_logits, dtype=torch.bool)  # [B, m]

    def body(
        step: Tensor, ended: Tensor, confidences: Tensor, hidden: Tensor, cell: Tensor, visited: Tensor,
        scores: Tensor, *written: Tensor,
    ) -> Any:  # fmt: skip
        logits, weights, (hidden, cell) = head._step(confidences, (hidden, cell), features, projected)
        confidences = logits.sigmoid()
        scores = torch.where(visited | ended.unsqueeze(1), scores, confidences)
        best, token = confidences.masked_fill(visited, -1.0).max(dim=1)  # [B], [B]
        candidates = torch.cat((confidences.masked_fill(visited, 0.0), 1.0 - best.clamp(min=0.0).unsqueeze(1)), 1)
        candidates = candidates.masked_fill(ended.unsqueeze(1), 0.0)
        ended = ended | (best < head.threshold)
        sequence = torch.where(ended, NO_LABEL, token)
        visited = visited | sequence_to_set(sequence.unsqueeze(1), head.n_labels)
        rows = (sequence, candidates, weights) if attends else (sequence, candidates)
        return (step + 1, ended, confidences, hidden, cell, visited, scores, *_written_at(step, written, rows))

    begin = (class_logits.sigmoid(), hidden, cell, visited, torch.zeros_like(class_logits))
    scores, sequence, probabilities, *weights = _loop(head, features, begin, body, attends, keep=1)
    return Prediction(
        sequence=sequence,
        labels=sequence_to_set(sequence, head.n_labels),
        scores=scores,
        probabilities=probabilities,
        attention=weights[0] if attends else None,
    )


# Head -> its prediction as a graph. A new head is a new line here.
DECODERS: dict[type[nn.Module], Decode] = {
    BinaryHead: _thresholded,
    RankingHead: _thresholded,
    QueryHead: _thresholded,
    SequenceDecoder: _sequence,
    JointHead: _joint,
    SemanticDecoder: _semantic,
    StepwiseDecoder: _stepwise,
}


def _loop(
    head: SequenceDecoder | StepwiseDecoder,
    features: Tensor,
    begin: tuple[Tensor, ...],
    body: Callable[..., Any],
    attends: bool,
    keep: int = 0,
) -> tuple[Tensor, ...]:
    """Run `body` until every image has ended or the step limit.

    It carries the step, who has ended, the state (`begin` at first) and what was written: sequence [B, T],
    probabilities [B, T, m + 1] and, if the head attends, weights [B, T, cells]. Returned is what was written, after
    the last `keep` tensors of the state.
    """
    batch, cells, _ = features.shape
    steps = head.max_steps
    written = [
        torch.full((batch, steps), NO_LABEL, dtype=torch.long),
        features.new_zeros(batch, steps, head.n_labels + 1),
        features.new_zeros(batch, steps, cells),
    ][: 3 if attends else 2]

    def going(step: Tensor, ended: Tensor, *rest: Tensor) -> Tensor:
        return (step < steps) & ~ended.all()

    carried = (torch.tensor(0), torch.zeros(batch, dtype=torch.bool), *begin, *written)
    final: tuple[Tensor, ...] = while_loop(going, body, carried)  # type: ignore[no-untyped-call]
    return final[2 + len(begin) - keep :]


def _written_at(step: Tensor, written: tuple[Tensor, ...], rows: tuple[Tensor | None, ...]) -> list[Tensor]:
    """Put one row [B] or [B, X] into each of the tables [B, T] or [B, T, X], at the step."""
    filled = []
    for table, row in zip(written, rows, strict=True):
        assert row is not None
        here = torch.arange(table.shape[1]) == step  # [T]
        filled.append(torch.where(here.view(1, -1, *[1] * (table.dim() - 2)), row.unsqueeze(1), table))
    return filled
