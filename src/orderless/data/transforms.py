"""From an RGB image to the tensor an encoder reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from orderless.data import resizing

try:
    from orderless.data import _pixels as native
except ImportError:  # installed on a machine without a C compiler
    native = None  # type: ignore[assignment]

Pixels = NDArray[np.uint8]


@dataclass(frozen=True)
class Preprocessing:
    """How an encoder wants its images: the one description that training, prediction and export share.

    The whole image is squeezed into a square, as the paper does: a crop could cut a label away.
    """

    size: int
    mean: tuple[float, ...]
    std: tuple[float, ...]
    interpolation: str = "bilinear"

    def test_transform(self) -> Transform:
        """Resize and normalise."""
        return Transform(self, self.resize)

    def train_transform(self) -> Transform:
        """The paper's augmentation: small random affine shifts, mirror images, changes of contrast."""
        import orderless.torchvision_ops  # noqa: F401  must come before torchvision

        from torchvision.transforms import v2  # isort: skip  here: tagging does without it

        changes = v2.Compose(
            [
                self.resize,
                Image.fromarray,
                v2.RandomHorizontalFlip(),
                v2.RandomAffine(degrees=0, translate=(0.1, 0.1), scale=(0.9, 1.1), shear=5),
                v2.ColorJitter(contrast=0.25),
                np.asarray,
            ]
        )
        return Transform(self, changes, random=True)

    def resize(self, image: Image.Image) -> Pixels:
        """To [S, S, 3], in memory perhaps [S, S, 4]."""
        if resizing.compiled() or self.interpolation not in resizing.FILTERS or image.size == (self.size, self.size):
            return resizing.resize(image, self.size, self.interpolation)
        # Without a C compiler: the same bytes from PyTorch, which takes half as long again; NumPy takes far longer.
        with resizing.pixels_of(image) as pixels:  # [H, W, 4]
            colours_last = torch.from_numpy(pixels).unsqueeze(0).permute(0, 3, 1, 2)  # [1, 4, H, W]
            resized = F.interpolate(colours_last, (self.size, self.size), mode=self.interpolation, antialias=True)
        return resized[0, :3].permute(1, 2, 0).numpy()


class Transform:
    """From an RGB image to the numbers that an encoder reads."""

    def __init__(
        self, preprocessing: Preprocessing, pixels: Callable[[Image.Image], Pixels], *, random: bool = False
    ) -> None:
        """`pixels` makes [S, S, 3] of an image, the same for an image unless it is `random`."""
        self._size, self._pixels, self.random = preprocessing.size, pixels, random
        mean, std = (np.array(values, np.float32) for values in (preprocessing.mean, preprocessing.std))  # [3]
        # Of a whole line: NumPy is fast on long rows, slow on rows of three.
        self._factor, self._shift = (np.tile(row, self._size) for row in (1 / (255 * std), mean / std))  # [S * 3]

    def __call__(self, image: Image.Image) -> Tensor:
        """[3, S, S]."""
        values = np.empty((self._size, self._size, 3), np.float32)  # colours last, as they come and the encoder wants
        self.write(image, values)
        return torch.from_numpy(values).permute(2, 0, 1)

    def write(self, image: Image.Image, place: NDArray[np.float32]) -> None:
        """To a place [S, S, 3] in a batch: (value - mean) / std.

        Not by PyTorch, since threads are not worth waking for one image.
        """
        lines = place.reshape(self._size, self._size * 3)
        pixels = self._pixels(image)
        apart = pixels.strides[1]
        if native is not None and pixels.strides == (self._size * apart, apart, 1):
            native.normalise(pixels, lines, self._factor, self._shift)
            return
        lines[...] = pixels.reshape(lines.shape)  # first: NumPy is slow on operands of two kinds
        lines *= self._factor
        lines -= self._shift
