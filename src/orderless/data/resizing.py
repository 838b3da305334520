"""Images resized without PyTorch, to the very bytes that PyTorch gives.

Training resizes with PyTorch's kernel, because it is several times faster than Pillow's and rounds a level or two
differently here and there. A tagger that runs without PyTorch must see what the model saw in training, so this is the
same rule in NumPy: an antialiasing filter, weights rounded to 16-bit integers, first along rows, then along columns,
each rounded to bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]

_BLOCK = 16  # results computed together: they share most of the pixels that they read


def resize(image: Image.Image, size: int, interpolation: str) -> Bytes:
    """The whole RGB image squeezed into a square, [S, S, 3]; the same bytes as `Preprocessing.resize`."""
    if image.size == (size, size):
        return np.array(image)
    if interpolation not in _FILTERS:
        return np.asarray(image.resize((size, size), Image.Resampling[interpolation.upper()]))
    planes = np.asarray(image).transpose(2, 0, 1)  # [3, H, W]
    rows = _along_last(planes, size, interpolation)  # [3, H, S]
    columns = _along_last(rows.transpose(0, 2, 1), size, interpolation)  # [3, S, S], columns first
    return np.ascontiguousarray(columns.transpose(2, 1, 0))


def _along_last(pixels: Bytes, size: int, interpolation: str) -> Bytes:
    """[..., N] -> [..., S]."""
    length = pixels.shape[-1]
    if length == size:
        return pixels
    out = np.empty((*pixels.shape[:-1], size), np.uint8)
    precision, blocks = _weights(length, size, interpolation)
    for start, (first, weights) in zip(range(0, size, _BLOCK), blocks, strict=True):
        window = pixels[..., first : first + len(weights)].astype(np.float64)
        sums = window @ weights  # whole numbers below 2**53: exact
        sums += 1 << (precision - 1)
        np.floor(sums / (1 << precision), out=sums)
        out[..., start : start + _BLOCK] = sums.clip(0, 255)
    return out


@lru_cache(maxsize=16)  # those of a long side take megabytes
def _weights(length: int, size: int, interpolation: str) -> tuple[int, list[tuple[int, Floats]]]:
    """Bits of the weights' precision and, for each block of results, its first pixel and weights [pixels, results]."""
    kernel, reach = _FILTERS[interpolation]
    scale = length / size
    stretch = max(scale, 1.0)  # when shrinking, the filter covers as many more pixels
    centres = scale * (np.arange(size) + 0.5)  # [S]
    first = np.maximum((centres - reach * stretch + 0.5).astype(np.int64), 0)
    last = np.minimum((centres + reach * stretch + 0.5).astype(np.int64), length)  # the first pixel not covered
    taps = int((last - first).max())
    places = first[:, None] + np.arange(taps)  # [S, taps]
    weights = np.where(places < last[:, None], kernel((places - centres[:, None] + 0.5) / stretch), 0.0)
    weights /= weights.sum(axis=1, keepdims=True)
    # The most bits with which the largest weight still fits into 16 of them, with the sign.
    precision = next(bits for bits in range(22, -1, -1) if bits == 0 or int(0.5 + weights.max() * 2**bits) < 2**15)
    weights = np.trunc(weights * 2**precision + np.copysign(0.5, weights))
    blocks = []
    for start in range(0, size, _BLOCK):
        stop = min(start + _BLOCK, size)
        begin, end = int(first[start:stop].min()), int(last[start:stop].max())
        dense = np.zeros((end - begin, stop - start))
        for column, row in enumerate(range(start, stop)):
            covered = int(last[row] - first[row])
            dense[first[row] - begin : last[row] - begin, column] = weights[row, :covered]
        blocks.append((begin, dense))
    return precision, blocks


def _triangle(x: Floats) -> Floats:
    return np.maximum(1.0 - np.abs(x), 0.0)


def _cubic(x: Floats) -> Floats:
    x = np.abs(x)
    near = (1.5 * x - 2.5) * x * x + 1.0
    far = ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0
    return np.where(x < 1.0, near, np.where(x < 2.0, far, 0.0))


# The filter, and how many pixels it reaches to each side.
_FILTERS: dict[str, tuple[Callable[[Floats], Floats], float]] = {"bilinear": (_triangle, 1.0), "bicubic": (_cubic, 2.0)}
