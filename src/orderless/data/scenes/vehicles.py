"""Vehicles, seen from the side. Bicycle and motorcycle share their outline: heavy bicycles, slim motorcycles."""

from __future__ import annotations

from orderless.data.scenes.dice import Dice
from orderless.data.scenes.pen import Colour, Pen, darker, lighter, mix

PAINT: tuple[Colour, ...] = (
    (208, 70, 62), (238, 184, 74), (70, 140, 150), (58, 86, 142), (236, 230, 218), (96, 104, 118), (110, 158, 112),
    (226, 126, 84), (50, 54, 66),
)  # fmt: skip
BUS_PAINT: tuple[Colour, ...] = ((202, 58, 54), (240, 178, 52), (58, 128, 112), (60, 100, 168), (232, 226, 212))
TYRE: Colour = (40, 40, 48)
STEEL: Colour = (186, 190, 196)
GLASS: Colour = (150, 194, 212)
LAMP: Colour = (255, 240, 190)


def car(pen: Pen, pose: str, dice: Dice) -> None:
    paint = dice.choose(PAINT)
    dark = darker(paint, 0.3)
    if pose == "van":
        body = [(-1.0, 0.2), (-1.02, 0.6), (-0.98, 0.95), (-0.85, 1.0), (0.3, 1.0), (0.46, 0.95), (0.72, 0.62),
                (0.98, 0.54), (1.03, 0.4), (1.02, 0.2)]  # fmt: skip
        windows = [
            [(-0.88, 0.6), (-0.88, 0.9), (-0.36, 0.9), (-0.36, 0.6)],
            [(-0.28, 0.6), (-0.28, 0.9), (0.1, 0.9), (0.1, 0.6)],
            [(0.18, 0.6), (0.18, 0.9), (0.36, 0.9), (0.6, 0.6)],
        ]
        wheels, r, low, door = (-0.62, 0.62), 0.2, 0.17, 0.14
    else:
        body = [(-1.26, 0.22), (-1.28, 0.5), (-1.15, 0.6), (-0.78, 0.65), (-0.5, 0.95), (-0.35, 1.0), (0.2, 1.0),
                (0.36, 0.95), (0.66, 0.64), (1.1, 0.57), (1.26, 0.45), (1.28, 0.22)]  # fmt: skip
        windows = [
            [(-0.64, 0.64), (-0.42, 0.9), (-0.08, 0.91), (-0.08, 0.64)],
            [(0.0, 0.64), (0.0, 0.91), (0.26, 0.9), (0.5, 0.64)],
        ]
        wheels, r, low, door = (-0.76, 0.78), 0.25, 0.18, -0.04
    pen.shape(body, paint)
    pen.shape([(body[0][0], low), (body[-1][0], low), (body[-1][0], 0.33), (body[0][0], 0.33)], dark)
    for window in windows:
        pen.shape(window, GLASS)
        (x0, y0), y1 = window[0], window[2][1]
        pen.shape([(x0 + 0.06, y0), (x0 + 0.2, y1), (x0 + 0.3, y1), (x0 + 0.16, y0)], (255, 255, 255), 90)
    pen.line([(door, 0.62), (door, 0.28)], 0.012, dark)
    pen.line([(door - 0.14, 0.55), (door - 0.05, 0.55)], 0.028, darker(paint, 0.45))
    pen.line([(body[0][0] + 0.05, 0.47), (body[-1][0] - 0.08, 0.47)], 0.012, lighter(paint, 0.4))
    front = body[-1][0]
    pen.oval(front - 0.09, 0.46, 0.075, 0.055, LAMP)
    pen.oval(-front + 0.05, 0.48, 0.04, 0.055, (214, 52, 48))
    pen.glow(front + 0.08, 0.44, 0.4, LAMP, 0.75)
    pen.glow(-front - 0.02, 0.47, 0.22, (255, 60, 50), 0.7)
    for x in wheels:
        pen.dot(x, r, r * 1.16, darker(paint, 0.62))
        wheel(pen, x, r, STEEL)


def wheel(pen: Pen, x: float, r: float, rim: Colour) -> None:
    pen.dot(x, r, r, TYRE)
    pen.dot(x, r, r * 0.58, rim)
    pen.dot(x, r, r * 0.42, darker(rim, 0.22))
    pen.dot(x, r, r * 0.16, lighter(rim, 0.5))


