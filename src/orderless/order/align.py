"""Alignments: the ground truth re-arranged to the order that the model chose.

MLA (minimal loss alignment) gives each of an image's n labels one of the first n steps so that the summed
-log P is least. PLA (predicted label alignment) first pins every label that the model predicts within those n
steps to the step where it predicts it (the first, if it does so twice), and assigns only the rest.

On a CPU, `_align.c` does a batch in one call. On a GPU, and where that file was not compiled, the batch crosses to
the CPU once, as one tensor, and SciPy solves what is left to decide. Both give the same targets, or, where costs
tie, targets of the same cost.
"""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from orderless.order.fixed import IGNORE

try:
    from orderless.order import _align as native
except ImportError:  # installed on a machine without a C compiler
    native = None  # type: ignore[assignment]


def mla(logits: Tensor, labels: Tensor) -> Tensor:
    """logits [B, T, m + 1], labels [B, m] bool -> targets [B, T] of the least summed cross-entropy."""
    return _align(logits, labels, pin=False)


def pla(logits: Tensor, labels: Tensor) -> Tensor:
    """logits [B, T, m + 1], labels [B, m] bool -> targets [B, T] that keep every right prediction in its place."""
    return _align(logits, labels, pin=True)


def _align(logits: Tensor, labels: Tensor, pin: bool) -> Tensor:
    batch, steps, outputs = logits.shape
    if labels.shape != (batch, outputs - 1):
        raise ValueError(
            f"labels are {tuple(labels.shape)}, but logits {tuple(logits.shape)} want {batch, outputs - 1}"
        )
    if native is None or logits.device.type != "cpu":
        return _align_by_table(logits.detach(), labels, pin)
    values, truth = logits.float().contiguous(), labels.bool().contiguous()
    targets = torch.empty((batch, steps), dtype=torch.long)
    # By address: to look at three tensors as arrays takes longer than to align a small batch.
    failed = native.align(values.data_ptr(), truth.data_ptr(), targets.data_ptr(), batch, steps, outputs - 1, pin)
    if failed >= 0:
        _check_counts(labels.sum(dim=1).numpy(), steps)
        raise _not_finite(failed)
    return targets


def _align_by_table(logits: Tensor, labels: Tensor, pin: bool) -> Tensor:
    batch, steps, outputs = logits.shape
    n_labels = outputs - 1
    # The last step can only hold the end token, so at most steps - 1 labels are placed; which of the columns
    # are real is known on the CPU, without asking the device.
    width = min(steps - 1, n_labels)
    logits = logits[:, :width].float()  # [B, step, m + 1]
    descending = torch.arange(n_labels, 0, -1, device=labels.device)  # [m]
    columns = (labels * descending).topk(width, dim=1).indices  # [B, column], true labels first, by index
    predicted = _argmax(logits)  # [B, step]
    packed = torch.cat(
        (
            labels.sum(dim=1, keepdim=True).float(),
            columns.float(),  # exact: vocabularies are far smaller than 2**24
            predicted.float(),
            logits.gather(2, predicted.unsqueeze(2)).flatten(1),  # not finite if anything of its row is not
            # -log P but for a term that depends on the step alone: it adds the same to every assignment.
            -logits.gather(2, columns.unsqueeze(1).expand(-1, width, -1)).flatten(1),
        ),
        dim=1,
    )
    table = packed.cpu().numpy()  # the one transfer
    counts = table[:, 0].astype(np.intp)
    names, choices, tops = (table[:, 1 + part * width : 1 + (part + 1) * width] for part in range(3))  # [B, W] each
    costs = table[:, 1 + 3 * width :].reshape(batch, width, width)  # [B, step, column]
    _check_counts(counts, steps)
    inside = np.arange(width) < counts[:, None]  # [B, step or column] below n
    needed = inside[:, :, None] & inside[:, None, :]  # [B, step, column]
    finite = (np.isfinite(costs) & np.isfinite(tops)[:, :, None]) | ~needed
    if not finite.all():
        raise _not_finite(int(np.argmin(finite.all(axis=(1, 2)))))
    pins = (choices[:, :, None] == names[:, None, :]) & needed if pin else None
    chosen = _assign(costs, counts, pins)  # [B, step] -> column
    rows = np.arange(batch)
    targets = np.full((batch, steps), IGNORE, dtype=np.int64)
    targets[:, :width] = np.where(inside, names[rows[:, None], chosen], IGNORE)
    targets[rows, counts] = n_labels  # the end token
    return torch.from_numpy(targets).to(labels.device, non_blocking=True)


def _check_counts(counts: NDArray[np.intp], steps: int) -> None:
    if counts.max(initial=0) > steps - 1:
        raise ValueError(f"an image has {counts.max()} labels, but {steps} steps hold only {steps - 1} and the end")


def _not_finite(image: int) -> ValueError:
    return ValueError(
        f"cannot align image {image} of the batch: its logits are not finite, "
        "or give a true label no probability at all"
    )


def _assign(costs: NDArray[np.float32], counts: NDArray[np.intp], right: NDArray[np.bool_] | None) -> NDArray[np.intp]:
    """The column of every step that costs least in sum, on the CPU; steps from n on mean nothing.

    costs [B, W, W] of column k at step t; counts [B] is n; right [B, W, W] tells where the model predicted a true
    label, to be pinned there (None: nothing is pinned).
    """
    chosen = np.zeros(costs.shape[:2], dtype=np.intp)  # [B, step]; right already where n is 1
    open_steps = counts
    if right is not None and right.size:
        first = right.argmax(axis=1)[:, None, :] == np.arange(right.shape[1])[:, None]  # [B, step, column]
        pins = right & first  # a label predicted twice is pinned at its first step only
        taken = pins.any(axis=2)[:, :, None] | pins.any(axis=1)[:, None, :]  # what a pin excludes
        costs = np.where(pins, 0, np.where(taken, np.inf, costs))
        chosen = pins.argmax(axis=2)
        open_steps = counts - pins.sum(axis=(1, 2))
    from scipy.optimize import linear_sum_assignment  # takes longer to import than everything above together

    for i in np.flatnonzero((open_steps > 0) & (counts > 1)):
        n = counts[i]
        chosen[i, :n] = linear_sum_assignment(costs[i, :n, :n])[1]
    return chosen


def _argmax(logits: Tensor) -> Tensor:
    """The first largest of the last dimension; on a CPU, NumPy finds it several times faster than PyTorch."""
    return torch.from_numpy(logits.numpy().argmax(-1)) if logits.device.type == "cpu" else logits.argmax(-1)
