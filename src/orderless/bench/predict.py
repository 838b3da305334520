"""Tagging (encoder, decoder, results as Python objects) against the encoder's forward alone.

Each encoder has the decoder of its recipe: ResNet-50 the paper's, Lite0 that of the recipe for laptops, whose attention
is smaller, alone and as half of that recipe's default method. The goals are the same for all.
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
    cases = [("resnet50", 224, "pla"), ("lite0", 192, "pla"), ("lite0", 192, "joint")]
    for backbone, size, method in [("test_resnet", 64, "pla")] if quick else cases:
        with tempfile.TemporaryDirectory() as folder:
            tagger = load(write_run(Path(folder) / "run", backbone, size, method), device="cpu")
        for batch, goal in ((32, 1.08), (1, 1.15)):
            images = torch.randn(batch, 3, size, size)
            names = [str(number) for number in range(batch)]
            sides = in_turns(partial(_tag, tagger, images, names), partial(_encode, tagger, images), quick, least=6)
            case = f"{method}, LSTM of {tagger.config.model.hidden}, {backbone} {size}, batch {batch}"
            yield no_dearer("predict", case, sides, goal)


def _tag(tagger: Tagger, images: torch.Tensor, names: list[str]) -> list[Result]:
    return tagger._results(tagger._predict_tensor(images), names)


@torch.inference_mode()
def _encode(tagger: Tagger, images: torch.Tensor) -> torch.Tensor:
    features: torch.Tensor = tagger.model.encoder(images)
    return features
