"""The default of small data: a PLA decoder and a classifier on the same features, which vote.

The decoder judges a label in the company of those it has written, the classifier (a query per label) on its own; they
err on different photos, and the mean of their log-odds is better than either. Labels come in the order in which the
decoder wrote them; those that only the vote brings in follow, the likeliest first. The plain method of the paper is
the decoder alone: `--method pla`.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from orderless.model.decoder import SequenceDecoder
from orderless.model.prediction import NO_LABEL, Prediction
from orderless.model.query import QueryHead
from orderless.model.threshold import ThresholdedHead


class JointHead(ThresholdedHead):
    """Features of an image -> a sequence of labels and a logit per label; both are trained, both have a vote."""

    def __init__(self, classifier: QueryHead, decoder: SequenceDecoder) -> None:
        super().__init__()
        self.classifier = classifier
        self.decoder = decoder

    def forward(self, features: Tensor, steps: int | Sequence[int]) -> tuple[Tensor, Tensor]:
        """features [B, cells, C] -> the classifier's logits [B, m] and the decoder's [B, T, m + 1]."""
        logits, _ = self.decoder(features, steps)
        return self.classifier(features), logits

    @torch.no_grad()
    def predict(self, features: Tensor) -> Prediction:
        """The labels whose mean log-odds reach the threshold's, in the order of the decoder."""
        scores, evidence = self.classifier.judge(features)
        voted = vote(self.decoder.predict(features), scores, evidence, self.threshold)
        longest = int(voted.labels.sum(1).max()) if len(features) else 0
        return voted.shortened(longest + 1)  # the last step is the one at which the decoder ended


def vote(written: Prediction, scores: Tensor, evidence: Tensor, threshold: Tensor) -> Prediction:
    """What a decoder wrote and a classifier's scores [B, m] with their evidence [B, m, cells], as one prediction.

    The result has m + 1 steps. A label's step shows what the decoder thought and saw when it wrote the label. One that
    it did not write shows the step at which the decoder ended, and the classifier's evidence.
    """
    assert written.probabilities is not None
    n_labels, limit = scores.shape[1], written.sequence.shape[1]
    scores = ((_log_odds(written.scores) + _log_odds(scores)) / 2).sigmoid()  # [B, m]
    labels = scores >= threshold
    said = written.sequence.unsqueeze(2) == torch.arange(n_labels, device=scores.device)  # [B, T, m]
    ends = (written.sequence >= 0).sum(dim=1, keepdim=True).clamp(max=limit - 1)  # [B, 1] step of the end token
    wrote = said.any(dim=1)  # [B, m]
    steps = torch.where(wrote, said.int().argmax(dim=1), ends)  # [B, m], the first if a label came twice
    rank = torch.where(wrote, steps, limit).float() + (1.0 - scores) / 2  # written ones first; never a whole step
    order = torch.where(labels, rank, torch.inf).sort(dim=1).indices  # [B, m]; ONNX has no other sort
    chosen = labels.gather(1, order)
    sequence = torch.where(chosen, order, NO_LABEL)
    step = torch.cat((torch.where(chosen, steps.gather(1, order), ends), ends), dim=1)  # [B, m + 1] of the decoder
    attention = _rows(evidence, torch.cat((order, order[:, :1]), dim=1))  # [B, m + 1, cells]
    if written.attention is not None:
        looked = torch.cat((wrote.gather(1, order) | ~chosen, torch.ones_like(chosen[:, :1])), dim=1)
        attention = torch.where(looked.unsqueeze(2), _rows(written.attention, step), attention)
    ended = torch.cat((torch.zeros_like(chosen[:, :1]), ~chosen), dim=1)  # [B, m + 1]; nothing after the end
    return Prediction(
        sequence=torch.cat((sequence, torch.full_like(ends, NO_LABEL)), dim=1),
        labels=labels,
        scores=scores,
        probabilities=_rows(written.probabilities, step).masked_fill(ended.unsqueeze(2), 0.0),
        attention=attention,
    )


def _log_odds(scores: Tensor) -> Tensor:
    return scores.float().clamp(1e-6, 1 - 1e-6).logit()


def _rows(table: Tensor, index: Tensor) -> Tensor:
    """Rows of table [B, R, X] by index [B, K] -> [B, K, X]."""
    return table.gather(1, index.unsqueeze(2).expand(-1, -1, table.shape[2]))
