"""MLA and PLA against their definitions: brute force, worked examples, and plain Python."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from orderless.order import IGNORE, mla, pla


def make_batch(seed: int, batch: int = 5, m: int = 8, longest: int = 6) -> tuple[Tensor, Tensor]:
    """Random logits [B, T, m + 1] and label sets of 0 to `longest` labels."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.zeros(batch, m, dtype=torch.bool)
    for row in range(batch):
        n = int(torch.randint(0, longest + 1, (), generator=generator))
        labels[row, torch.randperm(m, generator=generator)[:n]] = True
    steps = int(labels.sum(1).max()) + 1
    return 3 * torch.randn(batch, steps, m + 1, generator=generator), labels


def plain_pins(logits: Tensor, labels: Tensor) -> dict[int, int]:
    """Step -> label for one image, as the paper defines it: only the first n steps, a repeated label once."""
    n = int(labels.sum())
    pins: dict[int, int] = {}
    for step in range(n):
        choice = int(logits[step].argmax())
        if choice < len(labels) and labels[choice] and choice not in pins.values():
            pins[step] = choice
    return pins


def best_cost(logits: Tensor, labels: Tensor, pins: dict[int, int]) -> float:
    """Least summed -log P over all permutations that respect the pins."""
    cost = -logits.log_softmax(1)
    names = labels.nonzero().flatten().tolist()
    costs = [
        sum(float(cost[step, label]) for step, label in enumerate(order))
        for order in itertools.permutations(names)
        if all(order[step] == label for step, label in pins.items())
    ]
    return min(costs)


def cost_of(logits: Tensor, targets: Tensor, n: int) -> float:
    cost = -logits.log_softmax(1)
    return sum(float(cost[step, targets[step]]) for step in range(n))


@pytest.mark.parametrize("align", [mla, pla])
@given(seed=st.integers(0, 10_000))
@settings(max_examples=60, deadline=None)
def test_optimal_under_its_pins_by_brute_force(align, seed: int) -> None:
    logits, labels = make_batch(seed)
    targets = align(logits, labels)
    for row in range(len(labels)):
        n = int(labels[row].sum())
        pins = plain_pins(logits[row], labels[row]) if align is pla else {}
        assert sorted(targets[row, :n].tolist()) == labels[row].nonzero().flatten().tolist()
        assert targets[row, n] == labels.shape[1]
        assert (targets[row, n + 1 :] == IGNORE).all()
        assert all(targets[row, step] == label for step, label in pins.items())
        assert cost_of(logits[row], targets[row], n) == pytest.approx(
            best_cost(logits[row], labels[row], pins), abs=1e-4
        )


def test_the_papers_chair_and_sports_ball() -> None:
    """MLA moves `chair` to t3 although the model predicts it at t4, and so punishes a right `sports ball`."""
    person, racket, ball, chair, bench, dog, end = range(7)
    p = torch.full((6, 7), 1e-6)
    p[0, person], p[1, racket], p[5, end] = 0.99, 0.99, 0.99
    p[2, ball], p[2, chair] = 0.50, 0.45
    p[3, chair], p[3, bench] = 0.50, 0.40
    p[4, dog], p[4, ball] = 0.60, 0.30  # wrong; `bench` has next to nothing here
    logits = p.log().unsqueeze(0)
    labels = torch.tensor([[True, True, True, True, True, False]])
    assert logits[0].argmax(1).tolist() == [person, racket, ball, chair, dog, end]
    assert mla(logits, labels)[0].tolist() == [person, racket, chair, bench, ball, end]
    assert pla(logits, labels)[0].tolist() == [person, racket, ball, chair, bench, end]


def test_a_label_predicted_twice_is_pinned_at_its_first_step() -> None:
    p = torch.tensor([[0.6, 0.2, 0.1, 0.1], [0.8, 0.1, 0.05, 0.05], [0.1, 0.1, 0.1, 0.7]])
    labels = torch.tensor([[True, True, False]])
    assert pla(p.log().unsqueeze(0), labels)[0].tolist() == [0, 1, 3]
    # MLA would put it where it is likelier.
    assert mla(p.log().unsqueeze(0), labels)[0].tolist() == [1, 0, 3]


def test_only_the_first_n_steps_pin() -> None:
    """Label 1 is predicted at step n, beyond the labels' room: it must not count as already predicted."""
    p = torch.tensor([[0.1, 0.2, 0.6, 0.1], [0.1, 0.1, 0.1, 0.7], [0.1, 0.7, 0.1, 0.1]])
    labels = torch.tensor([[True, True, False]])
    assert sorted(pla(p.log().unsqueeze(0), labels)[0, :2].tolist()) == [0, 1]


@pytest.mark.parametrize("align", [mla, pla])
def test_no_label_and_one_label(align) -> None:
    logits = torch.randn(2, 2, 4)
    labels = torch.tensor([[False, False, False], [False, True, False]])
    assert align(logits, labels).tolist() == [[3, IGNORE], [1, 3]]
    assert align(logits[:1, :1], labels[:1]).tolist() == [[3]]


@pytest.mark.parametrize("align", [mla, pla])
def test_batch_equals_single_and_padding_never_leaks(align) -> None:
    logits, labels = make_batch(3, batch=40)
    together = align(logits, labels)
    for row in range(len(labels)):
        n = int(labels[row].sum())
        alone = align(logits[row : row + 1, : n + 1], labels[row : row + 1])
        assert together[row, : n + 1].tolist() == alone[0].tolist()
    changed = logits.clone()
    for row in range(len(labels)):
        changed[row, int(labels[row].sum()) :] = torch.randn(())  # steps that hold no label of this image
    assert torch.equal(align(changed, labels), together)


@pytest.mark.parametrize("align", [mla, pla])
@pytest.mark.parametrize("poison", [math.nan, math.inf])
def test_non_finite_logits_give_a_clear_error(align, poison: float) -> None:
    logits, labels = make_batch(1)
    labels[2] = True
    logits = torch.randn(len(labels), 9, 9)
    logits[2, 1, 4] = poison
    with pytest.raises(ValueError, match="image 2 of the batch: its logits are not finite"):
        align(logits, labels)


def test_too_few_steps_and_wrong_shapes_are_named() -> None:
    logits, labels = torch.randn(1, 2, 5), torch.ones(1, 4, dtype=torch.bool)
    with pytest.raises(ValueError, match="4 labels, but 2 steps hold only 1"):
        pla(logits, labels)
    with pytest.raises(ValueError, match="labels are"):
        pla(logits, labels[:, :3])


def test_ties_still_give_a_permutation() -> None:
    logits, labels = torch.zeros(3, 6, 6), torch.ones(3, 5, dtype=torch.bool)
    for align in (mla, pla):
        targets = align(logits, labels)
        assert np.array_equal(np.sort(targets[:, :5].numpy(), axis=1), np.tile(np.arange(5), (3, 1)))


def test_a_vocabulary_of_ten_thousand_labels() -> None:
    labels = torch.zeros(4, 10_000, dtype=torch.bool)
    labels[:, ::1000] = True
    logits = torch.randn(4, 11, 10_001)
    targets = mla(logits, labels)
    assert sorted(targets[0, :10].tolist()) == list(range(0, 10_000, 1000))


def test_no_gradient_and_no_change_of_the_logits() -> None:
    logits, labels = make_batch(5)
    logits.requires_grad_(True)
    before = logits.detach().clone()
    assert not pla(logits, labels).requires_grad
    assert torch.equal(logits.detach(), before)
