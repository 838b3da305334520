"""People, as in a picture book: without a face when far, with a friendly one when near."""

from __future__ import annotations

from orderless.data.scenes.dice import Dice
from orderless.data.scenes.pen import Colour, Pen, darker

SKIN: tuple[Colour, ...] = ((247, 208, 176), (235, 184, 145), (205, 148, 106), (160, 108, 74), (112, 74, 52))
HAIR: tuple[Colour, ...] = ((52, 38, 36), (92, 58, 40), (150, 98, 52), (214, 168, 92), (178, 74, 44), (196, 192, 190))
CLOTHES: tuple[Colour, ...] = (
    (222, 92, 78), (240, 178, 72), (64, 138, 140), (62, 84, 138), (238, 226, 206), (128, 92, 150), (98, 152, 92),
    (226, 134, 150), (58, 62, 78),
)  # fmt: skip
TROUSERS: tuple[Colour, ...] = ((58, 70, 104), (84, 88, 98), (142, 116, 88), (46, 46, 56), (96, 124, 156))
SHOE: Colour = (54, 44, 46)


def person(pen: Pen, pose: str, dice: Dice) -> None:
    skin, hair, top, legs = dice.choose(SKIN), dice.choose(HAIR), dice.choose(CLOTHES), dice.choose(TROUSERS)
    style = dice.choose(("short", "long", "bun", "hat", "short"))
    dress = dice.chance(0.25) and pose in ("stand", "walk")
    {"stand": _standing, "walk": _walking, "sit": _sitting, "ride": _riding}[pose](pen, skin, top, legs, dress)
    _head(pen, *_HEADS[pose], skin, hair, style, dice.choose(CLOTHES))


# Middle and radius of the head in every pose.
_HEADS = {
    "stand": (0.0, 0.9, 0.082),
    "walk": (0.02, 0.9, 0.082),
    "sit": (-0.02, 0.885, 0.105),
    "ride": (0.1, 0.88, 0.1),
}


def _head(pen: Pen, x: float, y: float, r: float, skin: Colour, hair: Colour, style: str, hat: Colour) -> None:
    if style == "long":
        pen.blob([(x - r * 1.2, y + r * 0.5), (x, y + r * 1.2), (x + r * 1.15, y + r * 0.4),
                  (x + r * 1.05, y - r * 1.4), (x, y - r * 1.1), (x - r * 1.25, y - r * 1.6)], hair)  # fmt: skip
    pen.line([(x, y), (x, y - r * 1.45)], r * 0.75, darker(skin, 0.12))
    pen.oval(x, y, r * 0.92, r, skin)
    pen.blob([(x - r * 1.02, y - r * 0.15), (x - r * 0.85, y + r * 0.8), (x, y + r * 1.13),
              (x + r * 0.85, y + r * 0.75), (x + r * 0.9, y + r * 0.25), (x + r * 0.2, y + r * 0.45),
              (x - r * 0.5, y + r * 0.2)], hair)  # fmt: skip
    if style == "bun":
        pen.dot(x - r * 0.5, y + r * 1.15, r * 0.48, hair)
    if style == "hat":
        pen.blob([(x - r, y + r * 0.35), (x - r * 0.8, y + r * 1.05), (x, y + r * 1.3), (x + r * 0.8, y + r * 1.0),
                  (x + r, y + r * 0.35)], hat)  # fmt: skip
        pen.line([(x, y + r * 0.42), (x + r * 1.45, y + r * 0.36)], r * 0.24, darker(hat, 0.2))
    if r * pen.unit > 9:
        pen.dot(x + r * 0.08, y - r * 0.02, r * 0.1, (48, 36, 40))
        pen.dot(x + r * 0.58, y - r * 0.02, r * 0.1, (48, 36, 40))
        pen.line([(x + r * 0.15, y - r * 0.42), (x + r * 0.36, y - r * 0.5), (x + r * 0.56, y - r * 0.4)], r * 0.1,
                 darker(skin, 0.45))  # fmt: skip
        pen.dot(x - r * 0.12, y - r * 0.32, r * 0.17, (240, 120, 110), 70)


def _torso(pen: Pen, colour: Colour) -> None:
    pen.blob([(-0.1, 0.79), (0, 0.815), (0.1, 0.79), (0.105, 0.62), (0.095, 0.46), (0, 0.44), (-0.095, 0.46),
              (-0.105, 0.62)], colour)  # fmt: skip


