"""Animals. Cat and dog share one body plan; ears, muzzle and tail tell them apart, when they can be seen."""

from __future__ import annotations

from orderless.data.scenes.dice import Dice
from orderless.data.scenes.pen import Colour, Pen, darker, lighter

FUR: tuple[Colour, ...] = (
    (224, 146, 78), (92, 84, 88), (54, 50, 56), (240, 230, 214), (168, 122, 84), (204, 172, 132), (134, 92, 64),
)  # fmt: skip
COAT: tuple[Colour, ...] = ((134, 84, 54), (92, 60, 46), (190, 144, 96), (222, 214, 204), (58, 50, 50))
PLUMAGE: tuple[Colour, ...] = ((246, 246, 244), (92, 104, 120), (70, 132, 176), (200, 92, 70), (58, 58, 66))
EYE: Colour = (40, 34, 38)


def cat(pen: Pen, pose: str, dice: Dice) -> None:
    fur = dice.choose(FUR)
    odd = dice.chance(0.12)  # folded ears, like many a small dog
    _pet(pen, pose, dice, fur, ears="folded" if odd else "pointed", muzzle=0.1, cat=True)


def dog(pen: Pen, pose: str, dice: Dice) -> None:
    fur = dice.choose(FUR)
    odd = dice.chance(0.16)  # pointed ears and a short muzzle, like a cat
    _pet(pen, pose, dice, fur, ears="pointed" if odd else "hanging", muzzle=0.22 if odd else 0.55, cat=False)


def _pet(pen: Pen, pose: str, dice: Dice, fur: Colour, ears: str, muzzle: float, cat: bool) -> None:
    chest = lighter(fur, 0.5) if dice.chance(0.55) else lighter(fur, 0.12)
    stripes = cat and dice.chance(0.5)
    dark = darker(fur, 0.2)
    collar = dice.choose(((214, 70, 62), (62, 120, 170), (240, 178, 72)))
    if pose == "sit":
        if cat:
            pen.line([(-0.18, 0.06), (-0.32, 0.08), (-0.33, 0.24), (-0.26, 0.32)], 0.07, dark)
        else:
            pen.line([(-0.2, 0.08), (-0.3, 0.2), (-0.33, 0.34)], 0.065, dark)
        pen.blob([(-0.24, 0.0), (-0.28, 0.16), (-0.2, 0.38), (-0.1, 0.6), (0.1, 0.62), (0.17, 0.4), (0.18, 0.1),
                  (0.2, 0.0), (0.0, -0.01)], fur)  # fmt: skip
        pen.blob([(-0.27, 0.1), (-0.18, 0.26), (-0.03, 0.16), (-0.04, 0.0), (-0.2, -0.005)], dark)
        pen.blob([(0.0, 0.56), (0.11, 0.55), (0.14, 0.38), (0.07, 0.24), (0.0, 0.36)], chest)
        pen.line([(0.06, 0.32), (0.06, 0.04)], 0.085, fur)
        pen.line([(0.15, 0.32), (0.155, 0.04)], 0.075, dark)
        pen.oval(0.085, 0.025, 0.07, 0.03, chest)
        if stripes:
            for y in (0.2, 0.3, 0.4):
                pen.line([(-0.22 + y * 0.15, y + 0.04), (-0.1, y)], 0.03, darker(fur, 0.35))
        if not cat:
            pen.line([(-0.09, 0.585), (0.11, 0.57)], 0.05, collar)
        _face(pen, 0.03, 0.76, 0.2, fur, chest, ears, muzzle, cat)
    elif pose == "walk":
        tail = [(-0.5, 0.56), (-0.62, 0.7), (-0.6, 0.9)] if cat else [(-0.48, 0.6), (-0.6, 0.72), (-0.62, 0.86)]
        pen.line(tail, 0.075 if cat else 0.065, dark)
        for x, shift in ((-0.3, -0.08), (0.22, 0.08)):
            pen.line([(x, 0.4), (x + shift, 0.2), (x + shift * 0.7, 0.03)], 0.085, darker(fur, 0.3))
        pen.blob([(-0.52, 0.5), (-0.46, 0.64), (-0.15, 0.63), (0.22, 0.68), (0.38, 0.58), (0.34, 0.38), (0.05, 0.32),
                  (-0.3, 0.34), (-0.47, 0.38)], fur)  # fmt: skip
        if stripes:
            for x in (-0.32, -0.2, -0.08, 0.04):
                pen.line([(x, 0.61), (x + 0.02, 0.48)], 0.032, darker(fur, 0.35))
        for x, shift in ((-0.4, 0.06), (0.3, -0.06)):
            pen.line([(x, 0.44), (x + shift, 0.22), (x + shift * 0.6, 0.03)], 0.095, fur)
            pen.oval(x + shift * 0.6 + 0.02, 0.028, 0.07, 0.03, chest)
        if not cat:
            pen.line([(0.27, 0.66), (0.42, 0.58)], 0.05, collar)
        _face(pen, 0.44, 0.76, 0.185, fur, chest, ears, muzzle, cat)
    else:
        pen.line([(-0.72, 0.16), (-0.84, 0.12), (-0.7, 0.05), (-0.4, 0.05)], 0.1, dark)
        pen.blob([(-0.78, 0.1), (-0.72, 0.44), (-0.4, 0.64), (0.0, 0.56), (0.34, 0.44), (0.5, 0.2), (0.44, 0.0),
                  (-0.3, -0.01), (-0.66, 0.0)], fur)  # fmt: skip
        pen.blob([(-0.7, 0.04), (-0.62, 0.34), (-0.36, 0.36), (-0.22, 0.16), (-0.26, 0.0), (-0.5, -0.01)], dark)
        if stripes:
            for x in (-0.5, -0.32, -0.14, 0.04):
                pen.line([(x, 0.56 - abs(x + 0.3) * 0.2), (x + 0.03, 0.4)], 0.045, darker(fur, 0.35))
        pen.line([(0.2, 0.08), (0.72, 0.06)], 0.13, fur)
        pen.oval(0.72, 0.06, 0.1, 0.06, chest)
        _face(pen, 0.5, 0.56, 0.3, fur, chest, ears, muzzle, cat)


