"""From a sampled scene to a picture: backdrop, then every thing from far to near, then the lens."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PIL import Image

from orderless.data.scenes import animals, indoors, outdoors, people, vehicles
from orderless.data.scenes.backdrops import paint_outdoors
from orderless.data.scenes.dice import Dice
from orderless.data.scenes.pen import Glow, Pen
from orderless.data.scenes.placing import ROOMS, Thing
from orderless.data.scenes.rooms import paint_room
from orderless.data.scenes.textures import expose, rain
from orderless.data.scenes.world import Scene

Painter = Callable[[Pen, str, Dice], None]

PAINTERS: dict[str, Painter] = {
    "apple": indoors.apple,
    "bench": outdoors.bench,
    "bicycle": vehicles.bicycle,
    "bird": animals.bird,
    "boat": vehicles.boat,
    "bus": vehicles.bus,
    "car": vehicles.car,
    "cat": animals.cat,
    "chair": indoors.chair,
    "cup": indoors.cup,
    "dog": animals.dog,
    "horse": animals.horse,
    "kite": outdoors.kite,
    "lamp": indoors.lamp,
    "laptop": indoors.laptop,
    "motorcycle": vehicles.motorcycle,
    "orange": indoors.orange,
    "person": people.person,
    "sofa": indoors.sofa,
    "table": indoors.table,
    "traffic light": outdoors.traffic_light,
    "tree": outdoors.tree,
    "umbrella": outdoors.umbrella,
}

TINTS: dict[str, tuple[float, float, float]] = {
    "day": (1.03, 1.01, 0.97),
    "sunset": (1.06, 0.95, 0.86),
    "rain": (0.95, 0.98, 1.01),
    "night": (0.7, 0.74, 0.92),
    "indoor": (1.03, 1.0, 0.95),
    "evening": (0.98, 0.86, 0.72),
}
LAMPLIGHT: dict[str, float] = {"night": 1.0, "evening": 0.9, "indoor": 0.35, "rain": 0.45, "sunset": 0.4, "day": 0.15}

_FLYING = ("kite", "bird")


def draw_scene(scene: Scene, size: int) -> Image.Image:
    """The picture, `size` pixels square. The same scene gives the same bytes."""
    picture, lights, _ = _compose(scene, size, keep_masks=False)
    if scene.light == "rain":
        rain(picture, Dice(scene.look, 2))
    shrink = picture.width // size
    small = picture.reduce(shrink)
    lights = [(x / shrink, y / shrink, r / shrink, colour, power) for x, y, r, colour, power in lights]
    return expose(small, Dice(scene.look, 1), TINTS[scene.light], lights, LAMPLIGHT[scene.light])


def visible_shares(scene: Scene, size: int) -> list[float]:
    """The share of the picture that each thing really covers, once everything nearer is drawn over it."""
    _, _, masks = _compose(scene, size, keep_masks=True)
    hidden = np.zeros(masks[0].shape, dtype=bool) if masks else np.zeros((0, 0), dtype=bool)
    shares = []
    for mask in reversed(masks):
        shares.append(float((mask & ~hidden).mean()))
        hidden |= mask
    return shares[::-1]


def _compose(
    scene: Scene, size: int, keep_masks: bool
) -> tuple[Image.Image, list[Glow], list[np.ndarray[tuple[int, ...], np.dtype[np.bool_]]]]:
    side = size * (3 if size < 160 else 2)  # drawn larger, then reduced: smooth edges
    paint = paint_room if scene.setting in ROOMS else paint_outdoors
    picture, air = paint(scene.setting, scene.light, scene.camera, side, Dice(scene.look, 0))
    lights: list[Glow] = []
    masks = []
    sun = 1.0 if scene.look % 2 else -1.0
    for thing in scene.things:
        pen = Pen(picture, thing.x * side, thing.y * side, thing.height * side, thing.flip, thing.tilt)
        _shadow(pen, thing, sun, scene.light)
        PAINTERS[thing.kind](pen, thing.pose, Dice(thing.look))
        pen.finish(air, _haze(scene, thing), sun)
        lights += pen.glows
        if keep_masks:
            masks.append(np.asarray(pen.mask) > 0)
    return picture, lights, masks


def _haze(scene: Scene, thing: Thing) -> float:
    if scene.setting in ROOMS or thing.kind in _FLYING:
        return 0.0
    near: float = (thing.y - scene.camera.vanish) / (1.0 - scene.camera.vanish)
    far = max(0.0, 1.0 - near)
    return 0.34 * far * far


def _shadow(pen: Pen, thing: Thing, sun: float, light: str) -> None:
    """A soft shadow at the foot, thrown away from the light."""
    airborne = thing.kind in _FLYING and thing.pose != "stand"
    if airborne or thing.pose in ("near", "hanging", "ride", "held") or thing.kind == "boat":
        return
    if thing.kind == "person" and thing.on >= 0:
        return
    half = thing.shape.aspect * 0.5
    flat = 0.035 + 0.03 * half
    drift = (0.06 + 0.1 * half) * sun * (-1.0 if thing.flip else 1.0)
    if light in ("indoor", "evening", "rain", "night"):
        drift *= 0.3
    for grow, alpha in ((1.12, 30), (0.98, 34), (0.8, 40)):
        pen.oval(drift, 0.008, half * grow, flat * grow, (28, 26, 52), alpha)