def bus(pen: Pen, pose: str, dice: Dice) -> None:
    paint = dice.choose(BUS_PAINT)
    stripe = (244, 238, 224) if sum(paint) < 620 else (202, 84, 66)
    double = dice.chance(0.3)
    pen.bar(-1.16, 0.1, 1.16, 1.0, paint, corner=0.09)
    pen.bar(-1.16, 0.1, 1.16, 0.22, darker(paint, 0.35), corner=0.03)
    pen.bar(-1.15, 0.36, 1.15, 0.41, stripe)
    rows = ((0.48, 0.64), (0.73, 0.91)) if double else ((0.5, 0.84),)
    for low, high in rows:
        pen.bar(-1.08, low - 0.02, 1.14, high + 0.02, darker(paint, 0.55), corner=0.04)
        for i in range(6):
            x = -1.05 + i * 0.335
            if i == 5 and low < 0.6:
                continue
            pen.bar(x, low, x + 0.3, high, GLASS, corner=0.025)
            pen.shape([(x + 0.05, low), (x + 0.13, high), (x + 0.2, high), (x + 0.12, low)], (255, 255, 255), 80)
    top = rows[0][1]
    pen.bar(0.66, 0.14, 0.92, top + 0.02, darker(paint, 0.5), corner=0.02)
    pen.bar(0.685, 0.17, 0.785, top - 0.01, GLASS)
    pen.bar(0.8, 0.17, 0.9, top - 0.01, GLASS)
    pen.bar(0.97, rows[0][0] - 0.06, 1.155, top + 0.02, mix(GLASS, (255, 255, 255), 0.25), corner=0.03)
    pen.bar(0.72, 0.915, 1.1, 0.975, (40, 40, 48), corner=0.02)
    pen.bar(0.78, 0.93, 1.02, 0.96, (255, 190, 80))
    pen.oval(1.12, 0.26, 0.035, 0.045, LAMP)
    pen.oval(-1.13, 0.28, 0.025, 0.06, (214, 52, 48))
    pen.glow(1.16, 0.24, 0.3, LAMP, 0.9)
    for x in (-0.68, 0.44):
        pen.dot(x, 0.14, 0.175, darker(paint, 0.65))
        wheel(pen, x, 0.14, STEEL)


def bicycle(pen: Pen, pose: str, dice: Dice) -> None:
    paint = dice.choose(PAINT)
    heavy = dice.unit()  # towards 1 it is an electric cargo bicycle: thick tyres, battery, panniers
    r, tube = 0.33, 0.035 + 0.03 * heavy
    for x in (-0.47, 0.47):
        pen.ring(x, r, r, 0.035 + 0.045 * heavy, TYRE)
        for dx, dy in ((0.27, 0.0), (0.0, 0.27), (0.19, 0.19), (0.19, -0.19)):
            pen.line([(x - dx, r - dy), (x + dx, r + dy)], 0.006, (150, 152, 158), 150)
        pen.dot(x, r, 0.045, STEEL)
    back, crank, head = (-0.47, r), (-0.08, 0.3), (0.3, 0.76)
    if heavy > 0.55:
        pen.blob([(-0.14, 0.3), (0.0, 0.27), (0.26, 0.62), (0.14, 0.68)], darker(paint, 0.45))
        pen.bar(-0.66, 0.42, -0.36, 0.66, darker(paint, 0.3), corner=0.06)
    pen.line([back, crank, (0.27, 0.68)], tube, paint)
    pen.line([back, (-0.18, 0.66)], tube * 0.8, paint)
    pen.line([crank, (-0.21, 0.8)], tube, paint)
    pen.line([(-0.18, 0.68), (0.28, 0.74)], tube, paint)
    pen.line([(0.47, r), head, (0.29, 0.9)], tube, darker(paint, 0.15))
    pen.line([(0.29, 0.9), (0.4, 0.96), (0.33, 0.99)], 0.04, TYRE)
    pen.blob([(-0.34, 0.83), (-0.3, 0.88), (-0.16, 0.86), (-0.08, 0.83), (-0.2, 0.8)], TYRE)
    pen.dot(*crank, 0.075, darker(STEEL, 0.2))
    pen.line([(crank[0] - 0.06, 0.16), crank, (crank[0] + 0.06, 0.44)], 0.03, darker(STEEL, 0.4))
    pen.line([(crank[0] - 0.12, 0.155), (crank[0], 0.155)], 0.035, TYRE)


