"""How often training punishes the model for a right label (the paper's argument for PLA over MLA).

A prediction is right if, at one of the steps that carry a label as target, the model's argmax is a label of
the image that it has not predicted before. It is punished if the target arranged at that step is another label.
Under PLA this cannot happen; under MLA it sometimes does; under a fixed order it happens often.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from orderless.evaluation.checks import check_labels
from orderless.evaluation.sets import ratio

NO_LOSS = -100  # the target of steps behind the end token


@dataclass(eq=False)  # not frozen: torchmetrics walks through what a metric computes
class PenalisationCounts:
    """Right predictions of each label and how many of them were punished; counts of two batches add with `+`."""

    correct: Tensor  # [labels] int64
    penalised: Tensor  # [labels] int64

    def __add__(self, other: PenalisationCounts) -> PenalisationCounts:
        return PenalisationCounts(self.correct + other.correct, self.penalised + other.penalised)

    @property
    def rate(self) -> float:
        """The share of right predictions that was punished; 0 if none was right."""
        return float(ratio(self.penalised.sum(), self.correct.sum()))

    @property
    def per_class(self) -> Tensor:
        """The rate of every label, `[labels]` float64."""
        return ratio(self.penalised, self.correct)


def count_penalised(predicted: Tensor, targets: Tensor, truth: Tensor) -> PenalisationCounts:
    """Count right predictions and punished ones.

    predicted:  int `[images, steps]`, the argmax of every step; what is no label (the end token) is no right prediction
    targets:    int `[images, steps]`, the arranged labels, then the end token `labels`, then -100
    truth:      bool `[images, labels]`
    """
    check_labels(truth)
    images, labels = truth.shape
    for name, tokens in (("predicted", predicted), ("targets", targets)):
        if tokens.dtype.is_floating_point or tokens.dtype == torch.bool or tokens.ndim != 2:
            raise ValueError(f"{name} must be an integer tensor [images, steps]")
    if predicted.shape != targets.shape or len(predicted) != images:
        raise ValueError(
            f"predicted {list(predicted.shape)} and targets {list(targets.shape)} must have the same shape, "
            f"one row for each of {images} images"
        )
    if bool(((targets < 0) & (targets != NO_LOSS) | (targets > labels)).any()):
        raise ValueError(f"targets must be labels (0 to {labels - 1}), the end token ({labels}) or {NO_LOSS}")
    is_label = (predicted >= 0) & (predicted < labels)  # [images, steps]
    carries_label = (targets >= 0) & (targets < labels)
    label = predicted.long().where(is_label, 0)
    same = predicted[:, :, None] == predicted[:, None, :]  # [images, steps, steps]
    first = ~same.tril(diagonal=-1).any(2)
    right = is_label & carries_label & first & truth.gather(1, label)  # [images, steps]
    return PenalisationCounts(
        correct=label[right].bincount(minlength=labels),
        penalised=label[right & (targets != predicted)].bincount(minlength=labels),
    )
