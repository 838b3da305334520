"""The label decoder: an LSTM that writes one label a step until it says "end".

It is free-running, in training too: the input of step t is the embedding of the label it predicted at
t-1, whatever the ground truth says. That is what makes the order its own.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from orderless.model.attention import AdditiveAttention, stack_weights
from orderless.model.prediction import NO_LABEL, Prediction, sequence_to_set

DEFAULT_MAX_STEPS = 20


class SequenceDecoder(nn.Module):
    """Features of an image -> a sequence of labels. Default sizes are the paper's.

    Outputs are the m labels and, at index m, the end token; inputs have the start token too, at m + 1.
    `attention_size` 0 turns attention off: the image then speaks only through the initial state.
    """

    def __init__(
        self,
        feature_size: int,
        n_labels: int,
        hidden_size: int = 512,
        embedding_size: int = 256,
        attention_size: int = 512,
        dropout: float = 0.0,
        max_steps: int = DEFAULT_MAX_STEPS,
    ) -> None:
        super().__init__()
        self.n_labels = n_labels
        self.end, self.start = n_labels, n_labels + 1
        self.max_steps = max_steps
        self.initial_hidden = nn.Linear(feature_size, hidden_size)
        self.initial_cell = nn.Linear(feature_size, hidden_size)
        self.embedding = nn.Embedding(n_labels + 2, embedding_size)
        self.attention = AdditiveAttention(feature_size, hidden_size, attention_size) if attention_size else None
        self.lstm = nn.LSTMCell(embedding_size + (feature_size if attention_size else 0), hidden_size)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(hidden_size, n_labels + 1)

    def forward(self, features: Tensor, steps: int) -> tuple[Tensor, Tensor | None]:
        """Run `steps` steps on features [B, cells, C].

        Returns logits [B, steps, m + 1] and attention weights [B, steps, cells] (None without attention).
        After an image's own end token its later rows mean nothing; the loss never looks at them.
        """
        state, projected = self._begin(features)
        token = self._start_tokens(features)
        logits, weights = [], []
        for _ in range(steps):
            step_logits, step_weights, state = self._step(token, state, features, projected)
            token = step_logits.argmax(1)  # [B], no gradient flows through the choice
            logits.append(step_logits)
            weights.append(step_weights)
        return torch.stack(logits, dim=1), stack_weights(weights)

    @torch.no_grad()
    def predict(self, features: Tensor) -> Prediction:
        """Greedy decoding of features [B, cells, C], until every image has ended or the step limit.

        A label's score is the largest probability it reached at any step up to and including the one at which
        its image ended: a label that was almost chosen somewhere ranks above one that never came near.
        """
        state, projected = self._begin(features)
        token = self._start_tokens(features)
        ended = torch.zeros(len(features), dtype=torch.bool, device=features.device)  # [B]
        sequence, probabilities, weights = [], [], []
        for _ in range(self.max_steps):
            logits, step_weights, state = self._step(token, state, features, projected)
            # Steps after the end are blanked, so that an image's result does not depend on its batch.
            step_probabilities = logits.softmax(1).masked_fill(ended.unsqueeze(1), 0.0)  # [B, m + 1]
            token = logits.argmax(1)
            ended = ended | (token == self.end)
            sequence.append(torch.where(ended, NO_LABEL, token))
            probabilities.append(step_probabilities)
            weights.append(step_weights)
            if bool(ended.all()):
                break
        written = torch.stack(sequence, dim=1)  # [B, T]
        steps = torch.stack(probabilities, dim=1)  # [B, T, m + 1]
        return Prediction(
            sequence=written,
            labels=sequence_to_set(written, self.n_labels),
            scores=steps[:, :, : self.n_labels].amax(dim=1),
            probabilities=steps,
            attention=stack_weights(weights),
        )

    def _begin(self, features: Tensor) -> tuple[tuple[Tensor, Tensor], Tensor | None]:
        pooled = features.mean(dim=1)  # [B, C]
        state = (self.initial_hidden(pooled), self.initial_cell(pooled))
        return state, self.attention.project(features) if self.attention is not None else None

    def _start_tokens(self, features: Tensor) -> Tensor:
        return torch.full((len(features),), self.start, dtype=torch.long, device=features.device)

    def _step(
        self, token: Tensor, state: tuple[Tensor, Tensor], features: Tensor, projected: Tensor | None
    ) -> tuple[Tensor, Tensor | None, tuple[Tensor, Tensor]]:
        inputs, weights = self.embedding(token), None  # [B, E]
        if self.attention is not None:
            context, weights = self.attention(features, projected, state[0])
            inputs = torch.cat((inputs, context), dim=1)  # [B, E + C]
        hidden, cell = self.lstm(inputs, state)
        return self.output(self.dropout(hidden)), weights, (hidden, cell)
