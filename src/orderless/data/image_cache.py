"""An optional cache of resized images, for training that decodes the same photos epoch after epoch."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from pathlib import Path

import numpy as np
from PIL import Image

from orderless.data.images import PIXEL_LIMIT
from orderless.data.sample import Sample
from orderless.data.transforms import Preprocessing
from orderless.files import temporary_name


class ImageCache:
    """Resized images as plain bytes, one file each, found by the hash of the original's bytes.

    Safe to delete, and safe against a kill: a file is renamed into place, and one of the wrong size is ignored.
    """

    def __init__(self, root: Path, preprocessing: Preprocessing) -> None:
        self.folder = root / "images" / f"{preprocessing.size}-{preprocessing.interpolation}"
        self.preprocessing = preprocessing

    def bytes_needed(self, images: int) -> int:
        return images * self.preprocessing.size**2 * 3

    def load(self, sample: Sample, pixel_limit: int = PIXEL_LIMIT) -> Image.Image:
        """The sample's image at the cache's size; decoded and kept if this is the first time."""
        side = self.preprocessing.size
        name = hashlib.sha256(_identity(sample)).hexdigest()
        file = self.folder / name[:2] / name[2:32]
        try:
            pixels = np.fromfile(file, np.uint8)
        except OSError:
            pixels = np.zeros(0, np.uint8)
        if pixels.size != side * side * 3:
            pixels = self.preprocessing.resize(sample.load(size=side, pixel_limit=pixel_limit))
            _keep(file, pixels.tobytes())
        return Image.fromarray(pixels.reshape(side, side, 3))


def _keep(file: Path, content: bytes) -> None:
    """Unless there is no room or no permission: then the image is decoded again next time."""
    temporary = temporary_name(file)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        temporary.write_bytes(content)  # not flushed to the disk: one of the wrong size is ignored
        temporary.replace(file)
    except OSError:
        with suppress(OSError):
            temporary.unlink()


def _identity(sample: Sample) -> bytes:
    try:
        return sample.source_bytes()
    except OSError:
        return sample.name.encode("utf-8", "surrogateescape")  # loading it will say what is wrong
