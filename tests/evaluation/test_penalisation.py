import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from orderless.evaluation import count_penalised
from orderless.order import mla, pla, random_order

from .cases import thorough

END, NONE = 4, -100  # of the four labels below


def test_by_hand():
    truth = torch.tensor([[1, 1, 1, 0], [0, 0, 1, 1], [0, 0, 0, 0]]).bool()
    targets = torch.tensor([[0, 1, 2, END], [2, 3, END, NONE], [END, NONE, NONE, NONE]])
    predicted = torch.tensor(
        [
            [0, 2, 1, 1],  # 0 right; 2 and 1 right but punished; the step of the end token does not count
            [2, 2, 3, 3],  # 2 right, then repeated; 3 comes when the end is due
            [3, 0, 1, 2],  # no label is true
        ]
    )
    counts = count_penalised(predicted, targets, truth)
    assert counts.correct.tolist() == [1, 1, 2, 0]
    assert counts.penalised.tolist() == [0, 1, 1, 0]
    assert counts.rate == pytest.approx(2 / 4)
    assert counts.per_class.tolist() == [0, 1, 0.5, 0]
    assert (counts + counts).penalised.tolist() == [0, 2, 2, 0]


def test_the_papers_example():
    # chair is predicted at the fourth step, sports ball at the third; MLA swaps them, PLA does not.
    truth = torch.ones(1, 4).bool()
    predicted = torch.tensor([[0, 1, 2, 3, END]])
    assert count_penalised(predicted, torch.tensor([[0, 1, 3, 2, END]]), truth).rate == 0.5
    assert count_penalised(predicted, torch.tensor([[0, 1, 2, 3, END]]), truth).rate == 0.0


@given(st.integers(0, 2**32 - 1))
@thorough
def test_by_brute_force(seed: int):
    rng = torch.Generator().manual_seed(seed)
    images, labels, steps = 6, 5, 7
    truth = torch.rand(images, labels, generator=rng) < 0.5
    predicted = torch.randint(0, labels + 1, (images, steps), generator=rng)
    targets = torch.full((images, steps), NONE)
    correct, penalised = [0] * labels, [0] * labels
    for i in range(images):
        own = truth[i].nonzero().flatten()
        arranged = own[torch.randperm(len(own), generator=rng)].tolist()
        targets[i, : len(own) + 1] = torch.tensor([*arranged, labels])
        for step, target in enumerate(arranged):
            guess = int(predicted[i, step])
            if guess < labels and truth[i, guess] and guess not in predicted[i, :step].tolist():
                correct[guess] += 1
                penalised[guess] += guess != target
    counts = count_penalised(predicted, targets, truth)
    assert counts.correct.tolist() == correct
    assert counts.penalised.tolist() == penalised


def test_only_pla_never_punishes_a_right_label():
    rng = torch.Generator().manual_seed(0)
    truth = torch.rand(300, 8, generator=rng) < 0.4
    logits = 2 * torch.randn(300, 9, 9, generator=rng)
    rates = {
        arrange.__name__: count_penalised(logits.argmax(2), arrange(logits, truth), truth).rate
        for arrange in (pla, mla, random_order)
    }
    assert 0 == rates["pla"] < rates["mla"] < rates["random_order"]


def test_nothing_right_is_no_penalty():
    counts = count_penalised(torch.full((2, 3), END), torch.full((2, 3), END), torch.zeros(2, 4).bool())
    assert counts.rate == 0.0


def test_refuses_wrong_input():
    truth, tokens = torch.zeros(2, 4).bool(), torch.zeros(2, 3, dtype=torch.long)
    with pytest.raises(ValueError, match="targets must be an integer tensor"):
        count_penalised(tokens, tokens.float(), truth)
    with pytest.raises(ValueError, match="must have the same shape"):
        count_penalised(tokens, tokens[:, :2], truth)
    with pytest.raises(ValueError, match="targets must be labels"):
        count_penalised(tokens, tokens - 1, truth)
