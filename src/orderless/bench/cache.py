"""Decoder training on stored features against training that encodes every image, as an epoch pays for either.

What is saved is the encoder's work, so the ratio depends on the encoder: the paper's for MS-COCO, its smallest ResNet,
and the default of the recipe for laptops. The goal is the same for all.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from orderless.bench.material import coco_counts, label_sets, write_photos
from orderless.bench.measure import Row, faster, in_turns
from orderless.data.dataset import Batch, LabelledImages, LabelTable, make_loader
from orderless.data.sample import Sample
from orderless.data.transforms import Preprocessing
from orderless.labels import Vocabulary
from orderless.loss import sequence_loss
from orderless.model.encoder import Encoder, in_portions
from orderless.model.folding import fold_batchnorm
from orderless.model.network import build_head
from orderless.order import pla
from orderless.recipes import recipe
from orderless.training.features import VIEWS, CachedDataset, FeatureStore


def rows(quick: bool) -> Iterator[Row]:
    encoders = [("resnet101", 288), ("resnet50", 224), ("lite0", 192)]
    for backbone, size in [("test_resnet", 64)] if quick else encoders:
        with tempfile.TemporaryDirectory() as folder:
            sides = _compare(Path(folder), backbone, size, 4 if quick else 64, quick)
            yield faster("cache", f"epoch of the decoder, {backbone} {size}", sides, 20.0)


def _compare(folder: Path, backbone: str, size: int, images: int, quick: bool) -> tuple[float, float]:
    names = tuple(f"label {number:02d}" for number in range(80))
    sets = label_sets(coco_counts(images), len(names))
    paths = write_photos(folder, images)
    samples = [Sample(p, tuple(names[i] for i in row.nonzero())) for p, row in zip(paths, sets, strict=True)]
    table = LabelTable(samples, Vocabulary(names, (1,) * len(names)))
    torch.manual_seed(0)
    encoder = fold_batchnorm(Encoder(backbone))
    preprocessing = Preprocessing(size, encoder.mean, encoder.std, encoder.interpolation)
    pictures = LabelledImages(table, samples, preprocessing.test_transform(), size)

    @torch.no_grad()
    def encode(inputs: Tensor) -> Tensor:
        return in_portions(encoder, inputs)

    features = encode(torch.zeros(1, 3, size, size))  # [1, cells, C]
    store = FeatureStore(folder / "features")
    stored = np.random.default_rng(0).random((images, VIEWS, *features.shape[1:]), np.float32).astype(np.float16)
    store.write_shard([str(number) for number in range(images)], stored)
    cached = CachedDataset(store, [(0, row) for row in range(images)], table, mirror=True, seed=0)

    model = recipe("quick", "pla").model  # of the recipe that trains on stored features
    decoder = build_head(model, encoder.feature_size, len(names))
    optimizer = torch.optim.AdamW(decoder.parameters(), fused=True)

    def epoch(batches: Iterable[Batch], features_of: Callable[[Tensor], Tensor]) -> None:
        for batch in batches:
            optimizer.zero_grad()
            logits, _ = decoder(features_of(batch.inputs), [count + 1 for count in batch.counts])
            torch.autograd.backward(sequence_loss(logits, pla(logits, batch.labels)))
            optimizer.step()

    return in_turns(
        lambda: epoch(make_loader(cached, images, shuffle=True), lambda inputs: inputs),
        lambda: epoch(make_loader(pictures, images, shuffle=True), encode),
        quick,
    )
