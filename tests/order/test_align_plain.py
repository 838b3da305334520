"""The fast alignment against the plain one: the same targets, or, where costs tie, targets of the same cost."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from orderless.bench.plain import plain_mla, plain_pla
from orderless.order import IGNORE, align, mla, pla

PAIRS = [(mla, plain_mla), (pla, plain_pla)]


@pytest.fixture(params=["native", "SciPy"], autouse=True)
def solver(request: pytest.FixtureRequest) -> Iterator[str]:
    """Everything here holds for the C code and for what stands in where it was not compiled."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "SciPy":
            patch.setattr(align, "native", None)
        elif align.native is None:
            pytest.skip("the C code was not compiled")
        yield request.param


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
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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


@pytest.mark.parametrize(("fast", "plain"), PAIRS)
def test_many_labels_and_outputs(fast, plain) -> None:
    """Rows longer than any block of the search, the largest anywhere, signs mixed, some outputs masked."""
    generator = torch.Generator().manual_seed(1)
    labels = torch.rand(6, 299, generator=generator) < 0.05
    logits = torch.randn(6, int(labels.sum(1).max()) + 3, 300, generator=generator) - 2
    logits.scatter_add_(
        2, torch.randint(0, 300, (*logits.shape[:2], 1), generator=generator), torch.full_like(logits[..., :1], 9)
    )
    logits[:, :, :-1][~labels.unsqueeze(1).expand(-1, logits.shape[1], -1) & (logits[:, :, :-1] < -4)] = -torch.inf
    assert torch.equal(fast(logits, labels), plain(logits, labels))


@pytest.mark.parametrize(("fast", "plain"), PAIRS)
def test_any_float_and_any_layout(fast, plain) -> None:
    generator = torch.Generator().manual_seed(2)
    labels = torch.rand(8, 9, generator=generator) < 0.4
    logits = torch.randn(8, 10, 10, generator=generator).bfloat16().float()  # exact in every type
    expected = plain(logits, labels)
    for dtype in (torch.float64, torch.float16, torch.bfloat16):
        assert torch.equal(fast(logits.to(dtype), labels), expected)
    transposed = logits.permute(2, 0, 1).contiguous().permute(1, 2, 0)
    assert not transposed.is_contiguous()
    assert torch.equal(fast(transposed, labels.T.contiguous().T), expected)
    assert torch.equal(fast(logits.requires_grad_(), labels), expected)
    assert fast(logits[:0], labels[:0]).shape == (0, 10)


def test_the_sign_of_zero_does_not_matter() -> None:
    logits = torch.tensor([[[-0.0, 0.0, -1.0], [0.0, -0.0, -1.0], [0.0, 0.0, 1.0]]])
    assert pla(logits, torch.tensor([[True, True]])).tolist() == [[0, 1, 2]]


@pytest.mark.parametrize("fast", [mla, pla])
@pytest.mark.parametrize("sign", [1, -1])
def test_nan_of_either_sign_and_infinities(fast, sign: int) -> None:
    labels = torch.tensor([[True, True, False]])
    nan = torch.tensor(sign * torch.nan).copysign(torch.tensor(float(sign)))
    for output, value, refused in (
        (2, nan, True),
        (1, nan, True),
        (2, torch.inf, True),
        (2, -torch.inf, False),  # no label of this image: it may be masked
        (1, -torch.inf, True),
    ):
        logits = torch.randn(1, 3, 4)
        logits[0, 1, output] = value
        if refused:
            with pytest.raises(ValueError, match="not finite"):
                fast(logits, labels)
        else:
            assert sorted(fast(logits, labels)[0, :2].tolist()) == [0, 1]
