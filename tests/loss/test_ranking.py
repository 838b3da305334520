"""LSEP: the closed form is the sum over pairs."""

from __future__ import annotations

import math

import pytest
import torch

from orderless.loss import log_sum_exp_pairwise


def over_pairs(scores: list[float], labels: list[bool]) -> float:
    """The paper's definition, pair by pair."""
    true = [f for f, y in zip(scores, labels, strict=True) if y]
    false = [f for f, y in zip(scores, labels, strict=True) if not y]
    return math.log(1 + sum(math.exp(v - u) for v in false for u in true))


def test_by_hand() -> None:
    # Pairs: 0 - 1 and 2 - 1.
    loss = log_sum_exp_pairwise(torch.tensor([[1.0, 0.0, 2.0]]), torch.tensor([[True, False, False]]))
    assert float(loss) == pytest.approx(math.log(1 + math.exp(-1) + math.exp(1)))


def test_every_pair_counts() -> None:
    generator = torch.manual_seed(1)
    scores = 3 * torch.randn(20, 6, generator=generator)
    labels = torch.rand(20, 6, generator=generator) > 0.6
    expected = sum(over_pairs(*row) for row in zip(scores.tolist(), labels.tolist(), strict=True)) / 20
    assert float(log_sum_exp_pairwise(scores, labels)) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("label", [True, False])
def test_without_pairs_there_is_no_loss_and_no_gradient(label: bool) -> None:
    scores = torch.randn(2, 4, requires_grad=True)
    loss = log_sum_exp_pairwise(scores, torch.full((2, 4), label))
    loss.backward()
    assert scores.grad is not None
    assert loss.item() == 0
    assert (scores.grad == 0).all()
