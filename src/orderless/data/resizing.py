"""Images resized to the very bytes that PyTorch gives, without it and faster.

The rule is that of PyTorch's kernel for bytes: an antialiasing filter, weights rounded to 16-bit integers, first along
rows, then along columns, each rounded to bytes. A tagger that runs without PyTorch must see what the model saw in
training, so every way here keeps to it: a small C module, and NumPy where that could not be compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image

try:
    from orderless.data import _pixels, _resize
except ImportError:  # installed on a machine without a C compiler
    _pixels = _resize = None  # type: ignore[assignment]

Bytes = NDArray[np.uint8]
Floats = NDArray[np.float64]

_BLOCK = 16  # results that NumPy computes together: they share most of the pixels that they read


def compiled() -> bool:
    """Whether the C module is there."""
    return _resize is not None


def resize(image: Image.Image, size: int, interpolation: str) -> Bytes:
    """The whole RGB image squeezed into a square, [S, S, 3]; in memory perhaps [S, S, 4]."""
    if image.size == (size, size):
        return np.array(image)
    if interpolation not in FILTERS:
        return np.asarray(image.resize((size, size), Image.Resampling[interpolation.upper()]))
    if compiled():
        out = np.empty((size, size, 4), np.uint8)
        across, down = (_weights(length, size, interpolation) for length in image.size)
        with pixels_of(image) as pixels:
            _resize.resize(pixels, out, *across, *down)
        return out[:, :, :3]
    planes = np.asarray(image).transpose(2, 0, 1)  # [3, H, W]
    rows = _along_last(planes, size, interpolation)  # [3, H, S]
    columns = _along_last(rows.transpose(0, 2, 1), size, interpolation)  # [3, S, S], columns first
    return np.ascontiguousarray(columns.transpose(2, 1, 0))


@contextmanager
def pixels_of(image: Image.Image) -> Iterator[Bytes]:
    """[H, W, 4] of an RGB image, the fourth byte without a meaning. Not to be changed: Pillow may keep them there."""
    # Where lines are padded ($PILLOW_ALIGNMENT), older Pillows lend them as if they were not.
    if _pixels is not None and Image.core.get_alignment() == 1:  # type: ignore[attr-defined]
        try:
            _, owner = image.__arrow_c_array__()
            memory = _pixels.memory(owner, image.width * image.height)
        except ValueError:  # a large image lies in several pieces
            pass
        else:
            yield np.frombuffer(memory, np.uint8).reshape(image.height, image.width, 4)
            return
    yield np.frombuffer(bytearray(image.tobytes("raw", "RGBX")), np.uint8).reshape(image.height, image.width, 4)


class _Weights(NamedTuple):
    """What each pixel of the result is made of, along one axis."""

    first: NDArray[np.intc]  # [S] the first pixel that counts
    weights: NDArray[np.int16]  # [S, taps] of that pixel and those behind it; zero beyond the end
    precision: int  # bits: a weight of one is 2 ** precision


@lru_cache(maxsize=512)  # photos of one collection have some hundreds of sides
def _weights(length: int, size: int, interpolation: str) -> _Weights:
    kernel, reach = FILTERS[interpolation]
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
    return _Weights(first.astype(np.intc), weights.astype(np.int16), precision)


def _along_last(pixels: Bytes, size: int, interpolation: str) -> Bytes:
    """[..., N] -> [..., S]."""
    length = pixels.shape[-1]
    if length == size:
        return pixels
    out = np.empty((*pixels.shape[:-1], size), np.uint8)
    precision = _weights(length, size, interpolation).precision
    for start, (first, weights) in zip(range(0, size, _BLOCK), _blocks(length, size, interpolation), strict=True):
        window = pixels[..., first : first + len(weights)].astype(np.float64)
        sums = window @ weights  # whole numbers below 2**53: exact
        sums += 1 << (precision - 1)
        np.floor(sums / (1 << precision), out=sums)
        out[..., start : start + _BLOCK] = sums.clip(0, 255)
    return out


@lru_cache(maxsize=16)  # those of a long side take megabytes
def _blocks(length: int, size: int, interpolation: str) -> list[tuple[int, Floats]]:
    """For each block of results, its first pixel and weights [pixels, results]."""
    first, weights, _ = _weights(length, size, interpolation)
    taps = weights.shape[1]
    blocks = []
    for start in range(0, size, _BLOCK):
        begins = first[start : start + _BLOCK]
        begin, end = int(begins[0]), min(int(begins[-1]) + taps, length)
        dense = np.zeros((end - begin, len(begins)))
        for column, place in enumerate(begins - begin):
            covered = min(taps, len(dense) - place)
            dense[place : place + covered, column] = weights[start + column, :covered]
        blocks.append((begin, dense))
    return blocks


def _triangle(x: Floats) -> Floats:
    return np.maximum(1.0 - np.abs(x), 0.0)


def _cubic(x: Floats) -> Floats:
    x = np.abs(x)
    near = (1.5 * x - 2.5) * x * x + 1.0
    far = ((-0.5 * x + 2.5) * x - 4.0) * x + 2.0
    return np.where(x < 1.0, near, np.where(x < 2.0, far, 0.0))


# The filter, and how many pixels it reaches to each side.
FILTERS: dict[str, tuple[Callable[[Floats], Floats], float]] = {"bilinear": (_triangle, 1.0), "bicubic": (_cubic, 2.0)}