def motorcycle(pen: Pen, pose: str, dice: Dice) -> None:
    paint = dice.choose(PAINT)
    heavy = dice.unit()  # towards 0 it is a slim moped, close to a heavy bicycle
    r = 0.31 + 0.02 * heavy
    for x in (-0.47, 0.47):
        pen.ring(x, r, r, 0.075 + 0.05 * heavy, TYRE)
        pen.dot(x, r, 0.05 + 0.07 * heavy, STEEL)
        for dx, dy in ((0.2, 0.0), (0.0, 0.2), (0.14, 0.14), (0.14, -0.14)):
            pen.line([(x - dx, r - dy), (x + dx, r + dy)], 0.014, STEEL, 200)
    pen.line([(-0.47, r), (-0.05, 0.3), (0.22, 0.62)], 0.07, (70, 72, 80))
    pen.line([(0.47, r), (0.29, 0.82)], 0.06, STEEL)
    pen.line([(0.3, 0.8), (0.22, 0.97), (0.12, 0.96)], 0.045, TYRE)
    if heavy > 0.3:
        pen.blob([(-0.2, 0.2), (-0.24, 0.42), (-0.05, 0.5), (0.16, 0.48), (0.2, 0.26), (0.05, 0.17)], (92, 94, 102))
        pen.dot(-0.02, 0.33, 0.11, STEEL)
        pen.dot(-0.02, 0.33, 0.06, (92, 94, 102))
        pen.line([(0.05, 0.22), (-0.3, 0.18), (-0.68, 0.24)], 0.075, STEEL)
    else:
        pen.dot(-0.06, 0.31, 0.12, (92, 94, 102))
        pen.line([(0.0, 0.25), (-0.4, 0.2)], 0.05, STEEL)
    bulk = 0.4 + 0.6 * heavy
    pen.blob([(-0.14, 0.56), (-0.08, 0.6 + 0.12 * bulk), (0.12, 0.62 + 0.16 * bulk), (0.26, 0.7), (0.24, 0.58),
              (0.05, 0.52)], paint)  # fmt: skip
    pen.blob([(-0.6, 0.64), (-0.56, 0.72), (-0.3, 0.69), (-0.1, 0.66), (-0.12, 0.56), (-0.4, 0.56)], TYRE)
    pen.blob([(-0.72, 0.56), (-0.6, 0.66), (-0.36, 0.6), (-0.3, 0.5), (-0.5, 0.56)], paint)
    pen.blob([(0.24, 0.6), (0.34, 0.74), (0.56, 0.66), (0.66, 0.56), (0.46, 0.62)], paint)
    pen.dot(0.4, 0.8, 0.085, STEEL)
    pen.dot(0.43, 0.8, 0.062, LAMP)
    pen.glow(0.48, 0.8, 0.4, LAMP, 0.75)


def boat(pen: Pen, pose: str, dice: Dice) -> None:
    paint = dice.choose(PAINT)
    if pose == "sail":
        sail = dice.choose(((250, 246, 234), (240, 226, 200), (226, 110, 88), (250, 246, 234)))
        pen.line([(0.0, 0.1), (0.0, 0.99)], 0.018, (120, 86, 62))
        pen.blob([(0.025, 0.2), (0.025, 0.55), (0.03, 0.96), (0.2, 0.62), (0.34, 0.25), (0.2, 0.2)], sail)
        pen.blob([(-0.025, 0.24), (-0.025, 0.9), (-0.16, 0.6), (-0.3, 0.24), (-0.15, 0.22)], darker(sail, 0.1))
        pen.shape([(0.0, 1.0), (0.0, 0.95), (-0.1, 0.975)], (214, 70, 62))
        pen.shape([(-0.38, 0.17), (0.38, 0.17), (0.28, 0.03), (0.2, 0.0), (-0.24, 0.0), (-0.31, 0.05)], paint)
        pen.shape([(-0.38, 0.17), (0.38, 0.17), (0.36, 0.135), (-0.36, 0.135)], (246, 240, 228))
    else:
        pen.shape([(-0.5, 0.42), (-0.42, 0.86), (0.12, 0.86), (0.3, 0.42)], (246, 240, 228))
        pen.shape([(-0.36, 0.52), (-0.31, 0.78), (-0.14, 0.78), (-0.14, 0.52)], (86, 128, 152))
        pen.shape([(-0.08, 0.52), (-0.08, 0.78), (0.08, 0.78), (0.2, 0.52)], (86, 128, 152))
        pen.bar(-0.48, 0.86, 0.18, 0.92, darker(paint, 0.15), corner=0.03)
        pen.line([(-0.2, 0.92), (-0.2, 1.0)], 0.02, (120, 120, 128))
        pen.shape([(-0.98, 0.42), (1.02, 0.5), (0.8, 0.16), (0.62, 0.0), (-0.8, 0.0), (-0.92, 0.14)], paint)
        pen.shape([(-0.98, 0.42), (1.02, 0.5), (0.97, 0.4), (-0.97, 0.33)], (246, 240, 228))
    width = 0.42 if pose == "sail" else 1.0
    pen.oval(0.0, 0.0, width, 0.016 if pose == "sail" else 0.04, (240, 250, 250), 130)
