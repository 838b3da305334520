"""Layers that a loop calls at every step, and their gradients.

In prediction a step has few rows, often one, and waits for its weights; `few_rows_linear` reads them at the memory's
speed. In training autograd, left to itself, forms the gradient of a weight once per step, from the few rows that still
run, and adds it to the sum so far: most of that time goes into reading and writing the weight. `GatheredLinear` keeps
the rows of all steps and forms the gradient once, as one large product.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

try:
    from orderless.model import _rows as native
except ImportError:  # installed on a machine without a C compiler
    native = None  # type: ignore[assignment]

FEW_ROWS = 3  # with more of them PyTorch's product is as fast

Linear = Callable[[Tensor, Tensor, Tensor | None], Tensor]  # as F.linear: inputs, weight, bias


def step_linear(like: Tensor) -> Linear:
    """The linear function for one run of a loop over tensors such as `like`."""
    # Under autocast the weight's type is not the product's; that bookkeeping is left to PyTorch.
    if torch.is_autocast_enabled(like.device.type):
        return F.linear
    return GatheredLinear() if torch.is_grad_enabled() else few_rows_linear


def few_rows_linear(inputs: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """`F.linear` without gradients, faster for up to `FEW_ROWS` rows on a CPU."""
    tensors = (inputs, weight) if bias is None else (inputs, weight, bias)
    if native is None or len(inputs) > FEW_ROWS or not all(_plain(tensor) for tensor in tensors):
        return F.linear(inputs, weight, bias)
    outputs = inputs.new_empty(len(inputs), len(weight))
    native.linear(
        inputs.numpy(), weight.detach().numpy(), None if bias is None else bias.detach().numpy(), outputs.numpy()
    )
    return outputs


def _plain(tensor: Tensor) -> bool:
    """Whether it is numbers in this machine's memory, as C reads them."""
    return (
        type(tensor) in (Tensor, nn.Parameter)
        and tensor.dtype == torch.float32
        and tensor.device.type == "cpu"
        and tensor.layout == torch.strided
        and tensor.is_contiguous()
    )


def lstm_step(
    lstm: nn.LSTMCell, inputs: Tensor, hidden: Tensor, cell: Tensor, linear: Linear = F.linear
) -> tuple[Tensor, Tensor]:
    """What `lstm(inputs, (hidden, cell))` computes: the next hidden state and cell, [R, H] each."""
    gates = linear(inputs, lstm.weight_ih, lstm.bias_ih) + linear(hidden, lstm.weight_hh, lstm.bias_hh)  # [R, 4 H]
    enter, keep, new, show = gates.chunk(4, dim=1)
    cell = keep.sigmoid() * cell + enter.sigmoid() * new.tanh()
    return show.sigmoid() * cell.tanh(), cell


class GatheredLinear:
    """`F.linear` for the steps of one loop; a weight's gradient is formed once, when all steps have been gone back."""

    def __init__(self) -> None:
        self._calls: dict[int, tuple[Tensor, list[tuple[Tensor, Tensor]]]] = {}

    def __call__(self, inputs: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        if not weight.requires_grad:
            return F.linear(inputs, weight, bias)
        if id(weight) not in self._calls:
            rows: list[tuple[Tensor, Tensor]] = []
            self._calls[id(weight)] = _Gather.apply(weight, bias, rows), rows  # type: ignore[no-untyped-call]
        link, rows = self._calls[id(weight)]
        fixed_bias = None if bias is None else bias.detach()
        output: Tensor = _Call.apply(inputs, weight.detach(), fixed_bias, link, rows)  # type: ignore[no-untyped-call]
        return output


class _Gather(torch.autograd.Function):
    """Gives all calls of a weight a common origin, which autograd reaches after the last of them."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, bias: Tensor | None, rows: list[tuple[Tensor, Tensor]]) -> Tensor:
        ctx.rows, ctx.has_bias = rows, bias is not None
        return weight.new_zeros(())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, _: Tensor) -> tuple[Tensor, Tensor | None, None]:
        inputs = torch.cat([row for row, _ in ctx.rows])  # [rows of all steps, in]
        gradients = torch.cat([row for _, row in ctx.rows])  # [rows of all steps, out]
        ctx.rows.clear()
        return gradients.t() @ inputs, gradients.sum(0) if ctx.has_bias else None, None


class _Call(torch.autograd.Function):
    """One step."""

    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        link: Tensor,
        rows: list[tuple[Tensor, Tensor]],
    ) -> Tensor:
        ctx.save_for_backward(inputs, weight)
        ctx.rows = rows
        return F.linear(inputs, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, None, None, Tensor, None]:
        inputs, weight = ctx.saved_tensors
        ctx.rows.append((inputs, gradient))
        before = gradient @ weight if ctx.needs_input_grad[0] else None
        return before, None, None, gradient.new_zeros(()), None
