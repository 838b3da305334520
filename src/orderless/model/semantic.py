"""Semantically regularised CNN-RNN (Liu et al., CVPR 2017).

The CNN predicts the probability of every label and is supervised for it; these probabilities are all that the
RNN sees of the image, as its initial state. The RNN then only has to model which labels go together. Both are
trained at once, and the gradient of the RNN's loss reaches the CNN through the probabilities.

The paper feeds the RNN the true labels in training; here it is free-running, as every sequence model of this
package is.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from orderless.model.binary import cell_evidence, make_classifier
from orderless.model.decoder import DEFAULT_MAX_STEPS, SequenceDecoder
from orderless.model.prediction import Prediction
from orderless.model.threshold import evidence_of


class SemanticDecoder(nn.Module):
    """Features of an image -> probabilities of the labels -> a sequence of labels."""

    def __init__(
        self,
        feature_size: int,
        n_labels: int,
        hidden_size: int = 512,
        embedding_size: int = 256,
        classifier_hidden: int = 0,
        dropout: float = 0.0,
        max_steps: int = DEFAULT_MAX_STEPS,
    ) -> None:
        super().__init__()
        self.classifier = make_classifier(feature_size, n_labels, classifier_hidden, dropout)
        self.decoder = SequenceDecoder(
            n_labels, n_labels, hidden_size, embedding_size, attention_size=0, dropout=dropout, max_steps=max_steps
        )

    def forward(self, features: Tensor, steps: int | Sequence[int]) -> tuple[Tensor, Tensor]:
        """features [B, cells, C] -> the CNN's logits [B, m] and the RNN's [B, T, m + 1], as the decoder's."""
        class_logits = self.classifier(features.mean(dim=1))
        logits, _ = self.decoder(_as_image(class_logits), steps)
        return class_logits, logits

    @torch.no_grad()
    def predict(self, features: Tensor) -> Prediction:
        """What the RNN writes; attention is where the CNN sees each written label, for the RNN never looks."""
        prediction = self.decoder.predict(_as_image(self.classifier(features.mean(dim=1))))
        prediction.attention = evidence_of(prediction.sequence, cell_evidence(self.classifier, features))
        return prediction


def _as_image(class_logits: Tensor) -> Tensor:
    """Probabilities [B, m] as features of a single cell [B, 1, m]: the decoder's whole view of the image."""
    return class_logits.sigmoid().unsqueeze(1)
