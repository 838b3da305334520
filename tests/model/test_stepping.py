"""Layers in loops: the same values and gradients as PyTorch's own, whatever the number of rows at each step."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from orderless.model import stepping
from orderless.model.decoder import SequenceDecoder
from orderless.model.stepping import GatheredLinear, Linear, lstm_step, product, step_linear
from orderless.model.stepwise import StepwiseDecoder


def _loop(linear: Linear, layer: nn.Linear, rows: list[int], inputs: Tensor) -> Tensor:
    state, total = inputs, inputs.new_zeros(())
    for count in rows:
        state = linear(state[:count], layer.weight, layer.bias).tanh()
        total = total + state.square().sum()
    return total


@pytest.mark.parametrize("rows", [[5, 5, 3, 1], [4], [3, 0]])
@pytest.mark.parametrize("bias", [True, False])
def test_gradients_are_those_of_the_plain_layer(rows: list[int], bias: bool) -> None:
    torch.manual_seed(0)
    layer = nn.Linear(6, 6, bias=bias).double()
    inputs = torch.randn(rows[0], 6, dtype=torch.float64, requires_grad=True)
    wanted = [*layer.parameters(), inputs]
    plain = torch.autograd.grad(_loop(F.linear, layer, rows, inputs), wanted)
    gathered = torch.autograd.grad(_loop(GatheredLinear(), layer, rows, inputs), wanted)
    for ours, theirs in zip(gathered, plain, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_gradients_in_single_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    """That is what oneDNN multiplies, forwards and backwards, for features of several cells too."""
    torch.manual_seed(0)
    layer, state = nn.Linear(40, 40), torch.randn(9, 40, requires_grad=True)
    cells = torch.randn(3, 5, 40, requires_grad=True)
    wanted = [*layer.parameters(), state, cells]

    def gradients() -> tuple[Tensor, ...]:
        linear = GatheredLinear()
        total = _loop(linear, layer, [9, 4, 1], state) + linear(cells, layer.weight, layer.bias).square().sum()
        return torch.autograd.grad(total, wanted)

    fast = gradients()
    monkeypatch.setattr(stepping, "_onednn", None)
    for ours, theirs in zip(fast, gradients(), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


def test_going_back_twice_gives_the_same() -> None:
    layer, inputs = nn.Linear(3, 3), torch.randn(2, 3)
    total = _loop(GatheredLinear(), layer, [2, 1], inputs)
    first = torch.autograd.grad(total, layer.weight, retain_graph=True)[0]
    assert torch.equal(torch.autograd.grad(total, layer.weight)[0], first)


def test_a_frozen_weight_takes_no_part() -> None:
    layer, inputs = nn.Linear(3, 3).requires_grad_(False), torch.randn(2, 3, requires_grad=True)
    _loop(GatheredLinear(), layer, [2, 1], inputs).backward()
    assert layer.weight.grad is None
    assert inputs.grad is not None


def test_lstm_step_is_pytorchs() -> None:
    torch.manual_seed(0)
    lstm, inputs, hidden, cell = nn.LSTMCell(5, 4), torch.randn(3, 5), torch.randn(3, 4), torch.randn(3, 4)
    for ours, theirs in zip(lstm_step(lstm, inputs, hidden, cell), lstm(inputs, (hidden, cell)), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_plain_where_nothing_is_gathered() -> None:
    x = torch.zeros(1)
    assert isinstance(step_linear(x), GatheredLinear)
    with torch.no_grad():
        assert step_linear(x) is product
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert step_linear(x) is F.linear


@pytest.mark.parametrize("rows", [(0,), (1,), (3,), (70,), (2, 5)])
@pytest.mark.parametrize(("size", "outputs"), [(0, 3), (3, 0), (1, 1), (31, 5), (32, 4), (33, 7), (1536, 130)])
@pytest.mark.parametrize("bias", [True, False])
@torch.no_grad()
def test_products_are_pytorchs(rows: tuple[int, ...], size: int, outputs: int, bias: bool) -> None:
    torch.manual_seed(0)
    inputs, weight = torch.randn(*rows, size), torch.randn(outputs, size)
    add = torch.randn(outputs) if bias else None
    wanted = F.linear(inputs.double(), weight.double(), None if add is None else add.double()).float()
    turned = weight.t().contiguous().t()  # as a gradient wants it
    for same in (weight, nn.Parameter(weight), turned):
        torch.testing.assert_close(product(inputs, same, add), wanted, rtol=1e-5, atol=1e-4)
    if len(rows) == 1:
        torch.testing.assert_close(product(inputs.t().contiguous().t(), turned, add), wanted, rtol=1e-5, atol=1e-4)


@torch.no_grad()
def test_what_onednn_does_not_take_is_left_to_pytorch() -> None:
    inputs, weight = torch.randn(2, 6), torch.randn(4, 6)
    wanted = F.linear(inputs, weight)
    torch.testing.assert_close(product(inputs.double(), weight.double()).float(), wanted)
    apart = torch.stack((inputs, inputs), dim=2)[:, :, 0]  # the same numbers with gaps
    torch.testing.assert_close(product(apart, weight), wanted)
    torch.testing.assert_close(product(torch.ones(1).expand(2, 6), weight), weight.sum(1).expand(2, 4))
    assert product(inputs.to("meta"), weight.to("meta")).is_meta


@torch.no_grad()
def test_numbers_that_are_none_spread() -> None:
    assert product(torch.tensor([[torch.inf, torch.nan]]), torch.ones(1, 2)).isnan().all()


@pytest.mark.parametrize("attention", [0, 7])
@pytest.mark.parametrize("kind", [SequenceDecoder, StepwiseDecoder])
def test_decoders_write_the_same_without_onednn(
    kind: type[SequenceDecoder] | type[StepwiseDecoder], attention: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(0)
    decoder = kind(6, 4, hidden_size=5, embedding_size=3, attention_size=attention).eval()
    for features in (torch.randn(1, 8, 6), torch.randn(5, 8, 6)):
        with monkeypatch.context() as patch:
            fast = decoder.predict(features)
            patch.setattr(stepping, "_onednn", None)
            plain = decoder.predict(features)
        assert torch.equal(fast.sequence, plain.sequence)
        torch.testing.assert_close(fast.scores, plain.scores)


@pytest.mark.parametrize("attention", [0, 7])
@pytest.mark.parametrize("kind", [SequenceDecoder, StepwiseDecoder])
def test_decoders_train_the_same(
    kind: type[SequenceDecoder] | type[StepwiseDecoder], attention: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gradients() -> list[Tensor]:
        torch.manual_seed(0)
        decoder = kind(6, 4, hidden_size=5, embedding_size=3, attention_size=attention).double()
        features = torch.randn(3, 8, 6, dtype=torch.float64, requires_grad=True)
        outputs = decoder(features, 4 if isinstance(decoder, StepwiseDecoder) else [1, 4, 2])
        loss = sum(output.square().sum() for output in outputs if output is not None)
        assert isinstance(loss, Tensor)
        return list(torch.autograd.grad(loss, [*decoder.parameters(), features]))

    gathered = gradients()
    for room in ("decoder", "stepwise"):
        monkeypatch.setattr(f"orderless.model.{room}.step_linear", lambda like: F.linear)
    for ours, theirs in zip(gathered, gradients(), strict=True):
        torch.testing.assert_close(ours, theirs)


def test_under_autocast_it_trains() -> None:
    decoder = SequenceDecoder(6, 4, hidden_size=5, embedding_size=3, attention_size=7)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        logits, _ = decoder(torch.randn(3, 8, 6), [1, 4, 2])
    logits.float().square().sum().backward()
    assert all(weight.grad is not None for weight in decoder.parameters())
