"""Losses of independent labels, by hand."""

from __future__ import annotations

import math

import pytest
import torch

from orderless.loss import asymmetric_loss, binary_cross_entropy


def logits_of(*probabilities: float) -> torch.Tensor:
    return torch.tensor([probabilities]).logit()


def test_asymmetric_loss_by_hand() -> None:
    labels = torch.tensor([[True, False, False]])
    # True at 0.6; false at 0.45, hence 0.4 after the margin; false at 0.04: below the margin, no loss at all.
    expected = (-math.log(0.6) - 0.4**4 * math.log(0.6)) / 3
    assert float(asymmetric_loss(logits_of(0.6, 0.45, 0.04), labels)) == pytest.approx(expected, rel=1e-5)


def test_positives_can_be_focused_too() -> None:
    loss = asymmetric_loss(logits_of(0.6), torch.tensor([[True]]), gamma_positive=2.0)
    assert float(loss) == pytest.approx(-(0.4**2) * math.log(0.6), rel=1e-5)


def test_without_focus_and_margin_it_is_binary_cross_entropy() -> None:
    logits, labels = torch.randn(5, 7, generator=torch.manual_seed(0)), torch.rand(5, 7) > 0.5
    plain = asymmetric_loss(logits, labels, gamma_negative=0.0, margin=0.0)
    assert torch.allclose(plain, binary_cross_entropy(logits, labels), atol=1e-6)


def test_a_true_label_has_the_gradient_of_binary_cross_entropy() -> None:
    labels = torch.tensor([[True, True, False]])
    gradients = []
    for loss in (asymmetric_loss, binary_cross_entropy):
        logits = torch.tensor([[0.3, -2.0, 1.0]], requires_grad=True)
        loss(logits, labels).backward()
        assert logits.grad is not None
        gradients.append(logits.grad)
    assert torch.allclose(gradients[0][0, :2], gradients[1][0, :2])
    assert gradients[0][0, 2] < gradients[1][0, 2]


@pytest.mark.parametrize("margin", [0.0, 0.05])
@pytest.mark.parametrize("gamma", [0.0, 1.0])
def test_extreme_logits_stay_finite(margin: float, gamma: float) -> None:
    logits = torch.tensor([[200.0, -200.0, 200.0, -200.0]], requires_grad=True)
    labels = torch.tensor([[True, True, False, False]])
    loss = asymmetric_loss(logits, labels, gamma_positive=gamma, margin=margin)
    loss.backward()
    assert logits.grad is not None
    assert torch.isfinite(loss)
    assert torch.isfinite(logits.grad).all()
