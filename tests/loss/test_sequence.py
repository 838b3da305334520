"""The sequence loss: mean over all target tokens, blind to padding."""

from __future__ import annotations

import math

import pytest
import torch

from orderless.loss import sequence_loss
from orderless.order import IGNORE, pla


def test_mean_over_all_target_tokens_of_the_batch() -> None:
    p = torch.tensor([[[0.5, 0.25, 0.25], [0.1, 0.1, 0.8]], [[0.2, 0.2, 0.6], [0.3, 0.3, 0.4]]])
    targets = torch.tensor([[0, 2], [2, IGNORE]])
    expected = -(math.log(0.5) + math.log(0.8) + math.log(0.6)) / 3
    assert float(sequence_loss(p.log(), targets)) == pytest.approx(expected)


def test_padding_carries_neither_loss_nor_gradient() -> None:
    logits = torch.randn(2, 4, 5, requires_grad=True)
    labels = torch.tensor([[True, True, True, False], [False] * 4])
    sequence_loss(logits, pla(logits, labels)).backward()
    assert logits.grad is not None
    assert (logits.grad[1, 1:] == 0).all()
    assert (logits.grad[1, 0] != 0).all()


def test_right_labels_in_the_models_own_order_cost_nothing() -> None:
    """The paper's motivation: an ordered loss punishes what an orderless loss does not."""
    logits = torch.full((1, 4, 4), -20.0)
    for step, token in enumerate([2, 0, 1, 3]):
        logits[0, step, token] = 20.0
    labels = torch.ones(1, 3, dtype=torch.bool)
    assert float(sequence_loss(logits, pla(logits, labels))) < 1e-6
    assert float(sequence_loss(logits, torch.tensor([[0, 1, 2, 3]]))) > 10
