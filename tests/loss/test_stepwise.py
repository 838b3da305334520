"""The stepwise loss: every label at every step, up to the step that finds nothing left."""

from __future__ import annotations

import math

import pytest
import torch

from orderless.loss import stepwise_loss


def test_by_hand() -> None:
    p = torch.tensor([[[0.9, 0.2], [0.8, 0.4], [0.5, 0.5]], [[0.3, 0.1], [0.6, 0.6], [0.7, 0.7]]])  # [2, 3, 2]
    labels = torch.tensor([[True, False], [False, False]])
    # The first image counts with two steps, the second, which has no label, with one.
    steps = [
        (-math.log(0.9) - math.log(0.8)) / 2,
        (-math.log(0.8) - math.log(0.6)) / 2,
        (-math.log(0.7) - math.log(0.9)) / 2,
    ]
    assert float(stepwise_loss(p.logit(), labels)) == pytest.approx(sum(steps) / 3, rel=1e-5)


def test_later_steps_carry_no_gradient() -> None:
    logits = torch.randn(1, 4, 3, requires_grad=True)
    stepwise_loss(logits, torch.tensor([[True, False, False]])).backward()
    assert logits.grad is not None
    assert (logits.grad[0, :2] != 0).all()
    assert (logits.grad[0, 2:] == 0).all()
