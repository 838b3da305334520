"""The loading pipeline (decode, resize, normalise, collate) against bare JPEG decoding at full size.

At 288 pixels, the paper's size for MS-COCO, a photo of 640x480 cannot be decoded at half its size: the hardest case.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from PIL import Image

from orderless.bench.material import write_photos
from orderless.bench.measure import Row, faster, in_turns
from orderless.data.dataset import ImageDataset, make_loader, side_by_side
from orderless.data.sample import Sample
from orderless.data.transforms import Preprocessing


def rows(quick: bool) -> Iterator[Row]:
    count = 4 if quick else 64
    for width, height, size in ((640, 480, 192), (640, 480, 288), (1600, 1200, 192)):
        with tempfile.TemporaryDirectory() as folder:
            paths = write_photos(Path(folder), count if width < 1000 else max(4, count // 4), width, height)
            preprocessing = Preprocessing(size, (0.5,) * 3, (0.25,) * 3, "bicubic")
            dataset = ImageDataset([Sample(path, ()) for path in paths], preprocessing.test_transform(), size)

            sides = in_turns(partial(_load, dataset), partial(_decode, paths), quick)
            yield faster("data", f"{width}x{height} photos to {size}", sides, 0.8)


def _load(dataset: ImageDataset) -> None:
    for _ in make_loader(dataset, 32, shuffle=False):
        pass


def _decode(paths: list[Path]) -> None:
    list(side_by_side(_decode_one, paths))  # in as many threads as loading


def _decode_one(path: Path) -> None:
    with Image.open(path) as image:
        image.load()
