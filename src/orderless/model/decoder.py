"""The label decoder: an LSTM that writes one label a step until it says "end".

It is free-running, in training too: the input of step t is the embedding of the label it predicted at
t-1, whatever the ground truth says. That is what makes the order its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from orderless.model import few_images
from orderless.model.attention import AdditiveAttention, stack_weights
from orderless.model.prediction import NO_LABEL, Prediction, sequence_to_set, written_somewhere
from orderless.model.stepping import Linear, lstm_step, step_linear

DEFAULT_MAX_STEPS = 20


class _Images(NamedTuple):
    """The images that the decoder is still writing for, one a row, and where it stands with each."""

    token: Tensor  # [R] what it wrote last
    hidden: Tensor  # [R, H]
    cell: Tensor  # [R, H]
    features: Tensor  # [R, cells, C]
    projected: Tensor | None  # [R, cells, A]

    def keep(self, rows: slice | Tensor) -> _Images:
        projected = self.projected[rows] if self.projected is not None else None
        return _Images(self.token[rows], self.hidden[rows], self.cell[rows], self.features[rows], projected)


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

    def forward(self, features: Tensor, steps: int | Sequence[int]) -> tuple[Tensor, Tensor | None]:
        """Run on features [B, cells, C]: as many steps for all images, or for each image a number of its own.

        Returns logits [B, T, m + 1] and attention weights [B, T, cells] (None without attention), T the largest
        number of steps; beyond an image's own steps they are zero. After an image's own end token its rows mean
        nothing; the loss never looks at them.
        """
        if isinstance(steps, int):
            return self._run(features, [steps] * len(features), steps)
        own, most = list(steps), max(steps, default=0)
        # Longest first: the images that still run at any step are then the first so many rows.
        longest_first = sorted(range(len(own)), key=own.__getitem__, reverse=True)
        if longest_first == list(range(len(own))):
            return self._run(features, own, most)
        order = torch.tensor(longest_first).to(features.device, non_blocking=True)  # [B]
        place = order.argsort()  # [B], where each image went
        logits, weights = self._run(features.index_select(0, order), sorted(own, reverse=True), most)
        return logits.index_select(0, place), weights.index_select(0, place) if weights is not None else None

    def _run(self, features: Tensor, own: list[int], most: int) -> tuple[Tensor, Tensor | None]:
        """As `forward`, for images of which none has more steps of its own than the one before it."""
        linear = step_linear(features)
        images = self._begin(features, linear)
        logits, weights = [], []
        for step in range(most):
            running = sum(length > step for length in own)
            if running < len(images.token):
                images = images.keep(slice(running))
            step_logits, step_weights, images = self._step(images, linear)
            logits.append(_pad_rows(step_logits, len(own)))
            weights.append(_pad_rows(step_weights, len(own)) if step_weights is not None else None)
        return torch.stack(logits, dim=1), stack_weights(weights)

    @torch.no_grad()
    def predict(self, features: Tensor) -> Prediction:
        """Greedy decoding of features [B, cells, C], until every image has ended or the step limit.

        A label's score tells how probable it was at one step or another, up to and including the one at which its
        image ended.
        """
        few = few_images.predict(self, features)
        return few if few is not None else self._predict(features)

    def _predict(self, features: Tensor) -> Prediction:
        batch, cells, _ = features.shape
        sequence = features.new_full((batch, self.max_steps), NO_LABEL, dtype=torch.long)
        probabilities = features.new_zeros((batch, self.max_steps, self.n_labels + 1), dtype=torch.float)
        weights = features.new_zeros((batch, self.max_steps, cells), dtype=torch.float) if self.attention else None
        linear = step_linear(features)
        images = self._begin(features, linear)
        running = torch.arange(batch, device=features.device)  # the images that have not ended: only they cost
        for step in range(self.max_steps):
            logits, step_weights, images = self._step(images, linear)
            probabilities[running, step] = logits.float().softmax(1)
            if weights is not None and step_weights is not None:
                weights[running, step] = step_weights.float()
            going = (images.token != self.end).nonzero().squeeze(1)
            if len(going) == 0:
                break
            if len(going) < len(running):
                images, running = images.keep(going), running[going]
            sequence[running, step] = images.token
        steps = step + 1
        return Prediction(
            sequence=sequence[:, :steps],
            labels=sequence_to_set(sequence, self.n_labels),
            scores=written_somewhere(probabilities[:, :steps]),
            probabilities=probabilities[:, :steps],
            attention=weights[:, :steps] if weights is not None else None,
        )

    def _begin(self, features: Tensor, linear: Linear = F.linear) -> _Images:
        pooled = features.mean(dim=1)  # [B, C]
        return _Images(
            token=torch.full(features.shape[:1], self.start, dtype=torch.long, device=features.device),
            hidden=linear(pooled, self.initial_hidden.weight, self.initial_hidden.bias),
            cell=linear(pooled, self.initial_cell.weight, self.initial_cell.bias),
            features=features,
            projected=self.attention.project(features, linear) if self.attention is not None else None,
        )

    def _step(self, images: _Images, linear: Linear = F.linear) -> tuple[Tensor, Tensor | None, _Images]:
        """Logits [R, m + 1], attention weights [R, cells], and the images with the label that was chosen."""
        inputs, weights = self.embedding(images.token), None  # [R, E]
        if self.attention is not None:
            context, weights = self.attention(images.features, images.projected, images.hidden, linear)
            inputs = torch.cat((inputs, context), dim=1)  # [R, E + C]
        hidden, cell = lstm_step(self.lstm, inputs, images.hidden, images.cell, linear)
        logits = linear(self.dropout(hidden), self.output.weight, self.output.bias)
        token = logits.argmax(1)  # no gradient flows through the choice
        return logits, weights, images._replace(token=token, hidden=hidden, cell=cell)


def _pad_rows(rows: Tensor, batch: int) -> Tensor:
    """[running, X] -> [B, X], zeros below."""
    return F.pad(rows, (0, 0, 0, batch - len(rows)))
