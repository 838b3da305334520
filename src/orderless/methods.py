"""The methods by name: which head, which order, whose idea."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

HeadName = Literal["binary", "ranking", "query", "sequence", "stepwise", "semantic", "joint"]


@dataclass(frozen=True)
class Method:
    """A way to learn label sets."""

    name: str
    head: HeadName
    order: str | None  # of a sequence head
    summary: str
    paper: str
    loss: Literal["bce", "asl"] = "bce"  # of a head that judges every label on its own
    attention: bool | None = None  # None: a choice, or of no consequence

    @property
    def writes(self) -> bool:
        """Whether the model writes its labels one after another."""
        return self.head in ("sequence", "stepwise", "semantic", "joint")

    @property
    def thresholded(self) -> bool:
        """Whether a threshold on probabilities decides which labels are predicted."""
        return self.head in ("binary", "ranking", "query", "stepwise", "joint")


_YAZICI = "Yazici et al., Orderless Recurrent Models for Multi-label Classification, CVPR 2020"
_LIU = "Liu et al., Semantic Regularisation for Recurrent Image Annotation, CVPR 2017"

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        Method("bce", "binary", None, "every label on its own, binary cross-entropy, threshold 0.5", _YAZICI),
        Method("random", "sequence", "random", "a new random order for every image in every batch", _YAZICI),
        Method(
            "frequent", "sequence", "frequent", "frequent labels first",
            "Wang et al., CNN-RNN: A Unified Framework for Multi-label Image Classification, CVPR 2016",
        ),
        Method("rare", "sequence", "rare", "rare labels first", _LIU),
        Method(
            "dictionary", "sequence", "dictionary", "labels in alphabetical order",
            "Jin and Nakayama, Annotation Order Matters, ICPR 2016",
        ),
        Method("mla", "sequence", "mla", "minimal loss alignment: the order of least loss", _YAZICI),
        Method("pla", "sequence", "pla", "predicted label alignment: the order the model chose", _YAZICI),
        Method(
            "order-free", "stepwise", None, "all labels judged at every step; the surest is written, none twice",
            "Chen et al., Order-Free RNN with Visual Attention for Multi-Label Classification, AAAI 2018",
        ),
        Method(
            "sr-cnn-rnn", "semantic", "rare", "the CNN's label probabilities feed the decoder; rare labels first",
            _LIU, attention=False,
        ),
        Method(
            "lsep", "ranking", None, "true labels ranked above false ones, a learned threshold for each",
            "Li, Song and Luo, Improving Pairwise Ranking for Multi-label Image Classification, CVPR 2017",
        ),
        Method(
            "asl", "binary", None, "every label on its own, easy negatives discounted (asymmetric loss)",
            "Ridnik et al., Asymmetric Loss for Multi-Label Classification, ICCV 2021", loss="asl",
        ),
        Method(
            "ml-decoder", "query", None, "a query per label attends to the image; asymmetric loss",
            "Ridnik et al., ML-Decoder: Scalable and Versatile Classification Head, WACV 2023", loss="asl",
            attention=True,
        ),
        Method(
            "joint", "joint", "pla", "a PLA decoder and a query per label vote; the default for small data",
            "orderless: docs/accuracy.md", attention=True,
        ),
    )
}  # fmt: skip
