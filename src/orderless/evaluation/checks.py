"""What every metric asks of its inputs, each refusal in one sentence."""

from __future__ import annotations

import torch
from torch import Tensor


def check_labels(truth: Tensor, predicted: Tensor | None = None, ignore: Tensor | None = None) -> None:
    """`truth`, `predicted` and `ignore` are boolean and all of one shape `[images, labels]`."""
    for name, labels in (("truth", truth), ("predicted", predicted), ("ignore", ignore)):
        if labels is None:
            continue
        _check_tensor(name, labels)
        if labels.dtype != torch.bool:
            raise ValueError(f"{name} must be a bool tensor [images, labels], not {_kind(labels)}")
        if labels.ndim != 2 or labels.shape[1] == 0:
            raise ValueError(f"{name} must have the shape [images, labels], not {list(labels.shape)}")
        if labels.shape != truth.shape:
            raise ValueError(f"{name} has the shape {list(labels.shape)} but truth has {list(truth.shape)}")


def check_scores(scores: Tensor, truth: Tensor) -> None:
    """`scores` are floats in [0, 1], of the shape of `truth`."""
    _check_tensor("scores", scores)
    if not scores.dtype.is_floating_point:
        raise ValueError(f"scores must be a float tensor [images, labels], not {_kind(scores)}")
    if scores.shape != truth.shape:
        raise ValueError(f"scores have the shape {list(scores.shape)} but truth has {list(truth.shape)}")
    # Written so that NaN, which compares false with everything, is refused too.
    if not bool(((scores >= 0) & (scores <= 1)).all()):
        raise ValueError("scores must be probabilities between 0 and 1 (turn logits into probabilities first)")


def check_sequences(sequences: Tensor, labels: int | None = None, images: int | None = None) -> None:
    """`sequences` are integers `[images, steps]`: label indices, then -1 to the end of the row."""
    _check_tensor("sequences", sequences)
    if sequences.dtype.is_floating_point or sequences.dtype.is_complex or sequences.dtype == torch.bool:
        raise ValueError(f"sequences must be an integer tensor [images, steps], not {_kind(sequences)}")
    if sequences.ndim != 2:
        raise ValueError(f"sequences must have the shape [images, steps], not {list(sequences.shape)}")
    if images is not None and sequences.shape[0] != images:
        raise ValueError(f"there are {sequences.shape[0]} sequences but {images} images")
    if sequences.numel() == 0:
        return
    if int(sequences.min()) < -1:
        raise ValueError(f"sequences hold {int(sequences.min())}; they are padded with -1 and nothing below it")
    if labels is not None and int(sequences.max()) >= labels:
        raise ValueError(
            f"sequences hold the index {int(sequences.max())} but there are {labels} labels (the end token is left out)"
        )
    if bool(((sequences[:, :-1] == -1) & (sequences[:, 1:] != -1)).any()):
        raise ValueError("sequences go on after their end: behind the first -1 there must be only -1")


def _kind(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _check_tensor(name: str, value: object) -> None:
    if not isinstance(value, Tensor):
        raise ValueError(f"{name} must be a torch tensor, not {type(value).__name__} (torch.as_tensor makes one)")
