"""Tagging (encoder, decoder, results as Python objects) against the encoder's forward alone.

Each encoder has the decoder of its recipe: ResNet-50 the paper's, Lite0 the smaller one of the recipe for laptops.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import torch

from orderless.bench.material import write_run
from orderless.bench.measure import Row, in_turns, no_dearer
from orderless.tagger import Result, Tagger, load


def rows(quick: bool) -> Iterator[Row]:
    encoders = [("resnet50", 224), ("lite0", 192)]
    for backbone, size in [("test_resnet", 64)] if quick else encoders:
        with tempfile.TemporaryDirectory() as folder:
            tagger = load(write_run(Path(folder) / "run", backbone, size), device="cpu")
        hidden = tagger.config.model.hidden
        for batch, goal in ((32, 1.08), (1, 1.15)):
            images = torch.randn(batch, 3, size, size)
            names = [str(number) for number in range(batch)]
            sides = in_turns(partial(_tag, tagger, images, names), partial(_encode, tagger, images), quick, least=6)
            yield no_dearer("predict", f"{backbone} {size}, LSTM of {hidden}, batch {batch}", sides, goal)


def _tag(tagger: Tagger, images: torch.Tensor, names: list[str]) -> list[Result]:
    return tagger._results(tagger._predict_tensor(images), names)


@torch.inference_mode()
def _encode(tagger: Tagger, images: torch.Tensor) -> torch.Tensor:
    features: torch.Tensor = tagger.model.encoder(images)
    return features
