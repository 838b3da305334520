"""From an RGB image to the tensor an encoder reads."""

from __future__ import annotations

import orderless.torchvision_ops  # noqa: F401  must come before torchvision

from collections.abc import Callable  # isort: skip
from dataclasses import dataclass

import torch
from PIL import Image
from torch import Tensor
from torchvision.transforms import v2

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
        steps: Transform = v2.Compose([self._resize(), *self._to_tensor()])
        return steps

    def train_transform(self) -> Transform:
        """The paper's augmentation: small random affine shifts, mirror images, changes of contrast."""
        steps: Transform = v2.Compose(
            [
                self._resize(),
                v2.RandomHorizontalFlip(),
                v2.RandomAffine(degrees=0, translate=(0.1, 0.1), scale=(0.9, 1.1), shear=5),
                v2.ColorJitter(contrast=0.25),
                *self._to_tensor(),
            ]
        )
        return steps

    def _resize(self) -> v2.Transform:
        mode = v2.InterpolationMode(self.interpolation)
        return v2.Resize((self.size, self.size), interpolation=mode, antialias=True)

    def _to_tensor(self) -> list[v2.Transform]:
        return [v2.PILToTensor(), v2.ToDtype(torch.float32, scale=True), v2.Normalize(list(self.mean), list(self.std))]
