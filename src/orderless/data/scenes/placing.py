"""Where things stand: perspective, seats and table tops, and what is left to see of each thing.

Positions are shares of the picture's side, `y` downwards, so that a scene can be drawn at any size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from orderless.data.scenes.dice import Dice
from orderless.data.scenes.kinds import KINDS, Pose

VISIBLE_SHARE = 0.3  # of its box: a thing of which less can be seen is taken out of the scene
SMALLEST = 0.03  # share of the picture's side: a thing smaller than this both ways is taken out
TRIES = 6  # places to try before settling for the last one


@dataclass(frozen=True, slots=True)
class Camera:
    """A flat ground seen in perspective: heights grow with the distance of the feet below `vanish`."""

    vanish: float
    top: float  # where the ground (or floor, or sand) begins
    bottom: float
    scale: float
    shore: float = 1.0  # beach only: where the water ends

    def metre(self, y: float) -> float:
        """How tall a metre looks whose foot stands at height `y` of the picture."""
        return (y - self.vanish) * self.scale


@dataclass(frozen=True, slots=True)
class Thing:
    """One object in its place. `x`, `y` is the middle of its foot; `area` the share of the picture it shows."""

    kind: str
    pose: str
    x: float
    y: float
    height: float
    flip: bool
    tilt: float  # degrees
    depth: float  # drawing order: small is far
    look: int  # key of the choices that do not matter to the labels: colours, hair, wheels
    area: float = 0.0
    on: int = -1  # which thing carries it, in the order of placing; -1: none

    @property
    def shape(self) -> Pose:
        return KINDS[self.kind].poses[self.pose]

    @property
    def box(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom."""
        half = self.height * self.shape.aspect / 2
        return self.x - half, self.y - self.height, self.x + half, self.y


# Seats and table tops in units of the carrier's height: lowest and highest foot, half width in use.
SURFACES: dict[tuple[str, str], tuple[float, float, float]] = {
    ("table", "dining"): (0.83, 0.95, 0.72),
    ("table", "round"): (0.82, 0.94, 0.48),
    ("table", "near"): (0.3, 0.88, 0.95),
    ("sofa", "front"): (0.4, 0.46, 0.6),
    ("bench", "front"): (0.42, 0.48, 0.6),
}

# How far into the ground (0: at its far end, 1: at the picture's lower edge) each kind may stand.
BANDS: dict[tuple[str, str], tuple[float, float]] = {
    ("street", "car"): (0.3, 0.86),
    ("street", "bus"): (0.35, 0.86),
    ("street", "bicycle"): (0.25, 0.92),
    ("street", "motorcycle"): (0.25, 0.92),
    ("street", "tree"): (0.02, 0.2),
    ("street", "bench"): (0.06, 0.16),
    ("beach", "tree"): (0.05, 0.5),
    ("park", "bench"): (0.1, 0.75),
    ("meadow", "horse"): (0.15, 0.9),
}
ROOM_BANDS: dict[str, tuple[float, float]] = {
    "table": (0.3, 0.9),
    "sofa": (0.1, 0.4),
    "lamp": (0.02, 0.3),
    "chair": (0.1, 0.8),
    "person": (0.05, 0.8),
    "cat": (0.25, 0.95),
    "dog": (0.25, 0.95),
}
ROOMS = ("kitchen", "living room")

_NEVER_HEADLESS = ("person", "cat", "dog", "horse", "traffic light")

# Carriers come first, then those who sit on them or hold something, then the rest in alphabetical order.
_FIRST = ("table", "sofa", "bench", "bicycle", "motorcycle", "chair", "person", "umbrella")


