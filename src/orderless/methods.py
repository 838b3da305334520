"""The methods by name: which head, which order, whose idea."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Method:
    """A way to learn label sets."""

    name: str
    head: Literal["binary", "sequence"]
    order: str | None  # of a sequence head
    summary: str
    paper: str


_YAZICI = "Yazici et al., Orderless Recurrent Models for Multi-label Classification, CVPR 2020"

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("bce", "binary", None, "every label on its own, binary cross-entropy, threshold 0.5", _YAZICI),
        Method("random", "sequence", "random", "a new random order for every image in every batch", _YAZICI),
        Method(
            "frequent", "sequence", "frequent", "frequent labels first",
            "Wang et al., CNN-RNN: A Unified Framework for Multi-label Image Classification, CVPR 2016",
        ),
        Method(
            "rare", "sequence", "rare", "rare labels first",
            "Liu et al., Semantic Regularisation for Recurrent Image Annotation, CVPR 2017",
        ),
        Method(
            "dictionary", "sequence", "dictionary", "labels in alphabetical order",
            "Jin and Nakayama, Annotation Order Matters, ICPR 2016",
        ),
        Method("mla", "sequence", "mla", "minimal loss alignment: the order of least loss", _YAZICI),
        Method("pla", "sequence", "pla", "predicted label alignment: the order the model chose", _YAZICI),
    )
}  # fmt: skip
