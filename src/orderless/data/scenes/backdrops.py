"""What is behind everything out of doors: streets, lawns, the sea. None of it is a label."""

from __future__ import annotations

from PIL import Image, ImageDraw

from orderless.data.scenes.dice import Dice
from orderless.data.scenes.pen import Colour, Pen, darker, lighter, mix
from orderless.data.scenes.placing import Camera
from orderless.data.scenes.textures import clouds, gradient, ground

SKIES: dict[str, tuple[tuple[Colour, ...], ...]] = {
    "day": (
        ((98, 160, 214), (152, 200, 230), (222, 236, 236)),
        ((116, 178, 208), (176, 216, 224), (240, 238, 220)),
        ((84, 142, 202), (140, 190, 226), (206, 228, 236)),
    ),
    "sunset": (
        ((94, 98, 160), (224, 140, 134), (252, 206, 142)),
        ((120, 130, 180), (240, 168, 130), (254, 224, 168)),
        ((232, 132, 110), (248, 182, 120), (255, 228, 176)),
    ),
    "rain": (
        ((122, 134, 148), (156, 166, 176), (192, 198, 200)),
        ((140, 146, 160), (172, 176, 184), (206, 206, 204)),
    ),
    "night": (
        ((22, 26, 58), (40, 46, 90), (84, 76, 120)),
        ((16, 24, 46), (32, 48, 84), (64, 84, 118)),
    ),
}
CLOUD: dict[str, Colour] = {
    "day": (255, 255, 255), "sunset": (255, 214, 190), "rain": (112, 120, 132), "night": (70, 70, 110),
}  # fmt: skip
FACADES: tuple[Colour, ...] = (
    (222, 176, 142), (196, 116, 96), (228, 208, 172), (150, 166, 172), (206, 152, 110), (176, 184, 160),
    (238, 222, 200), (166, 108, 100), (128, 146, 168),
)  # fmt: skip
GRASS: tuple[Colour, ...] = ((122, 172, 92), (138, 178, 86), (104, 158, 98), (158, 180, 92))
SAND: tuple[Colour, ...] = ((236, 212, 166), (242, 222, 184), (226, 198, 152))


def paint_outdoors(setting: str, light: str, camera: Camera, side: int, dice: Dice) -> tuple[Image.Image, Colour]:
    """The background, and the colour of the air in front of it, which veils what is far."""
    sky = dice.choose(SKIES[light])
    picture = gradient((side, side), (*sky, sky[-1]))
    horizon = camera.vanish
    clouds(picture, dice, horizon + 0.06, CLOUD[light], dice.between(0.2, 1.0) if light != "rain" else 1.1)
    pen = Pen(picture, 0.0, 0.0, side, masked=False)
    _sun(pen, light, horizon, dice)
    painter = {"street": _street, "night street": _street, "park": _lawn, "meadow": _lawn, "beach": _beach}[setting]
    painter(pen, picture, setting, light, camera, sky, dice)
    return picture, mix(sky[-1], sky[1], 0.3)