class Stage:
    """Places the kinds of one scene, one after another, and keeps them from hiding each other."""

    def __init__(self, dice: Dice, setting: str) -> None:
        self.dice = dice
        self.setting = setting
        self.place_name = "street" if setting == "night street" else setting
        self.camera = _camera(dice, setting)
        self.things: list[Thing] = []
        self._boxes: list[tuple[float, float, float, float]] = []  # of `things`, which are asked for often

    def place_all(self, kinds: Sequence[str]) -> None:
        order = [kind for kind in _FIRST if kind in kinds] + sorted(set(kinds) - set(_FIRST))
        for kind in order:
            most = KINDS[kind].most
            count = 1
            while count < most and self.dice.chance(0.45):
                count += 1
            for _ in range(count):
                self._place(kind)

    def visible_things(self) -> tuple[Thing, ...]:
        """The things of which enough can be seen, from far to near, with the area each of them shows."""
        shares = [self._visible_share(i) for i in range(len(self.things))]
        keep = [share >= VISIBLE_SHARE and thing.height * max(1.0, thing.shape.aspect) >= SMALLEST
                for share, thing in zip(shares, self.things, strict=True)]  # fmt: skip
        shown = []
        for i, thing in enumerate(self.things):
            if keep[i] and (thing.on < 0 or keep[thing.on]):
                left, top, right, bottom = thing.box
                area = (right - left) * (bottom - top) * shares[i] * thing.shape.fill
                shown.append(replace(thing, area=min(1.0, area)))
        return tuple(sorted(shown, key=lambda thing: thing.depth))

    def _place(self, kind: str) -> None:
        seat = self._seat(kind)
        if kind == "umbrella" and seat < 0 and self.setting != "beach":
            return  # nobody has a hand free
        thing = self._free(kind) if seat < 0 else self._seated(kind, seat)
        for _ in range(TRIES):
            self._add(thing)
            if (seat >= 0 and self.things[seat].kind != "table") or self._is_clear():
                return
            self.things.pop()
            self._boxes.pop()
            thing = self._free(kind) if seat < 0 else self._seated(kind, seat)
        if self.dice.chance(0.5):  # crowded scenes exist, and so do things half hidden
            self._add(thing)

    def _add(self, thing: Thing) -> None:
        self.things.append(thing)
        self._boxes.append(thing.box)

    def _is_clear(self) -> bool:
        """Whether at least half of everything can be seen."""
        return all(self._visible_share(i) > 0.5 for i in reversed(range(len(self.things))))

    def _seat(self, kind: str) -> int:
        """The index of the thing that will carry this one, or -1."""
        carriers: tuple[str, ...] = ()
        if kind in ("cup", "apple", "orange"):
            carriers = ("table",)
        elif kind == "laptop":
            carriers = ("table", "sofa")
        elif kind in ("cat", "dog") and self.dice.chance(0.35):
            carriers = ("sofa",)
        elif kind == "person" and self.dice.chance(0.5):
            carriers = ("sofa", "bench", "bicycle", "motorcycle")
        elif kind == "umbrella" and self.setting != "beach":
            carriers = ("person",)
        taken = {thing.on for thing in self.things if thing.kind in ("person", "umbrella")}
        for i, thing in enumerate(self.things):
            if thing.kind not in carriers or (thing.kind == "person" and thing.pose not in ("stand", "walk")):
                continue
            if i not in taken or kind not in ("person", "umbrella"):
                return i
        return -1

    def _seated(self, kind: str, seat: int) -> Thing:
        dice, carrier = self.dice, self.things[seat]
        metre = carrier.height / carrier.shape.metres
        side = -1.0 if carrier.flip else 1.0
        depth = carrier.depth + 1e-3
        if kind == "umbrella":
            height = metre * KINDS[kind].poses["held"].metres
            x, y = carrier.x + side * 0.13 * carrier.height, carrier.y - 0.55 * carrier.height
            return Thing(kind, "held", x, y, height, carrier.flip, dice.between(-8, 8), depth, self._look(), on=seat)
        if carrier.kind in ("bicycle", "motorcycle"):
            height = metre * KINDS[kind].poses["ride"].metres
            x, y = carrier.x - side * 0.06 * carrier.height, carrier.y - 0.22 * carrier.height
            return Thing(kind, "ride", x, y, height, carrier.flip, 0.0, depth, self._look(), on=seat)
        pose = self._pose(kind)
        if kind == "person":
            pose = "sit"
        elif kind in ("cat", "dog"):
            pose = dice.choose(("sit", "lie"))
        low, high, half = SURFACES[carrier.kind, carrier.pose]
        x = carrier.x + dice.between(-half, half) * carrier.height
        level = dice.between(low, high)
        y = carrier.y - level * carrier.height
        if kind == "person":  # the feet reach the ground, the seat is where the carrier has it
            y = carrier.y + 0.02 * carrier.height
        height = metre * KINDS[kind].poses[pose].metres
        depth += (high - level) * 1e-2
        return Thing(kind, pose, x, y, height, dice.chance(0.5), 0.0, depth, self._look(), on=seat)

    def _free(self, kind: str) -> Thing:
        """A place of its own: in the sky, on the water, hanging from the ceiling, or on the ground."""
        dice, camera = self.dice, self.camera
        nearness, pose = KINDS[kind].nearness, self._pose(kind)
        flip, look = dice.chance(0.5), self._look()
        metres = KINDS[kind].poses[pose].metres
        x = dice.between(0.04, 0.96)
        if kind == "kite" or (kind == "bird" and pose != "stand"):
            height = metres * (0.07 + 0.3 * dice.unit() ** (1.6 * nearness))
            x = 0.1 + 0.8 * x  # cut at the edge, they could be anything
            y = dice.between(0.05 + height, max(0.12 + height, camera.vanish + 0.02))
            return Thing(kind, pose, x, y, height, flip, dice.between(-24, 24), -1.0 + height, look)
        if pose == "hanging":
            height = dice.between(0.3, 0.5)
            return Thing(kind, pose, x, height - 0.06, height, flip, 0.0, 0.0, look)
        if pose == "near":
            height = dice.between(0.3, 0.4)
            return Thing(kind, pose, 0.5, 1.02, height, flip, 0.0, 2.0, look)
        if kind == "boat":
            y = camera.vanish + 0.02 + (camera.shore - camera.vanish - 0.05) * dice.unit() ** 0.9
        else:
            low, high = self._band(kind)
            y = camera.top + (camera.bottom - camera.top) * (low + (high - low) * dice.unit() ** nearness)
        height = metres * camera.metre(y) * dice.between(0.9, 1.1)
        tilt = dice.between(-3, 3) if kind in ("boat", "umbrella") else 0.0
        if kind in ("bus", "sofa", "table"):
            x = dice.between(0.25, 0.75)
        if kind in _NEVER_HEADLESS:
            y = max(y, height + 0.02)  # a photographer cuts off the feet rather than the head
        return Thing(kind, pose, x, y, height, flip, tilt, y, look)

    def _pose(self, kind: str) -> str:
        dice = self.dice
        if kind == "table":
            return dice.weighted(
                {"near": 0.5, "dining": 0.35, "round": 0.15}
                if self.setting == "kitchen"
                else {"round": 0.5, "dining": 0.5}
            )
        if kind == "lamp":
            return "hanging" if self.setting == "kitchen" else "floor"
        if kind == "umbrella":
            return "beach" if self.setting == "beach" else "held"
        if kind == "person":
            return dice.choose(("stand", "walk"))
        if kind == "tree":
            return "palm" if self.setting == "beach" else dice.weighted({"leafy": 0.75, "conifer": 0.25})
        return dice.choose(tuple(KINDS[kind].poses))

    def _band(self, kind: str) -> tuple[float, float]:
        if self.setting in ROOMS:
            low, high = ROOM_BANDS.get(kind, (0.1, 0.9))
            near_table = any(thing.pose == "near" for thing in self.things)
            return (low * 0.3, high * 0.35) if near_table else (low, high)
        if kind == "traffic light":
            return self.dice.choose(((0.06, 0.2), (0.9, 0.98)))  # on the far or on the near pavement
        return BANDS.get((self.place_name, kind), (0.03, 0.95))

    def _look(self) -> int:
        return self.dice.whole(0, 2**31 - 1)

    def _visible_share(self, index: int) -> float:
        """How much of a thing's box lies in the frame and is not behind a nearer thing, on the safe side."""
        thing = self.things[index]
        left, top, right, bottom = self._boxes[index]
        whole = (right - left) * (bottom - top)
        left, top, right, bottom = max(0.0, left), max(0.0, top), min(1.0, right), min(1.0, bottom)
        if right <= left or bottom <= top:
            return 0.0
        seen = (right - left) * (bottom - top)
        for other, (a, b, c, d) in zip(self.things, self._boxes, strict=True):
            if other.depth <= thing.depth or a >= right or c <= left or b >= bottom or d <= top:
                continue
            width, height = min(right, c) - max(left, a), min(bottom, d) - max(top, b)
            overlap = width * height
            # Its gaps let a thing behind it show, unless that thing is small enough to hide behind one part.
            seen -= overlap * (min(1.0, 1.25 * other.shape.fill) if overlap < 0.5 * whole else 1.0)
        return max(0.0, seen / whole)


def _camera(dice: Dice, setting: str) -> Camera:
    """A point of view that suits the setting: from a wide view to a close one."""
    if setting in ROOMS:
        top = dice.between(0.6, 0.72)
        return Camera(vanish=top - 0.9, top=top, bottom=1.02, scale=dice.between(0.27, 0.4) / 0.9)
    scale = 1.0 / dice.between(1.25, 3.0)
    if setting == "beach":
        vanish = dice.between(0.3, 0.46)
        shore = vanish + dice.between(0.18, 0.3)
        return Camera(vanish=vanish, top=shore + 0.015, bottom=1.03, scale=scale, shore=shore)
    if setting in ("street", "night street"):
        top = dice.between(0.52, 0.64)
        return Camera(vanish=top - 0.08, top=top, bottom=1.02, scale=scale)
    vanish = dice.between(0.36, 0.52)
    return Camera(vanish=vanish, top=vanish + 0.05, bottom=1.03, scale=scale)
