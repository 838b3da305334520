"""Images of a batch decoded by several threads: each at its place, bad ones named and left out."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from orderless.data.dataset import ImageDataset, make_loader, side_by_side
from orderless.data.sample import Sample
from orderless.data.transforms import Preprocessing

PREPROCESSING = Preprocessing(16, (0.5,) * 3, (0.25,) * 3, "bicubic")


@pytest.fixture
def samples(tmp_path: Path) -> list[Sample]:
    """Twelve small photos, of which the first, two in the middle and the last cannot be read."""
    dice = np.random.default_rng(0)
    for number in range(12):
        Image.fromarray(dice.integers(0, 256, (20, 30, 3), dtype=np.uint8)).save(tmp_path / f"{number:02d}.png")
    for number in (0, 4, 5, 11):
        (tmp_path / f"{number:02d}.png").write_bytes(b"no picture")
    return [Sample(file, ()) for file in sorted(tmp_path.iterdir())]


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("batch", [1, 5, 12])
def test_every_image_is_at_its_place(
    samples: list[Sample], threads: int, batch: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    transform = PREPROCESSING.test_transform()
    read: list[int] = []
    failed: list[int] = []
    for found in make_loader(ImageDataset(samples, transform, 16), batch, shuffle=False):
        for image, row in zip(found.inputs, found.rows, strict=True):
            assert torch.equal(image, transform(samples[row].load(size=16)))
        read += found.rows
        failed += [index for index, _ in found.unreadable]
    assert read == [1, 2, 3, 6, 7, 8, 9, 10]
    assert failed == [0, 4, 5, 11]


def test_other_errors_come_through(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    with pytest.raises(ZeroDivisionError):
        list(side_by_side(lambda number: 1 / number, [2, 1, 0]))
    assert list(side_by_side(lambda a, b: a - b, range(9), range(0, 18, 2))) == [-number for number in range(9)]
