"""Orders: how the labels of an image are arranged into the sequence a decoder is trained on.

Every order is a function of the decoder's logits and the label sets,

    targets = order(logits, labels)

with `logits` [B, T, m + 1] (end token last), `labels` [B, m] bool and `targets` [B, T] long: the n labels of
an image, then the end token m, then `IGNORE`, which carries no loss. Fixed orders do not read the logits.
Use them in any training loop:

    from orderless.order import pla
    loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), pla(logits, labels).flatten())
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor

from orderless.errors import UsageError
from orderless.labels import Vocabulary
from orderless.order.align import mla, pla
from orderless.order.fixed import IGNORE, FixedOrder, dictionary_rank, frequent_rank, random_order, rare_rank

Order = Callable[[Tensor, Tensor], Tensor]

ORDERS = ("random", "frequent", "rare", "dictionary", "mla", "pla")

__all__ = ["IGNORE", "ORDERS", "FixedOrder", "Order", "make_order", "mla", "pla", "random_order"]


def make_order(name: str, vocabulary: Vocabulary) -> Order:
    """The order of that name; fixed orders take their ranks from the vocabulary's training frequencies."""
    if name == "mla":
        return mla
    if name == "pla":
        return pla
    if name == "random":
        return random_order
    ranks = {"frequent": frequent_rank, "rare": rare_rank, "dictionary": dictionary_rank}
    if name not in ranks:
        raise UsageError(f"there is no order {name!r}; choose one of {', '.join(ORDERS)}")
    return FixedOrder(ranks[name](vocabulary))
