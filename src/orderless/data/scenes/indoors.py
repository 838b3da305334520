"""Furniture, and what stands on tables. Apple and orange are both round, and some apples are orange."""

from __future__ import annotations

from orderless.data.scenes.dice import Dice
from orderless.data.scenes.pen import Colour, Pen, darker, lighter, mix

WOOD: tuple[Colour, ...] = ((176, 120, 76), (142, 94, 64), (206, 158, 108), (110, 74, 56), (226, 216, 200))
FABRIC: tuple[Colour, ...] = (
    (94, 128, 124), (202, 110, 86), (224, 178, 96), (98, 108, 146), (176, 160, 142), (130, 94, 112), (72, 84, 92),
)  # fmt: skip
CHINA: tuple[Colour, ...] = (
    (244, 240, 230),
    (212, 90, 76),
    (74, 134, 150),
    (240, 190, 88),
    (70, 82, 112),
    (148, 176, 140),
)


def table(pen: Pen, pose: str, dice: Dice) -> None:
    wood = dice.choose(WOOD)
    dark = darker(wood, 0.25)
    if pose == "near":
        pen.shape([(-1.2, 1.0), (1.2, 1.0), (1.78, 0.12), (-1.78, 0.12)], wood)
        for i, y in enumerate((0.92, 0.8, 0.64, 0.44, 0.28)):
            shift = dice.between(-0.3, 0.3)
            reach = 1.82 - 0.62 * y
            pen.line([(-reach, y), (shift, y - 0.015), (reach, y)], 0.008 + 0.003 * i, darker(wood, 0.14), 120)
        pen.shape([(-1.2, 1.0), (1.2, 1.0), (1.22, 0.97), (-1.22, 0.97)], lighter(wood, 0.35))
        pen.bar(-1.78, -0.1, 1.78, 0.12, dark)
        return
    if pose == "round":
        pen.line([(0, 0.86), (0, 0.1)], 0.08, dark)
        pen.oval(0, 0.06, 0.3, 0.06, dark)
        pen.oval(0, 0.84, 0.74, 0.13, darker(wood, 0.2))
        pen.oval(0, 0.87, 0.74, 0.13, wood)
        pen.oval(-0.1, 0.89, 0.5, 0.07, lighter(wood, 0.3), 90)
        return
    for x in (-0.72, 0.72):
        pen.line([(x, 0.8), (x, 0.14)], 0.07, darker(wood, 0.4))
    for x in (-0.9, 0.9):
        pen.shape([(x - 0.05, 0.8), (x + 0.05, 0.8), (x + 0.035, 0.0), (x - 0.035, 0.0)], dark)
    pen.bar(-0.9, 0.66, 0.9, 0.78, darker(wood, 0.32))
    pen.shape([(-0.84, 1.0), (0.84, 1.0), (1.0, 0.82), (-1.0, 0.82)], wood)
    pen.shape([(-0.7, 0.985), (0.1, 0.985), (-0.1, 0.84), (-0.84, 0.84)], lighter(wood, 0.4), 60)
    pen.bar(-1.0, 0.76, 1.0, 0.82, darker(wood, 0.15))


def chair(pen: Pen, pose: str, dice: Dice) -> None:
    wood, fabric = dice.choose(WOOD), dice.choose(FABRIC)
    dark = darker(wood, 0.25)
    for x in (-0.17, 0.17):
        pen.line([(x, 0.44), (x, 0.1)], 0.042, darker(wood, 0.4))
    for x in (-0.21, 0.21):
        pen.line([(x, 0.46), (x * 0.98, 0.97)], 0.048, dark)
        pen.line([(x * 1.08, 0.44), (x * 1.14, 0.02)], 0.05, wood)
    if dice.chance(0.5):
        for y in (0.9, 0.77, 0.64):
            pen.bar(-0.21, y - 0.035, 0.21, y + 0.035, wood, corner=0.02)
    else:
        pen.bar(-0.21, 0.6, 0.21, 0.97, fabric, corner=0.06)
    pen.blob([(-0.2, 0.52), (0.2, 0.52), (0.275, 0.44), (0.26, 0.4), (-0.26, 0.4), (-0.275, 0.44)], fabric)
    pen.line([(-0.25, 0.38), (0.25, 0.38)], 0.045, dark)


