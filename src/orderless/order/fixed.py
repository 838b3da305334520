"""Orders that do not look at the model: by frequency, by name, or by chance."""

from __future__ import annotations

import torch
from torch import Tensor

from orderless.labels import Vocabulary

IGNORE = -100  # PyTorch's own value for targets that carry no loss


def frequent_rank(vocabulary: Vocabulary) -> list[int]:
    """Rank of every label, most frequent first; ties by name."""
    return _ranks(vocabulary, lambda i: (-vocabulary.frequencies[i], vocabulary.names[i]))


def rare_rank(vocabulary: Vocabulary) -> list[int]:
    """Rank of every label, rarest first; ties by name."""
    return _ranks(vocabulary, lambda i: (vocabulary.frequencies[i], vocabulary.names[i]))


def dictionary_rank(vocabulary: Vocabulary) -> list[int]:
    """Rank of every label by name."""
    return _ranks(vocabulary, lambda i: (0, vocabulary.names[i]))


def _ranks(vocabulary: Vocabulary, key) -> list[int]:  # type: ignore[no-untyped-def]
    ranks = [0] * len(vocabulary)
    for rank, label in enumerate(sorted(range(len(vocabulary)), key=key)):
        ranks[label] = rank
    return ranks


class FixedOrder:
    """Arranges every image's labels by one ranking of the vocabulary."""

    def __init__(self, ranks: list[int]) -> None:
        self.ranks = torch.tensor(ranks, dtype=torch.float)  # [m], lower comes first

    def __call__(self, logits: Tensor, labels: Tensor) -> Tensor:
        return arrange_by(self.ranks.to(labels.device).expand(labels.shape), labels, logits.shape[1])


def random_order(logits: Tensor, labels: Tensor) -> Tensor:
    """A new order for every image at every call."""
    return arrange_by(torch.rand(labels.shape, device=labels.device), labels, logits.shape[1])


def arrange_by(keys: Tensor, labels: Tensor, steps: int) -> Tensor:
    """Targets [B, steps]: each image's labels by ascending key [B, m], then the end token, then IGNORE."""
    ranked = torch.where(labels.bool(), keys, torch.inf).argsort(dim=1, stable=True)  # [B, m], true labels first
    return close_targets(ranked, labels.sum(dim=1), steps, end=labels.shape[1])


def close_targets(ranked: Tensor, counts: Tensor, steps: int, end: int) -> Tensor:
    """[B, >= n] label indices of which the first `counts` [B] count -> [B, steps] with end token and IGNORE."""
    step = torch.arange(steps, device=ranked.device).unsqueeze(0)  # [1, steps]
    room = steps - ranked.shape[1]
    body = torch.nn.functional.pad(ranked, (0, room)) if room > 0 else ranked[:, :steps]
    n = counts.unsqueeze(1)  # [B, 1]
    return torch.where(step < n, body, torch.where(step == n, end, IGNORE))