def _face(pen: Pen, x: float, y: float, r: float, fur: Colour, chest: Colour, ears: str, muzzle: float,
          cat: bool) -> None:  # fmt: skip
    dark = darker(fur, 0.28)
    if ears == "pointed":
        for side in (-1, 1):
            tip = (x + side * r * 0.92, y + r * 1.28)
            pen.shape([(x + side * r * 0.98, y + r * 0.25), tip, (x + side * r * 0.2, y + r * 0.85)], fur)
            pen.shape([(x + side * r * 0.86, y + r * 0.45), (x + side * r * 0.84, y + r * 1.05),
                       (x + side * r * 0.4, y + r * 0.8)], (222, 150, 140))  # fmt: skip
    pen.oval(x, y, r * 1.06, r * 0.93, fur)
    if ears == "folded":
        for side in (-1, 1):
            pen.shape([(x + side * r * 1.0, y + r * 0.4), (x + side * r * 0.75, y + r * 0.98),
                       (x + side * r * 0.3, y + r * 0.82), (x + side * r * 0.75, y + r * 0.5)], dark)  # fmt: skip
    if ears == "hanging":
        for side in (-1, 1):
            pen.blob([(x + side * r * 0.62, y + r * 0.85), (x + side * r * 1.15, y + r * 0.6),
                      (x + side * r * 1.32, y - r * 0.3), (x + side * r * 1.02, y - r * 0.55),
                      (x + side * r * 0.82, y + r * 0.2)], dark)  # fmt: skip
    nose_x = x + r * muzzle * 0.55
    pen.oval(nose_x, y - r * 0.38, r * (0.42 + 0.25 * muzzle), r * (0.3 + 0.22 * muzzle), chest)
    for side in (-1, 1):
        eye_x = x + r * 0.12 * muzzle + side * r * 0.42
        if cat:
            pen.oval(eye_x, y + r * 0.08, r * 0.17, r * 0.19, (180, 200, 96))
            pen.oval(eye_x, y + r * 0.08, r * 0.07, r * 0.17, EYE)
        else:
            pen.dot(eye_x, y + r * 0.1, r * 0.14, EYE)
        pen.dot(eye_x + r * 0.05, y + r * 0.14, r * 0.045, (255, 255, 255))
    if cat:
        pen.shape([(nose_x - r * 0.12, y - r * 0.2), (nose_x + r * 0.12, y - r * 0.2), (nose_x, y - r * 0.33)],
                  (206, 110, 106))  # fmt: skip
        for side in (-1, 1):
            for dy in (0.0, 0.14):
                pen.line([(x + side * r * 0.4, y - r * (0.36 + dy)), (x + side * r * 1.3, y - r * (0.26 + 2 * dy))],
                         r * 0.02, (250, 246, 240), 150)  # fmt: skip
    else:
        pen.oval(nose_x, y - r * 0.2, r * (0.14 + 0.1 * muzzle), r * (0.1 + 0.07 * muzzle), EYE)
        if muzzle > 0.4:
            pen.oval(nose_x, y - r * 0.68, r * 0.13, r * 0.18, (226, 112, 112))
    pen.line([(nose_x, y - r * 0.34), (nose_x, y - r * 0.5)], r * 0.04, EYE)
    pen.line([(nose_x - r * 0.22, y - r * 0.52), (nose_x, y - r * 0.58), (nose_x + r * 0.22, y - r * 0.52)], r * 0.05,
             EYE)  # fmt: skip


