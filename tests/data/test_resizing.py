"""Resizing without PyTorch gives PyTorch's bytes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from orderless.data.resizing import resize
from orderless.data.transforms import Preprocessing

SIDE = st.integers(1, 300)


@settings(max_examples=60, deadline=None)
@given(SIDE, SIDE, st.integers(32, 256), st.sampled_from(["bilinear", "bicubic"]), st.integers(0, 9), st.booleans())
def test_same_bytes(width: int, height: int, size: int, interpolation: str, seed: int, harsh: bool) -> None:
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    if harsh:  # black and white: the cubic filter overshoots, and both must clip alike
        pixels = (pixels > 127).astype(np.uint8) * 255
    image = Image.fromarray(pixels)
    expected = Preprocessing(size, (0.5,) * 3, (0.5,) * 3, interpolation).resize(image)
    assert np.array_equal(resize(image, size, interpolation), expected)


@pytest.mark.parametrize("interpolation", ["lanczos", "nearest"])
def test_other_filters_are_pillows(interpolation: str) -> None:
    image = Image.fromarray(np.random.default_rng(0).integers(0, 256, (50, 70, 3), dtype=np.uint8))
    expected = Preprocessing(32, (0.5,) * 3, (0.5,) * 3, interpolation).resize(image)
    assert np.array_equal(resize(image, 32, interpolation), expected)
