"""Trees, street furniture, and what people carry outside."""

from __future__ import annotations

import math

from orderless.data.scenes.dice import Dice
from orderless.data.scenes.pen import Colour, Pen, darker, lighter

LEAVES: tuple[Colour, ...] = (
    (86, 140, 78),
    (104, 154, 74),
    (66, 118, 84),
    (196, 142, 66),
    (140, 158, 70),
    (84, 136, 96),
)
CLOTH: tuple[tuple[Colour, Colour], ...] = (
    ((220, 82, 72), (248, 238, 220)),
    ((244, 186, 72), (236, 110, 80)),
    ((58, 132, 150), (244, 236, 216)),
    ((92, 84, 150), (232, 150, 170)),
    ((50, 60, 84), (84, 98, 128)),
)
BARK: Colour = (112, 80, 60)
IRON: Colour = (66, 70, 80)


def tree(pen: Pen, pose: str, dice: Dice) -> None:
    leaf = dice.choose(LEAVES)
    if pose == "palm":
        _palm(pen, leaf, dice)
        return
    if pose == "conifer":
        leaf = darker(leaf, 0.2)
        pen.bar(-0.03, 0.0, 0.03, 0.2, BARK)
        for i, (low, half) in enumerate(((0.1, 0.27), (0.3, 0.225), (0.5, 0.175), (0.68, 0.12))):
            high = low + 0.34
            points = [(-half, low), (-half * 0.5, low - 0.02), (0, low + 0.01), (half * 0.5, low - 0.02), (half, low)]
            pen.shape([*points, (0, min(1.0, high))], lighter(leaf, 0.05 * i))
            pen.shape([(-half, low), (-half * 0.3, low), (0, min(1.0, high))], (255, 255, 230), 26)
        return
    pen.blob([(-0.05, 0.0), (-0.035, 0.2), (-0.03, 0.5), (0.03, 0.5), (0.035, 0.2), (0.055, 0.0)], BARK)
    pen.line([(0.0, 0.3), (0.1, 0.46)], 0.03, BARK)
    pen.line([(0.0, 0.26), (-0.11, 0.44)], 0.03, darker(BARK, 0.1))
    turn = dice.between(0, 60)
    for layer, (count, reach, size) in enumerate(((7, 0.2, 0.17), (6, 0.14, 0.15), (5, 0.1, 0.11))):
        tone = (darker(leaf, 0.22), leaf, lighter(leaf, 0.16))[layer]
        lift = 0.0 if layer == 0 else 0.03 * layer
        for i in range(count):
            angle = math.radians(360 * i / count + turn * (layer + 1))
            r = size * dice.between(0.85, 1.1)
            x, y = reach * math.cos(angle) - 0.03 * layer, 0.67 + lift + reach * 0.75 * math.sin(angle)
            pen.dot(max(r - 0.39, min(0.39 - r, x)), min(y, 1.0 - r), r, tone)


def _palm(pen: Pen, leaf: Colour, dice: Dice) -> None:
    lean = dice.between(0.02, 0.12)
    pen.blob([(-0.045, 0.0), (-0.02 + lean * 0.3, 0.35), (-0.018 + lean, 0.78), (0.018 + lean, 0.78),
              (0.022 + lean * 0.3, 0.35), (0.045, 0.0)], (150, 112, 78))  # fmt: skip
    for y in (0.12, 0.22, 0.32, 0.42, 0.52, 0.62):
        x = lean * (y / 0.78) ** 1.5
        pen.line([(x - 0.03, y), (x + 0.03, y + 0.01)], 0.008, (112, 82, 60))
    green = darker(leaf, 0.05)
    for i, (dx, dy) in enumerate(((-0.38, -0.1), (0.34, -0.12), (-0.32, 0.1), (0.3, 0.1), (-0.14, 0.21), (0.14, 0.2),
                                  (-0.22, -0.22), (0.2, -0.24))):  # fmt: skip
        tip = (lean + dx * 0.98, 0.78 + dy)
        middle = (lean + dx * 0.5, 0.78 + dy * 0.5 + 0.09)
        pen.blob([(lean, 0.77), (middle[0], middle[1] + 0.025), tip, (middle[0], middle[1] - 0.035)],
                 (green, lighter(green, 0.12), darker(green, 0.15))[i % 3])  # fmt: skip
    pen.dot(lean - 0.02, 0.755, 0.028, (104, 72, 50))
    pen.dot(lean + 0.03, 0.75, 0.026, (122, 84, 58))


