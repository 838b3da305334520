"""A PLA step against a BCE step: encoder, head, backward, optimizer."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import torch
from torch import Tensor, nn

from orderless.bench.material import coco_counts, label_sets
from orderless.bench.measure import Row, in_turns, no_dearer
from orderless.loss import binary_cross_entropy, sequence_loss
from orderless.model.binary import BinaryHead
from orderless.model.decoder import SequenceDecoder
from orderless.model.encoder import Encoder
from orderless.order import pla


def rows(quick: bool) -> Iterator[Row]:
    backbone, size, batch = ("test_resnet", 64, 2) if quick else ("resnet50", 224, 16)
    torch.manual_seed(0)
    encoder = Encoder(backbone).train()
    counts = coco_counts(batch)
    labels = label_sets(counts, 80)
    images = torch.randn(batch, 3, size, size)
    decoder, binary = SequenceDecoder(encoder.feature_size, 80), BinaryHead(encoder.feature_size, 80)

    def pla_loss() -> Tensor:
        logits, _ = decoder(encoder(images), [count + 1 for count in counts])
        return sequence_loss(logits, pla(logits, labels))

    sides = in_turns(
        _step(encoder, decoder, pla_loss),
        _step(encoder, binary, lambda: binary_cross_entropy(binary(encoder(images)), labels)),
        quick,
        least=6,
    )
    yield no_dearer("train", f"PLA step against BCE step, {backbone} {size}, batch {batch}", sides, 1.10)


def _step(encoder: nn.Module, head: nn.Module, loss: Callable[[], Tensor]) -> Callable[[], None]:
    optimizer = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=1e-4, momentum=0.9, fused=True)

    def step() -> None:
        optimizer.zero_grad()
        torch.autograd.backward(loss())
        optimizer.step()

    return step
