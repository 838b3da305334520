"""Alignments: the ground truth re-arranged to the order that the model chose.

MLA (minimal loss alignment) gives each of an image's n labels one of the first n steps so that the summed
-log P is least. PLA (predicted label alignment) first pins every label that the model predicts within those n
steps to the step where it predicts it (the first, if it does so twice), and assigns only the rest.

The batch crosses to the CPU once, as one tensor; only the solver runs per image, and only where something
is left to decide.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from orderless.order.fixed import IGNORE


def mla(logits: Tensor, labels: Tensor) -> Tensor:
    """logits [B, T, m + 1], labels [B, m] bool -> targets [B, T] of the least summed cross-entropy."""
    return _align(logits, labels, pin=False)


def pla(logits: Tensor, labels: Tensor) -> Tensor:
    """logits [B, T, m + 1], labels [B, m] bool -> targets [B, T] that keep every right prediction in its place."""
    return _align(logits, labels, pin=True)


@torch.no_grad()
def _align(logits: Tensor, labels: Tensor, pin: bool) -> Tensor:
    batch, steps, outputs = logits.shape
    if labels.shape != (batch, outputs - 1):
        raise ValueError(f"labels are {tuple(labels.shape)}, but logits {tuple(logits.shape)} want {batch, outputs - 1}")
    # The last step can only hold the end token, so at most steps - 1 labels are placed; which of the columns
    # are real is known on the CPU, without asking the device.
    width = min(steps - 1, outputs - 1)
    columns = labels.byte().argsort(dim=1, descending=True, stable=True)[:, :width]  # [B, width], true labels first
    log_p = logits[:, :width].float().log_softmax(dim=2)  # [B, width, m + 1]
    cost = -log_p.gather(2, columns.unsqueeze(1).expand(-1, width, -1))  # [B, step, column]
    packed = torch.cat(
        (
            labels.sum(dim=1, keepdim=True).float(),
            columns.float(),  # exact: vocabularies are far smaller than 2**24
            logits[:, :width].argmax(dim=2).float(),
            cost.flatten(1),
        ),
        dim=1,
    )
    table = packed.cpu().numpy()  # the one transfer
    counts = table[:, 0].astype(np.intp)
    if counts.max(initial=0) > steps - 1:
        raise ValueError(f"an image has {counts.max()} labels, but {steps} steps hold only {steps - 1} and the end")
    columns_np = table[:, 1 : 1 + width].astype(np.int64)
    predicted = table[:, 1 + width : 1 + 2 * width].astype(np.int64)
    costs = table[:, 1 + 2 * width :].reshape(batch, width, width)

    targets = arrange(costs, columns_np, predicted if pin else None, counts, steps, end=outputs - 1)
    return torch.from_numpy(targets).to(logits.device, non_blocking=True)


def arrange(
    costs: NDArray[np.float32],
    columns: NDArray[np.int64],
    predicted: NDArray[np.int64] | None,
    counts: NDArray[np.intp],
    steps: int,
    end: int,
) -> NDArray[np.int64]:
    """Solve a batch on the CPU.

    costs [B, W, W] is -log P of column k at step t; columns [B, W] names the label of each column; predicted
    [B, W] is the label chosen at each step (None: nothing is pinned); counts [B] is n. Returns [B, steps].
    """
    batch, width = columns.shape
    place = np.arange(width)
    inside = place < counts[:, None]  # [B, W]: steps (and columns) below n
    if not np.isfinite(costs, where=inside[:, :, None] & inside[:, None, :], out=np.ones_like(costs, bool)).all():
        bad = ~(np.isfinite(costs) | ~(inside[:, :, None] & inside[:, None, :])).all(axis=(1, 2))
        raise ValueError(
            f"cannot align image {int(np.flatnonzero(bad)[0])} of the batch: its logits are not finite, "
            "or give a true label no probability at all"
        )
    chosen = np.full((batch, width), -1, dtype=np.intp)  # [B, step] -> column
    if predicted is not None:
        pins = (predicted[:, :, None] == columns[:, None, :]) & inside[:, :, None] & inside[:, None, :]  # [B, t, k]
        pins &= np.cumsum(pins, axis=1) == 1  # a label predicted twice is pinned at its first step only
        image, step, column = np.nonzero(pins)
        chosen[image, step] = column
    for i in np.flatnonzero(((chosen < 0) & inside).any(axis=1)):
        n = counts[i]
        free_steps = np.flatnonzero(chosen[i, :n] < 0)
        if len(free_steps) == n:
            chosen[i, :n] = linear_sum_assignment(costs[i, :n, :n])[1]
            continue
        free = np.ones(n, dtype=bool)
        free[chosen[i, :n][chosen[i, :n] >= 0]] = False
        free_columns = np.flatnonzero(free)
        if len(free_steps) == 1:
            chosen[i, free_steps] = free_columns
        else:
            _, assigned = linear_sum_assignment(costs[i][free_steps[:, None], free_columns])
            chosen[i, free_steps] = free_columns[assigned]
    targets = np.full((batch, steps), IGNORE, dtype=np.int64)
    targets[:, :width] = np.where(inside, np.take_along_axis(columns, np.maximum(chosen, 0), axis=1), IGNORE)
    targets[np.arange(batch), counts] = end
    return targets