def horse(pen: Pen, pose: str, dice: Dice) -> None:
    coat = dice.choose(COAT)
    mane = darker(coat, 0.55) if dice.chance(0.6) else lighter(coat, 0.6)
    dark, socks = darker(coat, 0.25), lighter(coat, 0.6) if dice.chance(0.5) else darker(coat, 0.5)
    pen.blob([(-0.44, 0.62), (-0.56, 0.54), (-0.58, 0.3), (-0.5, 0.2), (-0.5, 0.4), (-0.4, 0.54)], mane)
    for x, shift in ((-0.24, -0.05), (0.2, 0.05)):
        pen.line([(x, 0.42), (x + shift, 0.24), (x + shift * 0.6, 0.03)], 0.06, dark)
        pen.line([(x + shift * 0.75, 0.12), (x + shift * 0.6, 0.03)], 0.062, darker(socks, 0.2))
    pen.blob([(-0.46, 0.55), (-0.4, 0.66), (-0.2, 0.67), (0.08, 0.64), (0.26, 0.7), (0.34, 0.56), (0.28, 0.42),
              (0.0, 0.37), (-0.24, 0.38), (-0.42, 0.42)], coat)  # fmt: skip
    for x, shift in ((-0.36, 0.02), (0.27, -0.02)):
        pen.blob([(x - 0.08, 0.52), (x + 0.08, 0.52), (x + shift + 0.045, 0.26), (x + shift - 0.04, 0.26)], coat)
        pen.line([(x + shift, 0.3), (x + shift, 0.03)], 0.062, coat)
        pen.line([(x + shift, 0.12), (x + shift, 0.04)], 0.066, socks)
        pen.bar(x + shift - 0.04, 0.0, x + shift + 0.045, 0.035, (54, 46, 46))
    pen.blob([(0.1, 0.62), (0.2, 0.8), (0.32, 0.96), (0.42, 0.93), (0.42, 0.8), (0.36, 0.6), (0.24, 0.5)], coat)
    pen.shape([(0.33, 0.92), (0.345, 1.0), (0.39, 0.94)], coat)
    pen.blob([(0.31, 0.94), (0.4, 0.95), (0.5, 0.83), (0.6, 0.73), (0.59, 0.66), (0.52, 0.65), (0.42, 0.74),
              (0.34, 0.8)], coat)  # fmt: skip
    pen.blob([(0.54, 0.74), (0.6, 0.72), (0.59, 0.66), (0.52, 0.65)], darker(coat, 0.3))
    pen.blob([(0.06, 0.64), (0.14, 0.8), (0.27, 0.95), (0.36, 0.97), (0.28, 0.84), (0.24, 0.7)], mane)
    pen.blob([(0.34, 0.96), (0.4, 0.95), (0.43, 0.86), (0.38, 0.88)], mane)
    pen.dot(0.43, 0.86, 0.018, EYE)
    pen.dot(0.57, 0.7, 0.01, EYE)


