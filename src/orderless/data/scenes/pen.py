"""A pen that draws smooth vector shapes into a picture, in coordinates of the object it draws.

An object's own coordinates: its height is 1, `x` to the right from its middle, `y` upwards from its foot.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from PIL import Image, ImageChops, ImageDraw, ImageFilter

Colour = tuple[int, int, int]
Point = tuple[float, float]
Glow = tuple[float, float, float, Colour, float]  # x, y, radius in pixels; colour; strength


def mix(a: Colour, b: Colour, share: float) -> Colour:
    """From `a` (share 0) to `b` (share 1)."""
    return (
        round(a[0] + (b[0] - a[0]) * share),
        round(a[1] + (b[1] - a[1]) * share),
        round(a[2] + (b[2] - a[2]) * share),
    )


def lighter(colour: Colour, share: float = 0.25) -> Colour:
    return mix(colour, (255, 250, 240), share)


def darker(colour: Colour, share: float = 0.25) -> Colour:
    return mix(colour, (26, 24, 44), share)


class Pen:
    """Draws one object into `picture`; `mask` collects what the object covers, for its shading."""

    def __init__(
        self,
        picture: Image.Image,
        x: float,
        y: float,
        unit: float,
        flip: bool = False,
        tilt: float = 0.0,
        masked: bool = True,
    ) -> None:
        self.picture = picture
        self.mask = Image.new("L", picture.size if masked else (1, 1))
        self._masked = masked  # backdrops need no shading of their own
        self.unit = unit  # pixels per unit of the object's coordinates
        self.glows: list[Glow] = []
        self._ink = ImageDraw.Draw(picture, "RGBA")
        self._mask_ink = ImageDraw.Draw(self.mask)
        turn, side = math.radians(tilt), -1.0 if flip else 1.0
        self._a, self._b = side * unit * math.cos(turn), unit * math.sin(turn)
        self._c, self._d = side * unit * math.sin(turn), -unit * math.cos(turn)
        self._x, self._y = x, y

    def place(self, point: Point) -> Point:
        """Where a point of the object lies in the picture."""
        x, y = point
        return self._x + self._a * x + self._b * y, self._y + self._c * x + self._d * y

    def shape(self, points: Sequence[Point], colour: Colour, alpha: int = 255) -> None:
        """A filled polygon. A translucent one (light, glass, shade) adds nothing to the mask."""
        a, b, c, d, x0, y0 = self._a, self._b, self._c, self._d, self._x, self._y
        flat = [(x0 + a * x + b * y, y0 + c * x + d * y) for x, y in points]
        if alpha == 255:
            self._ink.polygon(flat, colour)
            if self._masked:
                self._mask_ink.polygon(flat, 255)
        else:
            self._ink.polygon(flat, (*colour, alpha))

    def blob(self, points: Sequence[Point], colour: Colour, alpha: int = 255) -> None:
        """A closed smooth curve through the points."""
        self.shape(_smooth(tuple(points)), colour, alpha)

    def oval(
        self, x: float, y: float, rx: float, ry: float, colour: Colour, alpha: int = 255, turn: float = 0.0
    ) -> None:
        cos, sin = math.cos(math.radians(turn)), math.sin(math.radians(turn))
        reach = max(rx, ry) * self.unit
        circle = _SMALL_CIRCLE if reach < 5 else _CIRCLE if reach < 40 else _LARGE_CIRCLE
        self.shape(
            [(x + rx * u * cos - ry * v * sin, y + rx * u * sin + ry * v * cos) for u, v in circle], colour, alpha
        )

    def dot(self, x: float, y: float, r: float, colour: Colour, alpha: int = 255) -> None:
        self.oval(x, y, r, r, colour, alpha)

    def bar(self, left: float, low: float, right: float, high: float, colour: Colour, alpha: int = 255,
            corner: float = 0.0) -> None:  # fmt: skip
        """An upright rectangle, with round corners if `corner` is a radius."""
        if corner <= 0:
            self.shape([(left, low), (right, low), (right, high), (left, high)], colour, alpha)
            return
        r = min(corner, (right - left) / 2, (high - low) / 2)
        points = []
        for cx, cy, start in (
            (right - r, low + r, 18), (right - r, high - r, 0), (left + r, high - r, 6), (left + r, low + r, 12)
        ):  # fmt: skip
            for step in (0, 2, 4, 6):
                u, v = _CIRCLE[(start + step) % 24]
                points.append((cx + r * u, cy + r * v))
        self.shape(points[4:] + points[:4], colour, alpha)

    def line(self, points: Sequence[Point], width: float, colour: Colour, alpha: int = 255) -> None:
        """A stroke with round ends, as wide as `width` in the object's units and never thinner than a hair."""
        placed = [self.place(point) for point in points]
        pixels = max(1.6, width * self.unit)
        ink = (*colour, alpha)
        self._ink.line(placed, ink, round(pixels), joint="curve")
        if alpha == 255:
            self._mask_ink.line(placed, 255, round(pixels), joint="curve")
            r = pixels / 2
            if r > 1.2:
                for x, y in (placed[0], placed[-1]):
                    self._ink.ellipse((x - r, y - r, x + r, y + r), ink)
                    self._mask_ink.ellipse((x - r, y - r, x + r, y + r), 255)

    def ring(self, x: float, y: float, r: float, width: float, colour: Colour) -> None:
        """A circle's outline; `r` is its outer radius."""
        px, py = self.place((x, y))
        radius, pixels = r * self.unit, max(1.5, width * self.unit)
        box = (px - radius, py - radius, px + radius, py + radius)
        self._ink.ellipse(box, None, colour, round(pixels))
        self._mask_ink.ellipse(box, None, 255, round(pixels))

    def glow(self, x: float, y: float, radius: float, colour: Colour, strength: float = 1.0) -> None:
        """A light that shines into the finished picture."""
        px, py = self.place((x, y))
        self.glows.append((px, py, radius * self.unit, colour, strength))

    def finish(self, haze: Colour, haze_share: float, light_side: float) -> None:
        """Round the flat shapes: a shade from top to bottom, a lit edge, a dark edge, and the air between."""
        box = self.mask.getbbox()
        if box is None:
            return
        mask = self.mask.crop(box)
        toned = self.picture.crop(box)
        toned.paste((0, 0, 0), None, _SHADE.resize(mask.size, Image.Resampling.BILINEAR))
        step = max(1, round(min(self.unit, 420) * 0.022))
        reach = round(step * light_side)
        for dx, dy, colour, strength in ((reach, step, (255, 248, 225), 0.42), (-reach, -step, (24, 20, 50), 0.34)):
            moved = Image.new("L", mask.size)
            moved.paste(mask, (dx, dy))
            edge = ImageChops.subtract(mask, moved, scale=1 / strength)
            toned.paste(colour, None, edge.filter(ImageFilter.BoxBlur(step * 0.8)))
        if haze_share > 0.02:
            toned.paste(haze, None, Image.new("L", mask.size, round(255 * haze_share)))
        self.picture.paste(toned, box[:2], mask)


_LARGE_CIRCLE = tuple((math.cos(math.tau * i / 72), math.sin(math.tau * i / 72)) for i in range(72))
_CIRCLE = _LARGE_CIRCLE[::3]
_SMALL_CIRCLE = _CIRCLE[::3]
_SHADE = Image.fromarray(np.linspace(0, 50, 32).astype(np.uint8)[:, None])  # darkness, from top to bottom


@lru_cache(maxsize=1024)
def _smooth(points: tuple[Point, ...]) -> list[Point]:
    """Catmull-Rom: the curve goes through every point."""
    control = np.array(points)
    before, after, beyond = np.roll(control, 1, 0), np.roll(control, -1, 0), np.roll(control, -2, 0)
    curve = np.einsum("tk,knc->ntc", _BASIS, np.stack([before, control, after, beyond]))
    return [(float(x), float(y)) for x, y in curve.reshape(-1, 2)]


_T = np.linspace(0, 1, 6, endpoint=False)[:, None]
_BASIS = 0.5 * np.concatenate(
    [-_T + 2 * _T**2 - _T**3, 2 - 5 * _T**2 + 3 * _T**3, _T + 4 * _T**2 - 3 * _T**3, -(_T**2) + _T**3], axis=1
)