def _dress(pen: Pen, colour: Colour) -> None:
    pen.blob([(-0.09, 0.79), (0, 0.815), (0.09, 0.79), (0.085, 0.62), (0.15, 0.36), (0, 0.32), (-0.15, 0.36),
              (-0.085, 0.62)], colour)  # fmt: skip


def _standing(pen: Pen, skin: Colour, top: Colour, legs: Colour, dress: bool) -> None:
    leg = skin if dress else legs
    for side in (-1, 1):
        pen.line([(side * 0.05, 0.46), (side * 0.055, 0.04)], 0.085, leg if side > 0 else darker(leg, 0.12))
        pen.blob([(side * 0.055 - 0.045, 0.0), (side * 0.055 - 0.045, 0.045), (side * 0.055 + 0.03, 0.05),
                  (side * 0.055 + 0.07, 0.0)], SHOE)  # fmt: skip
    pen.line([(-0.1, 0.755), (-0.14, 0.6), (-0.13, 0.47)], 0.058, darker(top, 0.14))
    pen.dot(-0.13, 0.455, 0.032, skin)
    (_dress if dress else _torso)(pen, top)
    pen.line([(0.1, 0.755), (0.14, 0.6), (0.13, 0.47)], 0.058, darker(top, 0.1))
    pen.dot(0.13, 0.455, 0.032, skin)


def _walking(pen: Pen, skin: Colour, top: Colour, legs: Colour, dress: bool) -> None:
    leg = skin if dress else legs
    pen.line([(0.06, 0.755), (0.15, 0.63), (0.2, 0.53)], 0.056, darker(top, 0.2))
    pen.dot(0.2, 0.52, 0.032, darker(skin, 0.1))
    pen.line([(-0.02, 0.46), (-0.06, 0.25), (-0.165, 0.06)], 0.085, darker(leg, 0.16))
    pen.blob([(-0.215, 0.045), (-0.185, 0.08), (-0.12, 0.05), (-0.1, 0.0), (-0.16, 0.0)], SHOE)
    pen.line([(0.02, 0.46), (0.1, 0.26), (0.135, 0.05)], 0.085, leg)
    pen.blob([(0.09, 0.0), (0.09, 0.05), (0.16, 0.06), (0.215, 0.02), (0.2, 0.0)], SHOE)
    (_dress if dress else _torso)(pen, top)
    pen.line([(-0.06, 0.755), (-0.13, 0.62), (-0.1, 0.48)], 0.058, darker(top, 0.12))
    pen.dot(-0.097, 0.47, 0.032, skin)


def _sitting(pen: Pen, skin: Colour, top: Colour, legs: Colour, dress: bool) -> None:
    for side in (-1, 1):
        x = side * 0.075
        tone = legs if side > 0 else darker(legs, 0.12)
        pen.line([(x * 0.8, 0.4), (x * 1.35, 0.355), (x * 1.4, 0.05)], 0.115, tone)
        pen.blob([(x * 1.4 - 0.06, 0.0), (x * 1.4 - 0.05, 0.06), (x * 1.4 + 0.05, 0.06), (x * 1.4 + 0.09, 0.0)], SHOE)
    pen.blob([(-0.13, 0.74), (0, 0.775), (0.12, 0.74), (0.13, 0.55), (0.12, 0.37), (0, 0.345), (-0.12, 0.37),
              (-0.135, 0.55)], top)  # fmt: skip
    for side in (-1, 1):
        pen.line([(side * 0.125, 0.7), (side * 0.175, 0.53), (side * 0.09, 0.42)], 0.07, darker(top, 0.12))
        pen.dot(side * 0.085, 0.41, 0.04, skin)


def _riding(pen: Pen, skin: Colour, top: Colour, legs: Colour, dress: bool) -> None:
    pen.line([(-0.08, 0.42), (0.12, 0.33), (0.02, 0.04)], 0.1, darker(legs, 0.1))
    pen.blob([(-0.04, 0.0), (-0.03, 0.06), (0.05, 0.06), (0.11, 0.0)], SHOE)
    pen.blob([(0.0, 0.79), (0.1, 0.78), (0.13, 0.7), (0.02, 0.42), (-0.06, 0.37), (-0.15, 0.42), (-0.12, 0.6)], top)
    pen.line([(0.07, 0.71), (0.13, 0.57), (0.28, 0.53)], 0.062, darker(top, 0.14))
    pen.dot(0.29, 0.53, 0.035, skin)