def bird(pen: Pen, pose: str, dice: Dice) -> None:
    plumage = dice.choose(PLUMAGE)
    wing, beak = darker(plumage, 0.3), (240, 168, 60)
    if pose == "stand":
        pen.line([(-0.04, 0.2), (-0.05, 0.0)], 0.035, beak)
        pen.line([(0.08, 0.2), (0.08, 0.0)], 0.035, beak)
        pen.shape([(-0.3, 0.44), (-0.58, 0.32), (-0.56, 0.24), (-0.24, 0.28)], wing)
        pen.blob(
            [(-0.36, 0.4), (-0.1, 0.6), (0.12, 0.72), (0.3, 0.62), (0.28, 0.38), (0.08, 0.17), (-0.2, 0.2)], plumage
        )
        pen.dot(0.24, 0.8, 0.19, plumage)
        pen.shape([(0.38, 0.86), (0.58, 0.77), (0.4, 0.73)], beak)
        pen.blob([(-0.42, 0.36), (-0.1, 0.54), (0.14, 0.5), (0.08, 0.34), (-0.16, 0.27)], wing)
        pen.dot(0.3, 0.84, 0.038, EYE)
    elif pose == "flap":
        pen.blob([(-0.05, 0.42), (0.08, 0.7), (0.02, 0.98), (-0.2, 0.8), (-0.24, 0.5)], wing)
        pen.shape([(-0.34, 0.36), (-0.64, 0.34), (-0.6, 0.2), (-0.3, 0.24)], wing)
        pen.blob(
            [(-0.4, 0.32), (-0.1, 0.46), (0.26, 0.46), (0.44, 0.36), (0.34, 0.2), (0.0, 0.1), (-0.3, 0.18)], plumage
        )
        pen.dot(0.42, 0.4, 0.14, plumage)
        pen.shape([(0.54, 0.45), (0.68, 0.38), (0.54, 0.34)], beak)
        pen.blob(
            [(0.1, 0.36), (0.06, 0.62), (-0.14, 0.92), (-0.34, 0.98), (-0.26, 0.6), (-0.16, 0.34)],
            darker(plumage, 0.12),
        )
        pen.dot(0.46, 0.43, 0.03, EYE)
    else:
        pen.blob(
            [(0.0, 0.34), (-0.3, 0.7), (-0.62, 0.82), (-1.04, 0.5), (-0.62, 0.62), (-0.3, 0.44), (-0.06, 0.14)], plumage
        )
        pen.blob([(0.0, 0.34), (0.3, 0.7), (0.62, 0.82), (1.04, 0.5), (0.62, 0.62), (0.3, 0.44), (0.06, 0.14)], plumage)
        for side in (-1, 1):
            pen.shape([(side * 0.8, 0.72), (side * 1.04, 0.5), (side * 0.78, 0.57)], wing)
        pen.blob([(-0.1, 0.42), (0.0, 0.5), (0.1, 0.42), (0.12, 0.2), (0.0, 0.0), (-0.12, 0.2)], lighter(plumage, 0.1))
        pen.dot(0.0, 0.46, 0.1, plumage)
        pen.shape([(-0.04, 0.5), (0.04, 0.5), (0.0, 0.62)], beak)
