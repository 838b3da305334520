"""The world model: a small probabilistic program that decides what a scene holds.

It is built to have what real label sets have: labels that pull each other in, labels that exclude each other,
look-alikes that share evidence but never meet, and a long tail of frequency.
"""

from __future__ import annotations

from dataclasses import dataclass

from orderless.data.scenes.dice import Dice
from orderless.data.scenes.kinds import EXCLUSIONS, KINDS
from orderless.data.scenes.placing import Camera, Stage, Thing

MOST_LABELS = 7
EMPTY_SHARE = 0.02  # views without any object: a model must learn to say "end" at once


@dataclass(frozen=True, slots=True)
class Setting:
    """A kind of place: how often it comes, in which light, and the odds of every object kind there.

    The order of `odds` is the order of the decisions; a later kind sees the earlier ones.
    """

    weight: float
    lights: dict[str, float]
    odds: dict[str, float]


SETTINGS: dict[str, Setting] = {
    "street": Setting(
        weight=0.27,
        lights={"day": 0.5, "sunset": 0.22, "rain": 0.28},
        odds={
            "car": 0.68, "person": 0.8, "bicycle": 0.3, "motorcycle": 0.28, "bus": 0.14, "traffic light": 0.36,
            "tree": 0.36, "bench": 0.12, "dog": 0.14, "cat": 0.09, "bird": 0.16, "umbrella": 0.03,
        },
    ),
    "night street": Setting(
        weight=0.08,
        lights={"night": 1.0},
        odds={
            "car": 0.76, "person": 0.68, "motorcycle": 0.3, "bicycle": 0.16, "bus": 0.16, "traffic light": 0.46,
            "tree": 0.2, "cat": 0.16, "umbrella": 0.14,
        },
    ),
    "park": Setting(
        weight=0.21,
        lights={"day": 0.62, "sunset": 0.2, "rain": 0.18},
        odds={
            "tree": 0.8, "person": 0.74, "bench": 0.48, "dog": 0.26, "cat": 0.06, "kite": 0.2, "bird": 0.36,
            "bicycle": 0.32, "horse": 0.01, "umbrella": 0.03,
        },
    ),
    "beach": Setting(
        weight=0.14,
        lights={"day": 0.7, "sunset": 0.3},
        odds={
            "boat": 0.62, "person": 0.76, "kite": 0.18, "bird": 0.3, "umbrella": 0.5, "dog": 0.16, "tree": 0.26,
        },
    ),
    "meadow": Setting(
        weight=0.07,
        lights={"day": 0.7, "sunset": 0.3},
        odds={"tree": 0.7, "horse": 0.2, "person": 0.42, "kite": 0.2, "bird": 0.36, "car": 0.06, "dog": 0.2},
    ),
    "kitchen": Setting(
        weight=0.12,
        lights={"indoor": 0.75, "evening": 0.25},
        odds={
            "table": 0.95, "chair": 0.6, "cup": 0.74, "apple": 0.36, "orange": 0.34, "laptop": 0.18, "lamp": 0.4,
            "person": 0.28, "cat": 0.18, "dog": 0.08,
        },
    ),
    "living room": Setting(
        weight=0.11,
        lights={"indoor": 0.6, "evening": 0.4},
        odds={
            "sofa": 0.78, "lamp": 0.62, "table": 0.5, "chair": 0.22, "person": 0.42, "cat": 0.3, "dog": 0.24,
            "laptop": 0.26, "cup": 0.6, "apple": 0.2, "orange": 0.1,
        },
    ),
}  # fmt: skip

NEEDS: dict[str, tuple[str, ...]] = {
    "cup": ("table",),
    "apple": ("table",),
    "orange": ("table",),
    "laptop": ("table", "sofa"),
}
"""Kinds that come only where one of these stands already."""

PULLS: dict[tuple[str, str], float] = {
    ("person", "dog"): 1.6,
    ("person", "kite"): 1.7,
    ("boat", "bird"): 2.2,
    ("tree", "bird"): 1.4,
    ("bench", "person"): 1.2,
    ("table", "chair"): 1.2,
    ("sofa", "cat"): 1.4,
    ("cup", "laptop"): 1.8,
    ("car", "traffic light"): 1.4,
}
"""How much likelier the second kind becomes when the first is there."""

RAIN_UMBRELLA = 0.62  # odds of an umbrella when it rains on somebody


@dataclass(frozen=True, slots=True)
class Scene:
    """All that is needed to draw one picture, at any size; `things` from far to near."""

    setting: str
    light: str
    camera: Camera
    things: tuple[Thing, ...]
    look: int

    def areas(self) -> dict[str, float]:
        """Label -> share of the picture that its largest instance shows, by label name."""
        areas: dict[str, float] = {}
        for thing in self.things:
            areas[thing.kind] = max(areas.get(thing.kind, 0.0), thing.area)
        return dict(sorted(areas.items()))


def sample_scene(seed: int, split: int, index: int) -> Scene:
    """The scene number `index` of a split; it depends on these three numbers alone."""
    dice = Dice(seed, split, index)
    setting = dice.weighted({name: place.weight for name, place in SETTINGS.items()})
    light = dice.weighted(SETTINGS[setting].lights)
    kinds = [] if dice.chance(EMPTY_SHARE) else choose_kinds(dice, setting, light)
    stage = Stage(dice, setting)
    stage.place_all(kinds)
    return Scene(setting, light, stage.camera, stage.visible_things(), look=dice.whole(0, 2**31 - 1))


def choose_kinds(dice: Dice, setting: str, light: str) -> list[str]:
    """Which kinds of objects the scene holds: one decision after another, each in view of those before it."""
    chosen: list[str] = []
    for kind, odds in SETTINGS[setting].odds.items():
        roll = dice.unit()
        if kind in NEEDS and not any(need in chosen for need in NEEDS[kind]):
            continue
        if kind == "umbrella" and setting != "beach":
            if "person" not in chosen:
                continue
            odds = RAIN_UMBRELLA if light == "rain" else odds
        for other in chosen:
            odds *= PULLS.get((other, kind), 1.0)
        if roll < odds and not any(_excluded(kind, other) for other in chosen):
            chosen.append(kind)
        if len(chosen) == MOST_LABELS:
            break
    return chosen


def _excluded(a: str, b: str) -> bool:
    return (a, b) in _EXCLUDED


_EXCLUDED = frozenset(EXCLUSIONS) | frozenset((b, a) for a, b in EXCLUSIONS)

SCENE_LABELS: tuple[str, ...] = tuple(sorted(KINDS))
SCENE_GROUPS: dict[str, str] = {label: KINDS[label].group for label in SCENE_LABELS}
