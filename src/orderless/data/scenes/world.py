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
EMPTY_SHARE = 0.03  # views without any object: a model must learn to say "end" at once


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
            "car": 0.66, "person": 0.74, "bicycle": 0.24, "motorcycle": 0.2, "bus": 0.13, "traffic light": 0.34,
            "tree": 0.3, "bench": 0.08, "dog": 0.1, "cat": 0.07, "bird": 0.1, "umbrella": 0.03,
        },
    ),
    "night street": Setting(
        weight=0.08,
        lights={"night": 1.0},
        odds={
            "car": 0.7, "person": 0.6, "motorcycle": 0.22, "bicycle": 0.12, "bus": 0.12, "traffic light": 0.5,
            "tree": 0.12, "cat": 0.12, "umbrella": 0.12,
        },
    ),
    "park": Setting(
        weight=0.21,
        lights={"day": 0.62, "sunset": 0.2, "rain": 0.18},
        odds={
            "tree": 0.72, "person": 0.68, "bench": 0.42, "dog": 0.26, "cat": 0.04, "kite": 0.2, "bird": 0.26,
            "bicycle": 0.24, "horse": 0.015, "umbrella": 0.02,
        },
    ),
    "beach": Setting(
        weight=0.14,
        lights={"day": 0.7, "sunset": 0.3},
        odds={
            "boat": 0.52, "person": 0.72, "kite": 0.18, "bird": 0.22, "umbrella": 0.42, "dog": 0.14, "tree": 0.16,
        },
    ),
    "meadow": Setting(
        weight=0.07,
        lights={"day": 0.7, "sunset": 0.3},
        odds={"tree": 0.55, "horse": 0.22, "person": 0.3, "kite": 0.12, "bird": 0.25, "car": 0.05, "dog": 0.12},
    ),
    "kitchen": Setting(
        weight=0.12,
        lights={"indoor": 0.75, "evening": 0.25},
        odds={
            "table": 0.9, "chair": 0.5, "cup": 0.66, "apple": 0.3, "orange": 0.28, "laptop": 0.14, "lamp": 0.24,
            "person": 0.24, "cat": 0.14, "dog": 0.06,
        },
    ),
    "living room": Setting(
        weight=0.11,
        lights={"indoor": 0.6, "evening": 0.4},
        odds={
            "sofa": 0.72, "lamp": 0.52, "table": 0.38, "chair": 0.18, "person": 0.36, "cat": 0.26, "dog": 0.22,
            "laptop": 0.22, "cup": 0.5, "apple": 0.16, "orange": 0.08,
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
