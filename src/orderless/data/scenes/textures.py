"""Soft things that vector shapes cannot give: gradients, clouds, mottled ground, grain, lights, the lens."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from PIL import Image, ImageDraw

from orderless.data.scenes.dice import Dice
from orderless.data.scenes.pen import Colour, Glow, darker

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


def ground(picture: Image.Image, top: float, colours: tuple[Colour, ...], dice: Dice, contrast: float) -> None:
    """Everything below `top`: a gradient, mottled in streaks that grow towards the viewer."""
    side = picture.width
    first = round(top * side)
    strip = gradient((side, side - first), colours)
    noise = mottle(dice, (48, 32), (6, 12), 2)
    veil = Image.fromarray(((noise - 0.3) * 255 * contrast).clip(0, 255).astype("uint8"))
    veil = veil.resize(strip.size, Image.Resampling.BICUBIC)
    strip.paste(darker(colours[-1], 0.35), None, veil)
    picture.paste(strip, (0, first))


def rain(picture: Image.Image, dice: Dice) -> None:
    """Slanting streaks over the whole picture."""
    side = picture.width
    ink = ImageDraw.Draw(picture, "RGBA")
    for _ in range(70):
        x, y, length = dice.between(-0.1, 1.0) * side, dice.between(-0.1, 1.0) * side, dice.between(0.03, 0.08) * side
        alpha = round(dice.between(40, 100))
        ink.line((x, y, x + 0.28 * length, y + length), (236, 242, 248, alpha), max(1, round(side * 0.003)))


def expose(picture: Image.Image, dice: Dice, tint: tuple[float, float, float], lights: Sequence[Glow],
           darkness: float) -> Image.Image:  # fmt: skip
    """The photograph's finish: colour of the light, lamps that shine, uneven light, vignette, grain."""
    side = picture.width
    uneven = Image.fromarray(mottle(dice, (24, 24), (2, 2), 2)).resize(picture.size, Image.Resampling.BILINEAR)
    light = _vignette(side) * (0.97 + 0.14 * np.asarray(uneven))
    pixels = light[:, :, None] * np.array(tint, dtype=np.float32)
    pixels *= np.asarray(picture)
    if lights:
        pixels += _shine(side, lights, darkness)
    grain = dice.noise(side, side)
    grain -= np.float32(0.5)
    grain *= np.float32(dice.between(5, 13))
    pixels += grain[:, :, None]
    return Image.fromarray(np.clip(pixels, 0, 255, out=pixels).astype(np.uint8))


@lru_cache(maxsize=8)
def _vignette(side: int) -> Array:
    ramp = np.linspace(-1, 1, side, dtype=np.float32)
    distance = ramp[:, None] ** 2 + ramp[None, :] ** 2
    return (1.03 - 0.085 * distance).astype(np.float32)


def _shine(side: int, lights: Sequence[Glow], strength: float) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    """The sum of soft round lights, worked out on a coarse grid."""
    coarse = 48
    grid = (np.arange(coarse, dtype=np.float32) + 0.5) * (side / coarse)
    total = np.zeros((coarse, coarse, 3), dtype=np.float32)
    for x, y, radius, colour, power in lights:
        across = np.exp(-(((grid - x) / radius) ** 2))
        down = np.exp(-(((grid - y) / radius) ** 2))
        disc = (down[:, None] * across[None, :]) ** 0.7 * (power * strength * 0.55)
        total += disc[:, :, None] * np.array(colour, dtype=np.float32)
    small = Image.fromarray(np.clip(total, 0, 255).astype(np.uint8))
    return np.asarray(small.resize((side, side), Image.Resampling.BILINEAR))
