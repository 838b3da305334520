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

Transform = Callable[[Image.Image], Tensor]


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
        """Resize and normalise: PIL image -> [3, S, S]."""
        return self._prepare

    def train_transform(self) -> Transform:
        """The paper's augmentation: small random affine shifts, mirror images, changes of contrast."""
        import orderless.torchvision_ops  # noqa: F401  must come before torchvision

        from torchvision.transforms import v2  # isort: skip  here: tagging does without it

        steps: Transform = v2.Compose(
            [
                self.resize,
                Image.fromarray,
                v2.RandomHorizontalFlip(),
                v2.RandomAffine(degrees=0, translate=(0.1, 0.1), scale=(0.9, 1.1), shear=5),
                v2.ColorJitter(contrast=0.25),
                self._normalise,
            ]
        )
        return steps

    def _prepare(self, image: Image.Image) -> Tensor:
        return self._normalise(self.resize(image))

    def resize(self, image: Image.Image) -> NDArray[np.uint8]:
        """To [S, S, 3]. PyTorch resizes bytes four times faster than Pillow and by the same rule, to a level or two."""
        if image.size == (self.size, self.size):
            return np.array(image)
        if self.interpolation not in ("bilinear", "bicubic"):
            return np.asarray(image.resize((self.size, self.size), Image.Resampling[self.interpolation.upper()]))
        pixels = torch.from_numpy(np.array(image)).unsqueeze(0).permute(0, 3, 1, 2)  # [1, 3, H, W], colours last
        resized = F.interpolate(pixels, (self.size, self.size), mode=self.interpolation, antialias=True)
        return resized[0].permute(1, 2, 0).numpy()

    def _normalise(self, image: Image.Image | NDArray[np.uint8]) -> Tensor:
        """Bytes to (value - mean) / std, [3, S, S]; by NumPy, since threads are not worth waking for one image."""
        mean, std = np.array(self.mean, np.float32), np.array(self.std, np.float32)  # [3]
        # Whole lines as rows: NumPy is fast on long rows, slow on rows of three.
        lines = np.asarray(image).reshape(self.size, self.size * 3)
        values = np.multiply(lines, np.tile(1 / (255 * std), self.size), dtype=np.float32)
        values -= np.tile(mean / std, self.size)
        return torch.from_numpy(values).view(self.size, self.size, 3).permute(2, 0, 1)
