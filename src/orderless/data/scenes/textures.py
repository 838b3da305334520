"""Soft things that vector shapes cannot give: gradients, clouds, mottled ground, grain, lights, the lens."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from PIL import Image

from orderless.data.scenes.dice import Dice
from orderless.data.scenes.pen import Colour, Glow

Array = np.ndarray[tuple[int, ...], np.dtype[np.float32]]


def gradient(size: tuple[int, int], colours: Sequence[Colour]) -> Image.Image:
    """Colours from top to bottom, evenly spaced, blended smoothly."""
    column = Image.fromarray(np.array(colours, dtype=np.uint8)[:, None, :])
    return column.resize((1, size[1]), Image.Resampling.BICUBIC).resize(size, Image.Resampling.NEAREST)


def mottle(dice: Dice, size: tuple[int, int], cells: tuple[int, int], octaves: int = 3) -> Array:
    """Smooth noise in about [0, 1]: `cells` are the coarsest grid (columns, rows), each octave is twice as fine."""
    total = np.zeros((size[1], size[0]), dtype=np.float32)
    weight, whole = 1.0, 0.0
    for octave in range(octaves):
        columns, rows = cells[0] << octave, cells[1] << octave
        grid = Image.fromarray(dice.noise(rows, columns))
        total += weight * np.asarray(grid.resize(size, Image.Resampling.BICUBIC))
        whole += weight
        weight *= 0.55
    return total / np.float32(whole)


def clouds(picture: Image.Image, dice: Dice, bottom: float, colour: Colour, cover: float) -> None:
    """Clouds over the upper part of the picture, thinning out towards the horizon."""
    side = picture.width
    height = max(2, round(bottom * side))
    small = (64, 40)
    noise = mottle(dice, small, (3, 4), 4)
    fade = np.linspace(1.0, 0.25, small[1], dtype=np.float32)[:, None]
    mask = np.clip((noise - (0.62 - 0.25 * cover)) * 5.0, 0, 1) * fade * (0.55 + 0.4 * cover)
    veil = Image.fromarray((255 * mask).astype(np.uint8)).resize((side, height), Image.Resampling.BICUBIC)
    picture.paste(colour, (0, 0, side, height), veil)


def expose(picture: Image.Image, dice: Dice, tint: tuple[float, float, float], lights: Sequence[Glow],
           darkness: float) -> Image.Image:  # fmt: skip
    """The photograph's finish: colour of the light, lamps that shine, uneven light, vignette, grain."""
    side = picture.width
    pixels = np.asarray(picture, dtype=np.float32)
    light = _vignette(side) * (0.93 + 0.14 * mottle(dice, (side, side), (2, 2), 2))
    pixels = pixels * light[:, :, None] * np.array(tint, dtype=np.float32)
    if lights:
        pixels += _shine(side, lights, darkness)
    grain = dice.noise(side, side)
    grain -= np.float32(0.5)
    pixels += (grain * np.float32(dice.between(7, 18)))[:, :, None]
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


@lru_cache(maxsize=8)
def _vignette(side: int) -> Array:
    ramp = np.linspace(-1, 1, side, dtype=np.float32)
    distance = ramp[:, None] ** 2 + ramp[None, :] ** 2
    return (1.03 - 0.1 * distance).astype(np.float32)


def _shine(side: int, lights: Sequence[Glow], strength: float) -> Array:
    """The sum of soft round lights, worked out on a coarse grid."""
    coarse = 48
    grid = (np.arange(coarse, dtype=np.float32) + 0.5) * (side / coarse)
    total = np.zeros((coarse, coarse, 3), dtype=np.float32)
    for x, y, radius, colour, power in lights:
        across = np.exp(-(((grid - x) / radius) ** 2))
        down = np.exp(-(((grid - y) / radius) ** 2))
        disc = (down[:, None] * across[None, :]) ** 0.7 * (power * strength * 0.55)
        total += disc[:, :, None] * np.array(colour, dtype=np.float32)
    bytes_ = Image.fromarray(np.clip(total, 0, 255).astype(np.uint8))
    return np.asarray(bytes_.resize((side, side), Image.Resampling.BILINEAR), dtype=np.float32)