def sofa(pen: Pen, pose: str, dice: Dice) -> None:
    fabric = dice.choose(FABRIC)
    dark, seat = darker(fabric, 0.2), lighter(fabric, 0.1)
    for x in (-0.86, 0.86):
        pen.bar(x - 0.04, 0.0, x + 0.04, 0.12, (110, 76, 56))
    pen.bar(-0.94, 0.3, 0.94, 1.0, dark, corner=0.14)
    for left, right in ((-0.84, -0.01), (0.01, 0.84)):
        pen.bar(left, 0.42, right, 0.93, fabric, corner=0.1)
        pen.bar(left + 0.05, 0.8, right - 0.05, 0.88, lighter(fabric, 0.3), alpha=50, corner=0.04)
    pen.bar(-0.9, 0.1, 0.9, 0.3, darker(fabric, 0.28), corner=0.04)
    for left, right in ((-0.85, -0.005), (0.005, 0.85)):
        pen.bar(left, 0.27, right, 0.48, seat, corner=0.07)
    for side in (-1, 1):
        a, b = sorted((side * 0.83, side * 1.07))
        pen.bar(a, 0.1, b, 0.66, mix(fabric, dark, 0.35), corner=0.1)
    for side in (-1, 1):
        if dice.chance(0.6):
            x, tone = side * 0.64, dice.choose(FABRIC)
            pen.blob([(x - 0.17, 0.45), (x - 0.15, 0.74), (x + 0.02, 0.76), (x + 0.18, 0.72), (x + 0.16, 0.45)],
                     lighter(tone, 0.2))  # fmt: skip


def lamp(pen: Pen, pose: str, dice: Dice) -> None:
    shade = dice.choose(((250, 226, 170), (240, 200, 140), (226, 134, 104), (246, 238, 222), (120, 150, 140)))
    lit = lighter(shade, 0.35)
    if pose == "hanging":
        pen.line([(0, 1.1), (0, 0.3)], 0.014, (70, 66, 70))
        pen.shape([(-0.09, 0.36), (0.09, 0.36), (0.33, 0.08), (-0.33, 0.08)], shade)
        pen.oval(0, 0.08, 0.33, 0.05, lit)
        pen.dot(0, 0.06, 0.07, (255, 250, 220))
        pen.glow(0, 0.04, 0.7, (255, 206, 130), 0.5)
        return
    pen.oval(0, 0.02, 0.13, 0.022, (74, 66, 66))
    pen.line([(0, 0.02), (0, 0.76)], 0.022, (84, 74, 70))
    pen.shape([(-0.11, 0.99), (0.11, 0.99), (0.195, 0.7), (-0.195, 0.7)], shade)
    pen.shape([(-0.06, 0.99), (0.03, 0.99), (0.05, 0.7), (-0.11, 0.7)], (255, 252, 235), 110)
    pen.oval(0, 0.7, 0.195, 0.018, lit)
    pen.glow(0, 0.76, 0.5, (255, 200, 120), 0.65)


def laptop(pen: Pen, pose: str, dice: Dice) -> None:
    body = dice.choose(((196, 200, 206), (92, 96, 106), (226, 222, 214)))
    screen = dice.choose(((96, 160, 196), (66, 96, 150), (120, 176, 150), (232, 168, 110)))
    pen.bar(-0.6, 0.2, 0.6, 1.0, darker(body, 0.25), corner=0.05)
    pen.bar(-0.54, 0.26, 0.54, 0.94, screen)
    pen.bar(-0.44, 0.68, 0.1, 0.82, (250, 250, 245), alpha=190)
    for y in (0.56, 0.46, 0.36):
        pen.bar(-0.44, y, 0.3 - y * 0.3, y + 0.04, (250, 250, 245), alpha=130)
    pen.shape([(0.1, 0.94), (0.54, 0.94), (0.54, 0.4)], (255, 255, 255), 40)
    pen.shape([(-0.6, 0.2), (0.6, 0.2), (0.74, 0.04), (-0.74, 0.04)], body)
    pen.shape([(-0.52, 0.18), (0.52, 0.18), (0.58, 0.1), (-0.58, 0.1)], darker(body, 0.5))
    pen.bar(-0.74, 0.0, 0.74, 0.04, darker(body, 0.3))
    pen.glow(0, 0.6, 0.6, screen, 0.25)


