"""The decoder's forward and backward against the straightforward one."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from orderless.bench.material import coco_counts, label_sets
from orderless.bench.measure import Row, faster, in_turns
from orderless.bench.plain import FIXED_STEPS, plain_decode
from orderless.loss import sequence_loss
from orderless.model.decoder import SequenceDecoder
from orderless.order.fixed import arrange_by


def rows(quick: bool) -> Iterator[Row]:
    batch, cells, channels = (2, 4, 64) if quick else (16, 49, 2048)
    torch.manual_seed(0)
    counts = coco_counts(batch)
    labels = label_sets(counts, 80)
    features = torch.randn(batch, cells, channels).relu().requires_grad_()  # as if the encoder were trained too
    decoder = SequenceDecoder(channels, 80)
    keys = torch.rand(labels.shape)
    targets = arrange_by(keys, labels, max(counts) + 1)
    padded = arrange_by(keys, labels, FIXED_STEPS)

    def ours() -> None:
        decoder.zero_grad()
        logits, _ = decoder(features, [count + 1 for count in counts])
        torch.autograd.backward(sequence_loss(logits, targets))

    def theirs() -> None:
        decoder.zero_grad()
        torch.autograd.backward(sequence_loss(plain_decode(decoder, features), padded))

    yield faster("decoder", f"batch {batch}, {cells} cells of {channels}", in_turns(ours, theirs, quick), 5.0)
