"""The fast alignment against the plain one: the same targets, or, where costs tie, targets of the same cost."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from orderless.bench.plain import plain_mla, plain_pla
from orderless.order import IGNORE, mla, pla

PAIRS = [(mla, plain_mla), (pla, plain_pla)]


@st.composite
def batches(draw: st.DrawFn) -> tuple[Tensor, Tensor]:
    """Logits and label sets of any size, empty sets among them; whole logits tie often, real ones never."""
    batch, m, spare = draw(st.integers(1, 6)), draw(st.integers(1, 7)), draw(st.integers(0, 3))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**31)))
    labels = torch.rand(batch, m, generator=generator) < draw(st.sampled_from([0.0, 0.3, 0.7, 1.0]))
    logits = 3 * torch.randn(batch, int(labels.sum(1).max()) + 1 + spare, m + 1, generator=generator)
    return logits.round() if draw(st.booleans()) else logits, labels


def cost(logits: Tensor, targets: Tensor) -> Tensor:
    """Summed -log P of every image, [B]."""
    losses = torch.nn.functional.cross_entropy(
        logits.flatten(0, 1), targets.flatten(), ignore_index=IGNORE, reduction="none"
    )
    return losses.view(targets.shape).sum(1)


def pinned(logits: Tensor, labels: Tensor) -> list[tuple[int, int, int]]:
    """(image, step, label) where a true label is predicted for the first time within the first n steps."""
    found = []
    for image, truth in enumerate(labels):
        seen: set[int] = set()
        for step in range(int(truth.sum())):
            choice = int(logits[image, step].argmax())
            if choice < len(truth) and truth[choice] and choice not in seen:
                seen.add(choice)
                found.append((image, step, choice))
    return found


@pytest.mark.parametrize(("fast", "plain"), PAIRS)
@given(case=batches())
@settings(max_examples=150, deadline=None)
def test_equal_to_plain(fast, plain, case: tuple[Tensor, Tensor]) -> None:
    logits, labels = case
    ours, theirs = fast(logits, labels), plain(logits, labels)
    assert ours.shape == theirs.shape
    torch.testing.assert_close(cost(logits, ours), cost(logits, theirs), atol=1e-4, rtol=1e-5)
    for image, truth in enumerate(labels):
        n = int(truth.sum())
        assert sorted(ours[image, :n].tolist()) == truth.nonzero().flatten().tolist()
        assert ours[image, n:].tolist() == theirs[image, n:].tolist()
    if fast is pla:
        assert all(ours[image, step] == theirs[image, step] == label for image, step, label in pinned(logits, labels))


@pytest.mark.parametrize(("fast", "plain"), PAIRS)
def test_identical_where_nothing_ties(fast, plain) -> None:
    generator = torch.Generator().manual_seed(0)
    labels = torch.rand(50, 12, generator=generator) < 0.3
    logits = torch.randn(50, 13, 13, generator=generator)
    assert torch.equal(fast(logits, labels), plain(logits, labels))


@pytest.mark.parametrize("fast", [mla, pla])
def test_nan_is_refused_wherever_it_could_matter(fast) -> None:
    labels = torch.tensor([[True, True, False], [True, False, False]])
    for step in range(2):
        for output in range(4):
            logits = torch.randn(2, 3, 4)
            logits[0, step, output] = torch.nan
            with pytest.raises(ValueError, match="image 0 of the batch: its logits are not finite"):
                fast(logits, labels)
    logits = torch.randn(2, 3, 4)
    logits[1, 2] = torch.nan  # beyond the labels of this image
    fast(logits, labels)


def test_an_impossible_wrong_label_is_no_error() -> None:
    logits = torch.zeros(1, 2, 3)
    logits[0, 0, 1] = -torch.inf  # as a mask would leave it
    assert pla(logits, torch.tensor([[True, False]])).tolist() == [[0, 2]]
