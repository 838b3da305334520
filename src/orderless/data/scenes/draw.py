"""From a sampled scene to a picture: backdrop, then every thing from far to near, then the lens."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from PIL import Image

from orderless.data.scenes import animals, indoors, outdoors, people, vehicles
from orderless.data.scenes.backdrops import paint_backdrop
from orderless.data.scenes.dice import Dice
from orderless.data.scenes.pen import Glow, Pen
from orderless.data.scenes.placing import Thing
from orderless.data.scenes.textures import expose
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
    "rain": (0.9, 0.94, 0.98),
    "night": (0.62, 0.66, 0.86),
    "indoor": (1.03, 1.0, 0.95),
    "evening": (0.9, 0.8, 0.68),
}
LAMPLIGHT: dict[str, float] = {"night": 1.0, "evening": 0.9, "indoor": 0.35, "rain": 0.45, "sunset": 0.4, "day": 0.15}

_FLYING = ("kite", "bird")


def draw_scene(scene: Scene, size: int) -> Image.Image:
    """The picture, `size` pixels square. The same scene gives the same bytes."""
    picture, lights, _ = _compose(scene, size, keep_masks=False)
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
    side = size * (3 if size <= 256 else 2)  # drawn larger, then reduced: smooth edges
    backdrop = paint_backdrop(scene.setting, scene.light, scene.camera, side, Dice(scene.look, 0))
    picture, lights, masks = backdrop.picture, [], []
    sun = 1.0 if scene.look % 2 else -1.0
    for thing in scene.things:
        pen = Pen(picture, thing.x * side, thing.y * side, thing.height * side, thing.flip, thing.tilt)
        _shadow(pen, thing, sun, scene.light)
        PAINTERS[thing.kind](pen, thing.pose, Dice(thing.look))
        pen.finish(backdrop.haze, _haze(scene, thing), sun)
        lights += pen.glows
        if keep_masks:
            masks.append(np.asarray(pen.mask) > 0)
    return picture, lights, masks


def _haze(scene: Scene, thing: Thing) -> float:
    if scene.setting in ("kitchen", "living room") or thing.kind in _FLYING:
        return 0.0
    near = (thing.y - scene.camera.vanish) / (1.0 - scene.camera.vanish)
    return max(0.0, 0.34 * (1.0 - near) ** 2.2)


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
