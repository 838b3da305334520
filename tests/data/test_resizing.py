"""Every way of resizing gives PyTorch's bytes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from orderless.data import resizing
from orderless.data.resizing import resize

SIDE = st.integers(1, 300)


@pytest.fixture(params=["C", "NumPy"], autouse=True, scope="module")
def way(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "NumPy":
            patch.setattr(resizing, "_resize", None)
        elif not resizing.compiled():
            pytest.skip("no C compiler when this was installed")
        yield


def by_pytorch(pixels: np.ndarray, size: int, interpolation: str) -> np.ndarray:
    planes = torch.from_numpy(pixels).unsqueeze(0).permute(0, 3, 1, 2)
    squeezed = F.interpolate(planes, (size, size), mode=interpolation, antialias=True)
    return squeezed[0].permute(1, 2, 0).numpy()


def check(width: int, height: int, size: int, interpolation: str, seed: int, harsh: bool) -> None:
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    if harsh:  # black and white: the cubic filter overshoots, and all must clip alike
        pixels = (pixels > 127).astype(np.uint8) * 255
    assert np.array_equal(resize(Image.fromarray(pixels), size, interpolation), by_pytorch(pixels, size, interpolation))


@settings(max_examples=100, deadline=None)
@given(SIDE, SIDE, st.integers(1, 256), st.sampled_from(["bilinear", "bicubic"]), st.integers(0, 9), st.booleans())
def test_same_bytes(width: int, height: int, size: int, interpolation: str, seed: int, harsh: bool) -> None:
    check(width, height, size, interpolation, seed, harsh)


@pytest.mark.parametrize(
    ("width", "height", "size"), [(640, 480, 288), (480, 640, 224), (3000, 7, 33), (5, 2999, 40), (2500, 1900, 192)]
)
@pytest.mark.parametrize("interpolation", ["bilinear", "bicubic"])
def test_same_bytes_of_photos(width: int, height: int, size: int, interpolation: str) -> None:
    check(width, height, size, interpolation, 0, True)


@pytest.mark.parametrize("interpolation", ["lanczos", "nearest"])
def test_other_filters_are_pillows(interpolation: str) -> None:
    image = Image.fromarray(np.random.default_rng(0).integers(0, 256, (50, 70, 3), dtype=np.uint8))
    expected = np.asarray(image.resize((32, 32), Image.Resampling[interpolation.upper()]))
    assert np.array_equal(resize(image, 32, interpolation), expected)


def test_only_arrays_that_fit_are_resized() -> None:
    if not resizing.compiled():
        pytest.skip("without C there is nothing to refuse")
    pixels, out = np.zeros((9, 7, 4), np.uint8), np.zeros((5, 5, 4), np.uint8)
    across, down = resizing._weights(7, 5, "bicubic"), resizing._weights(9, 5, "bicubic")
    resizing._resize.resize(pixels, out, *across, *down)
    late = across._replace(first=across.first + 7)
    for wrong in (
        (pixels[..., :3].copy(), out, *across, *down),
        (pixels, out[:4].copy(), *across, *down),
        (pixels, out.astype(np.int16), *across, *down),
        (pixels[:, ::2], out, *across, *down),
        (pixels, out, *late, *down),
        (pixels, out, *across._replace(precision=23), *down),
        (pixels, out, *across._replace(weights=across.weights.astype(np.int32)), *down),
        (pixels, out, *across._replace(first=across.first[::-1].copy()), *down),
        (pixels, out, *across._replace(first=across.first - 1), *down),
    ):
        with pytest.raises(ValueError, match=r"arrays of other|contiguous"):
            resizing._resize.resize(*wrong)
