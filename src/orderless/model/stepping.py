"""Layers that a loop calls at every step, and their gradients.

A step has few rows: all of a batch at first, then those that have not ended. MKL, which multiplies for PyTorch, is slow
at that; oneDNN, which PyTorch has for convolutions, needs a third to nine tenths of its time: `product`.

In training autograd, left to itself, forms the gradient of a weight once per step, from the few rows that still
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

# PyTorch has it under this name for what its compiler writes; None in builds without oneDNN.
_built_in = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
_onednn = getattr(torch.ops.mkldnn, "_linear_pointwise", None) if _built_in else None

Linear = Callable[[Tensor, Tensor, Tensor | None], Tensor]  # as F.linear: inputs, weight, bias


def step_linear(like: Tensor) -> Linear:
    """The linear function for one run of a loop over tensors such as `like`."""
    # Under autocast the weight's type is not the product's; that bookkeeping is left to PyTorch.
    if torch.is_autocast_enabled(like.device.type):
        return F.linear
    return GatheredLinear() if torch.is_grad_enabled() else product


def product(inputs: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`F.linear` without gradients: inputs [..., in], weight [out, in], bias [out] -> [..., out]."""
    if _onednn is None or not (_plain(inputs) and _plain(weight)) or inputs.numel() == 0 or len(weight) == 0:
        return F.linear(inputs, weight, bias)
    result: Tensor = _onednn(inputs, weight, bias, "none", [], "")
    return result


def _plain(tensor: Tensor) -> bool:
    """Whether it is numbers in this machine's memory without gaps; those of a matrix by rows or by columns."""
    return (
        type(tensor) in (Tensor, nn.Parameter)
        and tensor.dtype == torch.float32
        and tensor.device.type == "cpu"
        and tensor.layout == torch.strided
        and (tensor.is_contiguous() or (tensor.dim() == 2 and tensor.t().is_contiguous()))
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
        inputs = _joined([row for row, _ in ctx.rows])  # [rows of all steps, in]
        gradients = _joined([row for _, row in ctx.rows])  # [rows of all steps, out]
        ctx.rows.clear()
        return product(gradients.t(), inputs.t()), gradients.sum(0) if ctx.has_bias else None, None


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
        return product(inputs, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, None, None, Tensor, None]:
        inputs, weight = ctx.saved_tensors
        ctx.rows.append((inputs.flatten(0, -2), gradient.flatten(0, -2)))
        before = product(gradient, weight.t()) if ctx.needs_input_grad[0] else None
        return before, None, None, gradient.new_zeros(()), None


def _joined(parts: list[Tensor]) -> Tensor:
    """One below the other; a single one as it is, for it may be large."""
    return parts[0] if len(parts) == 1 else torch.cat(parts)