def cup(pen: Pen, pose: str, dice: Dice) -> None:
    china = dice.choose(CHINA)
    inside = dice.choose(((92, 60, 44), (140, 90, 56), (196, 148, 96)))
    if pose == "tall":
        pen.shape([(-0.29, 0.86), (0.29, 0.86), (0.21, 0.03), (-0.21, 0.03)], china)
        pen.oval(0, 0.035, 0.21, 0.035, china)
        pen.shape([(-0.27, 0.62), (0.27, 0.62), (0.235, 0.28), (-0.235, 0.28)], mix(china, (150, 110, 80), 0.75))
        pen.oval(0, 0.87, 0.33, 0.06, darker(china, 0.35))
        pen.oval(0, 0.91, 0.3, 0.06, lighter(china, 0.3))
        pen.shape([(-0.2, 0.84), (-0.12, 0.84), (-0.1, 0.06), (-0.16, 0.06)], (255, 255, 255), 70)
        return
    pen.ring(0.4, 0.44, 0.23, 0.085, darker(china, 0.12))
    pen.blob([(-0.44, 0.84), (-0.42, 0.4), (-0.3, 0.06), (0.0, 0.0), (0.3, 0.06), (0.42, 0.4), (0.44, 0.84)], china)
    pen.oval(0, 0.85, 0.44, 0.13, lighter(china, 0.4))
    pen.oval(0, 0.835, 0.38, 0.1, inside)
    pen.oval(-0.08, 0.86, 0.2, 0.03, lighter(inside, 0.3), 150)
    pen.blob([(-0.32, 0.68), (-0.25, 0.68), (-0.2, 0.2), (-0.27, 0.24)], (255, 255, 255), 100)
    for x in (-0.12, 0.12):
        pen.blob([(x, 0.95), (x + 0.06, 1.1), (x - 0.02, 1.25), (x + 0.03, 1.4), (x - 0.06, 1.24), (x + 0.02, 1.1)],
                 (255, 255, 255), 60)  # fmt: skip


def apple(pen: Pen, pose: str, dice: Dice) -> None:
    skin = dice.choose(((206, 56, 52), (222, 84, 58), (150, 184, 82), (232, 150, 70), (196, 48, 60)))
    pen.blob([(0.0, 0.8), (0.24, 0.88), (0.44, 0.68), (0.43, 0.36), (0.24, 0.04), (0.0, 0.05), (-0.24, 0.04),
              (-0.43, 0.36), (-0.44, 0.68), (-0.24, 0.88)], skin)  # fmt: skip
    pen.oval(0.0, 0.8, 0.16, 0.05, darker(skin, 0.3))
    pen.line([(0.0, 0.8), (0.05, 0.98)], 0.05, (98, 68, 50))
    if dice.chance(0.6):
        pen.blob([(0.05, 0.9), (0.18, 1.0), (0.32, 0.96), (0.2, 0.88)], (116, 160, 84))
    pen.oval(-0.2, 0.62, 0.1, 0.15, (255, 255, 250), 110, turn=-20)


def orange(pen: Pen, pose: str, dice: Dice) -> None:
    skin = dice.choose(((242, 152, 52), (236, 134, 48), (246, 170, 66), (232, 150, 70)))
    pen.oval(0.0, 0.48, 0.49, 0.48, skin)
    for x, y in ((0.1, 0.3), (0.24, 0.5), (-0.1, 0.22), (0.0, 0.62), (0.2, 0.72), (-0.28, 0.36)):
        pen.dot(x, y, 0.022, darker(skin, 0.2))
    pen.dot(0.04, 0.88, 0.055, (104, 132, 70))
    if dice.chance(0.3):
        pen.blob([(0.04, 0.9), (0.16, 1.0), (0.32, 0.97), (0.2, 0.88)], (96, 144, 76))
    pen.oval(-0.2, 0.68, 0.12, 0.1, (255, 255, 250), 100, turn=20)