def _sun(pen: Pen, light: str, horizon: float, dice: Dice) -> None:
    x, y = dice.between(0.1, 0.9), -dice.between(0.08, max(0.1, horizon - 0.1))
    if light == "sunset":
        y = -max(0.1, horizon - dice.between(0.05, 0.14))
    for r, alpha in ((0.16, 22), (0.11, 30), (0.07, 60)):
        if light in ("sunset", "night"):
            pen.dot(x, y, r, (255, 236, 190), alpha if light == "sunset" else alpha // 3)
    if light == "sunset":
        pen.dot(x, y, 0.05, (255, 244, 214))
    elif light == "night":
        pen.dot(x, y, 0.04, (246, 240, 220))
        for _ in range(22):
            pen.dot(dice.unit(), -dice.between(0.0, horizon), dice.between(0.0015, 0.004), (255, 255, 240), 200)


def _street(pen: Pen, picture: Image.Image, setting: str, light: str, camera: Camera, sky: tuple[Colour, ...],
            dice: Dice) -> None:  # fmt: skip
    top, night = camera.top, light == "night"
    x = -dice.between(0.0, 0.15)
    air = sky[1]
    while x < 1.0:  # a far row of roofs, pale with distance
        width, height = dice.between(0.06, 0.14), dice.between(0.22, 0.42)
        pen.bar(x, -top, x + width, -max(0.02, top - height), mix(air, darker(air, 0.4), 0.35))
        x += width
    x = -dice.between(0.0, 0.2)
    while x < 1.0:
        width, height = dice.between(0.17, 0.34), dice.between(0.14, 0.4)
        _house(pen, x, -top, width, height, dice, night)
        x += width
    depth = 1.0 - top
    road = mix((112, 114, 122), sky[2], 0.08) if not night else (52, 54, 70)
    kerb, pavement = mix((206, 200, 190), road, 0.15), mix((186, 180, 172), road, 0.12 if not night else 0.6)
    ground(picture, top, (pavement, road, road, darker(road, 0.12)), dice, 0.35)
    pen.bar(0, -(top + 0.2 * depth), 1, -top, pavement)
    pen.bar(0, -(top + 0.215 * depth), 1, -(top + 0.2 * depth), kerb)
    for i in range(9):
        a = -0.1 + i * 0.15
        pen.line([(a, -top), (a + (a - 0.5) * 0.12, -(top + 0.2 * depth))], 0.003, darker(pavement, 0.2), 140)
    y, start = top + 0.55 * depth, dice.between(-0.2, 0.0)
    if dice.chance(0.3):
        low, high = top + 0.24 * depth, top + 0.88 * depth
        middle = dice.between(0.2, 0.8)
        for i in range(6):
            a = (i - 3) * 0.075
            pen.shape([(middle + a, -low), (middle + a + 0.035, -low), (middle + (a + 0.035) * 1.8, -high),
                       (middle + a * 1.8, -high)], (236, 232, 222), 200)  # fmt: skip
    else:
        for i in range(6):
            a = start + i * 0.24
            pen.shape(
                [(a, -y), (a + 0.13, -y), (a + 0.125, -(y + 0.018)), (a - 0.01, -(y + 0.018))], (240, 234, 214), 210
            )
    low = top + 0.93 * depth
    pen.bar(0, -1.0, 1, -low, darker(pavement, 0.06))
    pen.bar(0, -(low + 0.012), 1, -low, kerb)


def _house(pen: Pen, x: float, base: float, width: float, height: float, dice: Dice, night: bool) -> None:
    wall = dice.choose(FACADES)
    wall = darker(wall, 0.66) if night else wall
    roof = darker(mix(wall, (150, 80, 66), 0.5), 0.25)
    pen.bar(x, base, x + width, base + height, wall)
    pen.bar(x + width - 0.012, base, x + width, base + height, darker(wall, 0.15))
    if dice.chance(0.4):
        eaves, ridge = base + height, base + height + 0.06
        left, right = x - 0.008, x + width + 0.008
        pen.shape([(left, eaves), (right, eaves), (right - 0.038, ridge), (left + 0.038, ridge)], roof)
    else:
        pen.bar(x - 0.005, base + height - 0.012, x + width + 0.005, base + height + 0.008, darker(wall, 0.2))
    columns, rows = max(2, round(width / 0.075)), max(1, round((height - 0.08) / 0.085))
    step, rise = width / columns, (height - 0.09) / rows
    glass: Colour = (96, 122, 140)
    for row in range(rows):
        for column in range(columns):
            a, b = x + step * (column + 0.25), base + 0.085 + rise * (row + 0.2)
            lit = dice.chance(0.5 if night else 0.06)
            tone = (252, 214, 130) if lit else darker(glass, 0.55 if night else dice.between(0.0, 0.25))
            pen.bar(a - 0.004, b - 0.004, a + step * 0.5 + 0.004, b + rise * 0.6 + 0.004, lighter(wall, 0.3))
            pen.bar(a, b, a + step * 0.5, b + rise * 0.6, tone)
    shop = dice.choose(FACADES)
    if dice.chance(0.55):  # a shop with an awning
        pen.bar(x + 0.02, base, x + width - 0.02, base + 0.062, darker(glass, 0.3) if not night else (236, 190, 110))
        pen.bar(x + width * 0.45, base, x + width * 0.6, base + 0.06, darker(shop, 0.3))
        stripes = 7
        for i in range(stripes):
            a = x + 0.012 + (width - 0.024) * i / stripes
            tone = darker(shop, 0.1) if i % 2 else (246, 240, 230)
            pen.bar(a, base + 0.052, a + (width - 0.024) / stripes, base + 0.078, darker(tone, 0.45) if night else tone)
    else:
        pen.bar(x + width * 0.4, base, x + width * 0.4 + 0.04, base + 0.068, darker(shop, 0.4))
        pen.bar(x + width * 0.1, base + 0.02, x + width * 0.3, base + 0.06, glass if not night else (236, 190, 110))


def _hill(pen: Pen, level: float, swing: float, colour: Colour, dice: Dice) -> None:
    points = [(-0.1, -1.0), (1.1, -1.0), (1.1, -level + swing * dice.unit())]
    points += [(x, -level + swing * dice.between(0.0, 1.0)) for x in (0.85, 0.6, 0.35, 0.1)]
    points += [(-0.1, -level + swing * dice.unit())]
    pen.blob(points, colour)


def _lawn(pen: Pen, picture: Image.Image, setting: str, light: str, camera: Camera, sky: tuple[Colour, ...],
          dice: Dice) -> None:  # fmt: skip
    grass = dice.choose(GRASS) if light != "rain" else darker(dice.choose(GRASS), 0.2)
    far = mix(grass, sky[1], 0.55)
    _hill(pen, camera.vanish, 0.13, mix(far, sky[1], 0.4), dice)
    _hill(pen, camera.vanish + 0.01, 0.06, far, dice)
    if setting == "park":
        x = -0.05
        while x < 1.05:  # a hedge along the far end
            r = dice.between(0.02, 0.042)
            pen.oval(x, -camera.top + 0.004, r * 1.5, r, mix(darker(grass, 0.3), sky[1], 0.28))
            x += r * 1.5
    ground(picture, camera.top - 0.01, (mix(grass, sky[2], 0.3), grass, darker(grass, 0.12)), dice, 0.5)
    depth = 1 - camera.top
    if setting == "park" and dice.chance(0.65):
        path, end, bend = (226, 208, 176), dice.between(0.2, 0.8), dice.between(-0.3, 0.3)
        near = 0.5 + bend
        far_y, turn_x, turn_y = -camera.top, end + bend * 0.4, -camera.top - 0.3 * depth
        points = [(end - 0.012, far_y), (end + 0.012, far_y), (turn_x + 0.06, turn_y), (near + 0.28, -1.05),
                  (near - 0.22, -1.05), (turn_x - 0.03, turn_y)]  # fmt: skip
        pen.blob(points, darker(path, 0.12) if light == "rain" else path, 225)
    if setting == "meadow" and dice.chance(0.6):
        y, post = camera.top + 0.1 * depth, (232, 222, 206)
        for rail in (0.018, 0.036):
            pen.bar(0, -y + rail, 1, -y + rail + 0.006, post)
        for i in range(12):
            pen.bar(0.03 + i * 0.088, -y, 0.04 + i * 0.088, -y + 0.05, darker(post, 0.1))
    bloom = dice.choose(((250, 246, 236), (250, 214, 92), (236, 140, 160), (216, 90, 84)))
    for _ in range(dice.whole(10, 34)):
        t = dice.unit()
        x, y = dice.unit(), -(camera.top + depth * (0.05 + 0.95 * t))
        if dice.chance(0.5):
            pen.dot(x, y, 0.002 + 0.006 * t, bloom, 230)
        else:
            size = 0.006 + 0.02 * t
            pen.line(
                [(x - size * 0.4, y + size), (x, y), (x + size * 0.4, y + size)],
                0.002 + 0.002 * t,
                darker(grass, 0.3),
                170,
            )


def _beach(pen: Pen, picture: Image.Image, setting: str, light: str, camera: Camera, sky: tuple[Colour, ...],
           dice: Dice) -> None:  # fmt: skip
    side = picture.width
    sea = dice.choose(((64, 140, 164), (72, 156, 168), (60, 122, 160)))
    sea = mix(sea, sky[1], 0.35 if light == "sunset" else 0.1)
    sand = dice.choose(SAND)
    if dice.chance(0.4):
        _hill(pen, camera.vanish, 0.07, mix(sea, sky[2], 0.55), dice)
    first, shore = round(camera.vanish * side), camera.shore
    picture.paste(gradient((side, side - first), (mix(sea, sky[2], 0.4), sea, lighter(sea, 0.3))), (0, first))
    ink = ImageDraw.Draw(picture, "RGBA")
    for _ in range(60):
        t = dice.unit()
        x, y, length = dice.unit(), camera.vanish + (shore - camera.vanish) * t, 0.01 + 0.07 * t * dice.unit()
        ink.line(
            (x * side, y * side, (x + length) * side, y * side),
            (255, 255, 250, 70),
            max(1, round(side * (0.002 + 0.003 * t))),
        )
    ground(picture, shore + 0.05, (sand, sand, darker(sand, 0.1)), dice, 0.22)
    swell = [(-0.1 + 0.24 * i, -shore - 0.016 + dice.between(-0.014, 0.02)) for i in range(6)]
    low = [(1.1, -shore - 0.075), (-0.1, -shore - 0.075)]
    pen.blob([*[(x, y + 0.012) for x, y in swell], *low], (250, 252, 248), 235)
    pen.blob([*swell, *low], darker(sand, 0.14))
    pen.blob([*[(x, y - 0.022) for x, y in swell], *[(x, y - 0.02) for x, y in low]], sand)
    for _ in range(26):
        x, y = dice.unit(), -dice.between(shore + 0.06, 1.0)
        pen.dot(x, y, dice.between(0.001, 0.004), darker(sand, dice.between(0.1, 0.35)), 200)
