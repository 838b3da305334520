"""The order-free RNN (Chen et al., AAAI 2018): at every step an attention LSTM judges every label on its own.

No order is ever imposed, because the target of every step is the whole label set. The LSTM reads the soft
confidences of the step before (first those of the CNN, which is supervised too), never a hard decision, so that
an error does not propagate. Decisions are taken outside of it: of the labels not yet written, the candidates, the
most confident one is written and leaves the pool; thus no label comes twice. There is no end token: writing stops
when the best candidate is less probable than a threshold. The paper picks that threshold on held-out images, and
so do the recipes (`threshold: tuned`). The paper searches with a beam; here decoding is greedy, as everywhere in
this package.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from orderless.model.attention import AdditiveAttention, stack_weights
from orderless.model.binary import make_classifier
from orderless.model.decoder import DEFAULT_MAX_STEPS
from orderless.model.prediction import NO_LABEL, Prediction, sequence_to_set
from orderless.model.stepping import Linear, lstm_step, step_linear
from orderless.model.threshold import ThresholdedHead


class StepwiseDecoder(ThresholdedHead):
    """Features of an image -> probabilities of all labels at every step -> a sequence of labels."""

    def __init__(
        self,
        feature_size: int,
        n_labels: int,
        hidden_size: int = 512,
        embedding_size: int = 256,
        attention_size: int = 512,
        classifier_hidden: int = 0,
        dropout: float = 0.0,
        max_steps: int = DEFAULT_MAX_STEPS,
    ) -> None:
        super().__init__()
        self.n_labels = n_labels
        self.max_steps = max_steps
        self.classifier = make_classifier(feature_size, n_labels, classifier_hidden, dropout)
        self.initial_hidden = nn.Linear(feature_size, hidden_size)
        self.initial_cell = nn.Linear(feature_size, hidden_size)
        self.embedding = nn.Linear(n_labels, embedding_size)  # of confidences, hence not of one label
        self.attention = AdditiveAttention(feature_size, hidden_size, attention_size) if attention_size else None
        self.lstm = nn.LSTMCell(embedding_size + (feature_size if attention_size else 0), hidden_size)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(hidden_size, n_labels)

    def forward(self, features: Tensor, steps: int) -> tuple[Tensor, Tensor]:
        """features [B, cells, C] -> the CNN's logits [B, m] and the LSTM's [B, steps, m]."""
        linear = step_linear(features)
        class_logits, state, projected = self._begin(features, linear)
        step_logits, logits = class_logits, []
        for _ in range(steps):
            step_logits, _, state = self._step(step_logits.sigmoid(), state, features, projected, linear)
            logits.append(step_logits)
        return class_logits, torch.stack(logits, dim=1)

    @torch.no_grad()
    def predict(self, features: Tensor) -> Prediction:
        """Write the most confident candidate, step by step, until it is below the threshold.

        A label's score is its probability at the step that wrote it, or at the last step if none did: unless the
        step limit cuts in, the labels written are those whose score reaches the threshold. `probabilities` are
        those of the candidates; as there is no end token, its place holds how probable it is that the best of
        them is not there.
        """
        linear = step_linear(features)
        class_logits, state, projected = self._begin(features, linear)
        step_scores = class_logits.sigmoid()  # [B, m]
        ended = torch.zeros(len(features), dtype=torch.bool, device=features.device)  # [B]
        visited = torch.zeros_like(step_scores, dtype=torch.bool)  # [B, m]
        scores = torch.zeros_like(step_scores)  # [B, m]
        sequence, probabilities, weights = [], [], []
        for _ in range(self.max_steps):
            logits, step_weights, state = self._step(step_scores, state, features, projected, linear)
            step_scores = logits.sigmoid()
            # Steps after the end are blanked, so that an image's result does not depend on its batch.
            scores = torch.where(visited | ended.unsqueeze(1), scores, step_scores)
            best, token = step_scores.masked_fill(visited, -1.0).max(dim=1)  # [B], [B]
            candidates = torch.cat((step_scores.masked_fill(visited, 0.0), 1.0 - best.clamp(min=0.0).unsqueeze(1)), 1)
            probabilities.append(candidates.masked_fill(ended.unsqueeze(1), 0.0))
            ended = ended | (best < self.threshold)
            sequence.append(torch.where(ended, NO_LABEL, token))
            weights.append(step_weights)
            visited = visited | sequence_to_set(sequence[-1].unsqueeze(1), self.n_labels)
            if bool(ended.all()):
                break
        written = torch.stack(sequence, dim=1)  # [B, T]
        return Prediction(
            sequence=written,
            labels=sequence_to_set(written, self.n_labels),
            scores=scores,
            probabilities=torch.stack(probabilities, dim=1),
            attention=stack_weights(weights),
        )

    def _begin(
        self, features: Tensor, linear: Linear = F.linear
    ) -> tuple[Tensor, tuple[Tensor, Tensor], Tensor | None]:
        pooled = features.mean(dim=1)  # [B, C]
        state = (
            linear(pooled, self.initial_hidden.weight, self.initial_hidden.bias),
            linear(pooled, self.initial_cell.weight, self.initial_cell.bias),
        )
        projected = self.attention.project(features, linear) if self.attention is not None else None
        return self.classifier(pooled), state, projected

    def _step(
        self,
        confidences: Tensor,
        state: tuple[Tensor, Tensor],
        features: Tensor,
        projected: Tensor | None,
        linear: Linear = F.linear,
    ) -> tuple[Tensor, Tensor | None, tuple[Tensor, Tensor]]:
        inputs, weights = linear(confidences, self.embedding.weight, self.embedding.bias), None  # [B, E]
        if self.attention is not None:
            context, weights = self.attention(features, projected, state[0], linear)
            inputs = torch.cat((inputs, context), dim=1)  # [B, E + C]
        hidden, cell = lstm_step(self.lstm, inputs, *state, linear)
        return linear(self.dropout(hidden), self.output.weight, self.output.bias), weights, (hidden, cell)


def highest_thresholds(written: Prediction) -> Tensor:
    """What was written at threshold 0 -> [B, m], the highest threshold at which each label is written; 0 if at none.

    A label is written if it and all labels before it reach the threshold, and which come before does not depend on it.
    Scores at another threshold would not tell: those of labels not written are of the step at which writing stopped.
    """
    assert written.probabilities is not None
    tokens = written.sequence.clamp(min=0)  # [B, T]
    lowest = written.probabilities.gather(2, tokens.unsqueeze(2)).squeeze(2).cummin(dim=1).values  # [B, T]
    lowest = lowest.masked_fill(written.sequence < 0, 0.0)
    return torch.zeros_like(written.scores).scatter_reduce(1, tokens, lowest, "amax")
