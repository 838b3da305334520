"""Rooms: wall, window, floor. None of it is a label."""

from __future__ import annotations

from PIL import Image

from orderless.data.scenes.dice import Dice
from orderless.data.scenes.pen import Colour, Pen, darker, lighter
from orderless.data.scenes.placing import Camera
from orderless.data.scenes.textures import gradient, ground

WALLS: tuple[Colour, ...] = (
    (226, 214, 196), (188, 204, 196), (218, 190, 170), (176, 192, 206), (238, 226, 200), (198, 180, 192),
    (150, 170, 160),
)  # fmt: skip
FLOORS: tuple[Colour, ...] = ((186, 142, 102), (160, 116, 84), (206, 172, 134), (134, 100, 80))
CLOTH: tuple[Colour, ...] = ((222, 130, 104), (232, 196, 130), (120, 150, 160), (176, 184, 160), (206, 152, 130))
HILLS: tuple[Colour, ...] = ((122, 172, 92), (138, 178, 86), (104, 158, 98), (158, 180, 92))


def paint_room(setting: str, light: str, camera: Camera, side: int, dice: Dice) -> tuple[Image.Image, Colour]:
    """The background, and the colour of its wall."""
    wall, floor = dice.choose(WALLS), dice.choose(FLOORS)
    picture = gradient((side, side), (lighter(wall, 0.2), wall, darker(wall, 0.06)))
    pen = Pen(picture, 0.0, 0.0, side, masked=False)
    top = camera.top
    if setting == "kitchen":
        tile = dice.between(0.055, 0.085)
        low, rows = top - 0.02, dice.whole(2, 4)
        for row in range(rows):
            for column in range(int(1 / tile) + 2):
                x = column * tile - (tile / 2 if row % 2 else 0)
                tone = lighter(wall, dice.between(0.3, 0.5))
                pen.bar(
                    x + 0.002,
                    -(low - row * tile) + 0.002,
                    x + tile - 0.002,
                    -(low - (row + 1) * tile) - 0.002,
                    tone,
                    254,
                )
    elif dice.chance(0.5):
        for i in range(14):
            pen.bar(i * 0.075, -top, i * 0.075 + 0.03, 0.0, lighter(wall, 0.3), 110)
    _furnish_wall(pen, setting, light, wall, top, dice)
    ground(picture, top, (darker(floor, 0.18), floor, lighter(floor, 0.1)), dice, 0.2)
    depth = 1 - top
    if setting == "kitchen":
        for i in range(13):
            a = (i - 6) * 0.13
            pen.line([(0.5 + a, -top), (0.5 + a * 2.2, -1.0)], 0.003, darker(floor, 0.3), 120)
        for t in (0.12, 0.3, 0.55, 0.85):
            pen.line([(0, -(top + t * depth)), (1, -(top + t * depth))], 0.003, darker(floor, 0.3), 110)
    else:
        for t in (0.08, 0.2, 0.36, 0.56, 0.8):
            y = -(top + t * depth)
            pen.line([(0, y), (1, y)], 0.002 + 0.002 * t, darker(floor, 0.35), 120)
            for _ in range(3):
                x = dice.unit()
                pen.line([(x, y), (x, y - 0.17 * depth * (0.4 + t))], 0.002, darker(floor, 0.35), 90)
        if dice.chance(0.6):
            rug, x, y = dice.choose(WALLS), dice.between(0.3, 0.7), -(top + dice.between(0.5, 0.75) * depth)
            pen.oval(x, y, 0.4, 0.3 * depth, darker(rug, 0.25), 245)
            pen.oval(x, y, 0.36, 0.26 * depth, rug, 245)
            pen.oval(x, y, 0.27, 0.19 * depth, darker(rug, 0.12), 245)
    pen.bar(0, -top - 0.004, 1, -top + 0.022, lighter(wall, 0.55))
    pen.bar(0, -top - 0.012, 1, -top - 0.004, (40, 30, 40), 70)
    return picture, wall


def _furnish_wall(pen: Pen, setting: str, light: str, wall: Colour, top: float, dice: Dice) -> None:
    """A window, and pictures or shelves where it leaves room."""
    frame = lighter(wall, 0.7)
    x, half, low, high = dice.between(0.2, 0.8), dice.between(0.11, 0.17), -top + 0.24, -0.06
    evening = light == "evening"
    pen.bar(x - half - 0.015, low - 0.015, x + half + 0.015, high + 0.015, frame)
    glass: Colour = (52, 62, 104) if evening else (178, 218, 236)
    pen.bar(x - half, low, x + half, high, glass)
    pen.blob([(x - half, low), (x - half, low + 0.06), (x - half * 0.3, low + 0.1), (x + half * 0.4, low + 0.05),
              (x + half, low + 0.08), (x + half, low)],
             darker(glass, 0.3) if evening else (150, 190, 140), 220)  # fmt: skip
    pen.bar(x - half, low - 0.002, x + half, low + 0.004, frame)
    pen.bar(x - 0.006, low, x + 0.006, high, frame)
    pen.bar(x - half, (low + high) / 2 - 0.005, x + half, (low + high) / 2 + 0.005, frame)
    if not evening:
        pen.shape(
            [(x - half, high), (x - half * 0.2, high), (x - half * 0.9, low), (x - half, low)], (255, 255, 255), 60
        )
    if setting == "living room" and dice.chance(0.7):
        cloth = dice.choose(CLOTH)
        for side in (-1, 1):
            edge = x + side * (half + 0.03)
            pen.blob([(edge + side * 0.03, high + 0.03), (edge - side * 0.05, high + 0.03),
                      (edge - side * 0.03, low + 0.1), (edge - side * 0.055, low - 0.05),
                      (edge + side * 0.035, low - 0.05)], cloth, 240)  # fmt: skip
        pen.bar(x - half - 0.08, high + 0.025, x + half + 0.08, high + 0.035, (110, 84, 66))
    other = x + (0.42 if x < 0.5 else -0.42)
    if setting == "kitchen":
        y = -dice.between(0.16, 0.24)
        pen.bar(other - 0.14, y - 0.014, other + 0.14, y, (150, 108, 78))
        for i in range(4):
            a, tone = other - 0.12 + i * 0.065, dice.choose(CLOTH)
            pen.bar(a, y, a + 0.045, y + dice.between(0.04, 0.075), darker(tone, 0.1))
    else:
        y, w, h = -dice.between(0.18, 0.28), dice.between(0.07, 0.11), dice.between(0.06, 0.1)
        pen.bar(other - w - 0.01, y - h - 0.01, other + w + 0.01, y + h + 0.01, (96, 72, 60))
        disc, sky, hill = dice.choose(CLOTH), dice.choose(WALLS), dice.choose(HILLS)
        pen.bar(other - w, y - h, other + w, y + h, sky)
        pen.oval(other + w * 0.3, y + h * 0.25, w * 0.35, w * 0.35, disc)
        pen.shape(
            [
                (other - w, y - h),
                (other - w, y - h * 0.3),
                (other, y + h * 0.1),
                (other + w, y - h * 0.5),
                (other + w, y - h),
            ],
            hill,
            254,
        )