def bench(pen: Pen, pose: str, dice: Dice) -> None:
    wood = dice.choose(((168, 112, 70), (136, 88, 60), (86, 132, 110), (190, 140, 92)))
    for x in (-0.76, 0.76):
        pen.line([(x, 0.98), (x, 0.42)], 0.05, IRON)
        pen.line([(x * 1.04, 0.42), (x * 1.06, 0.02)], 0.06, IRON)
        pen.line([(x * 0.92, 0.36), (x * 0.92, 0.1)], 0.045, darker(IRON, 0.3))
        pen.line([(x * 1.08, 0.64), (x * 1.08, 0.46)], 0.045, IRON)
        pen.line([(x * 1.0, 0.64), (x * 1.12, 0.64)], 0.05, IRON)
    for y in (0.88, 0.74, 0.6):
        pen.bar(-0.9, y - 0.05, 0.9, y + 0.05, wood, corner=0.02)
    pen.shape([(-0.86, 0.5), (0.86, 0.5), (0.95, 0.4), (-0.95, 0.4)], lighter(wood, 0.15))
    pen.line([(-0.9, 0.45), (0.9, 0.45)], 0.012, darker(wood, 0.3))
    pen.bar(-0.95, 0.33, 0.95, 0.4, darker(wood, 0.18))


def traffic_light(pen: Pen, pose: str, dice: Dice) -> None:
    pen.line([(0, 0.01), (0, 0.7)], 0.03, (84, 88, 96))
    pen.bar(-0.035, 0.0, 0.035, 0.06, darker((84, 88, 96), 0.2), corner=0.01)
    pen.bar(-0.095, 0.64, 0.095, 1.0, (44, 48, 54), corner=0.03)
    pen.bar(-0.082, 0.655, 0.082, 0.985, (58, 62, 68), corner=0.025)
    lit = dice.choose((0, 1, 2, 0, 2))
    lamps = (((240, 72, 58), (0, 0.925)), ((250, 190, 60), (0, 0.82)), ((88, 214, 122), (0, 0.715)))
    for i, (colour, (x, y)) in enumerate(lamps):
        pen.dot(x, y, 0.052, (34, 36, 40))
        pen.dot(x, y, 0.045, colour if i == lit else darker(colour, 0.68))
        if i == lit:
            pen.dot(x - 0.012, y + 0.014, 0.014, (255, 255, 240), 180)
            pen.glow(x, y, 0.22, colour, 0.8)


def kite(pen: Pen, pose: str, dice: Dice) -> None:
    main, other = dice.choose(CLOTH)
    if pose == "diamond":
        top, left, right, low = (0.0, 1.0), (-0.34, 0.68), (0.34, 0.68), (0.0, 0.26)
        middle = (0.0, 0.68)
        pen.line([low, (0.08, 0.17), (-0.03, 0.09), (0.06, 0.0)], 0.014, darker(other, 0.1))
        for x, y in ((0.07, 0.17), (-0.01, 0.09), (0.05, 0.015)):
            pen.shape([(x - 0.07, y + 0.035), (x - 0.07, y - 0.035), (x, y)], main)
            pen.shape([(x + 0.07, y + 0.035), (x + 0.07, y - 0.035), (x, y)], other)
        for a, b, tone in ((top, left, main), (top, right, other), (low, left, other), (low, right, main)):
            pen.shape([a, b, middle], tone)
        pen.line([top, low], 0.012, darker(main, 0.4))
        pen.line([left, right], 0.012, darker(main, 0.4))
    else:  # from afar its bent wings are a gull's
        for side, tone in ((-1, main), (1, main)):
            pen.blob([(0.0, 0.75), (side * 0.4, 0.86), (side * 0.98, 0.5), (side * 0.5, 0.5), (side * 0.1, 0.34)], tone)
            pen.shape([(side * 0.62, 0.76), (side * 0.97, 0.51), (side * 0.6, 0.52)], other)
        pen.blob([(-0.1, 0.5), (0.0, 0.82), (0.1, 0.5), (0.0, 0.3)], other)
        pen.line([(-0.03, 0.34), (-0.12, 0.14), (-0.06, 0.0)], 0.03, main)
        pen.line([(0.03, 0.34), (0.12, 0.14), (0.16, 0.02)], 0.03, main)


def umbrella(pen: Pen, pose: str, dice: Dice) -> None:
    main, other = dice.choose(CLOTH)
    if dice.chance(0.35) and pose == "held":
        other = darker(main, 0.12)
    half, low = (0.6, 0.6) if pose == "held" else (0.56, 0.7)
    pen.line([(0.0, 0.02), (0.0, 0.94)], 0.026 if pose == "held" else 0.022, (112, 84, 64))
    if pose == "held":
        pen.line([(0.0, 0.03), (0.03, 0.0), (0.06, 0.03)], 0.026, (84, 62, 50))
    ribs = [-1.0, -0.6, -0.2, 0.2, 0.6, 1.0]
    for i in range(5):
        a, b = ribs[i] * half, ribs[i + 1] * half
        arch = [(a, low)]
        for t in (0.25, 0.5, 0.75, 1.0):
            arch.append((a * math.cos(t * 1.45) ** 0.9, low + (0.97 - low) * math.sin(t * 1.5)))
        for t in (0.75, 0.5, 0.25, 0.0):
            arch.append((b * math.cos(t * 1.45) ** 0.9, low + (0.97 - low) * math.sin(t * 1.5)))
        arch.append(((a + b) / 2, low + 0.035))
        pen.shape(arch, main if i % 2 == 0 else other)
    pen.line([(0.0, 0.95), (0.0, 0.99)], 0.024, (84, 62, 50))
