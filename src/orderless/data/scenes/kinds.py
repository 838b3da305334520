"""The kinds of objects that a scene can hold: how tall, in which poses, and what kind of thing they are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pose:
    """One way an object can stand: its height in metres, its width over its height, the share of its box it fills.

    Small animals and crockery are drawn larger than life, as in a picture book: a cup of true size would be
    three pixels wide in a room.
    """

    metres: float
    aspect: float
    fill: float


@dataclass(frozen=True, slots=True)
class Kind:
    """An object kind. `nearness` skews its distance: above 1 it keeps far away (tiny), below 1 it comes close."""

    group: str
    poses: dict[str, Pose]
    nearness: float = 1.0
    most: int = 1  # instances of it in one scene, at most


KINDS: dict[str, Kind] = {
    "apple": Kind("food", {"whole": Pose(0.19, 0.95, 0.72)}, most=4),
    "bench": Kind("furniture", {"front": Pose(0.95, 1.9, 0.52)}),
    "bicycle": Kind("vehicle", {"side": Pose(1.1, 1.62, 0.36)}, nearness=1.1, most=2),
    "bird": Kind(
        "animal",
        {"glide": Pose(0.55, 2.1, 0.24), "flap": Pose(0.85, 1.3, 0.39), "stand": Pose(0.5, 1.15, 0.36)},
        nearness=1.3,
        most=4,
    ),
    "boat": Kind("vehicle", {"sail": Pose(4.4, 0.78, 0.51), "motor": Pose(2.2, 2.1, 0.53)}, most=3),
    "bus": Kind("vehicle", {"side": Pose(2.9, 2.35, 0.92)}, nearness=0.45),
    "car": Kind("vehicle", {"sedan": Pose(1.45, 2.6, 0.66), "van": Pose(1.8, 2.1, 0.78)}, nearness=1.0, most=3),
    "cat": Kind(
        "animal",
        {"sit": Pose(0.72, 0.72, 0.55), "walk": Pose(0.62, 1.45, 0.37), "lie": Pose(0.42, 1.8, 0.62)},
        nearness=0.7,
    ),
    "chair": Kind("furniture", {"front": Pose(1.05, 0.56, 0.56)}, most=2),
    "cup": Kind("kitchen", {"mug": Pose(0.23, 1.26, 0.68), "tall": Pose(0.32, 0.72, 0.66)}, most=3),
    "dog": Kind(
        "animal",
        {"sit": Pose(0.9, 0.74, 0.55), "walk": Pose(0.8, 1.4, 0.38), "lie": Pose(0.5, 1.8, 0.62)},
        nearness=0.85,
    ),
    "horse": Kind("animal", {"side": Pose(2.1, 1.2, 0.39)}, nearness=0.3, most=2),
    "kite": Kind("outdoor", {"diamond": Pose(1.15, 0.7, 0.4), "delta": Pose(0.75, 2.0, 0.33)}, nearness=1.1, most=2),
    "lamp": Kind("furniture", {"floor": Pose(1.75, 0.4, 0.3), "hanging": Pose(1.0, 0.68, 0.24)}),
    "laptop": Kind("indoor", {"open": Pose(0.36, 1.5, 0.82)}),
    "motorcycle": Kind("vehicle", {"side": Pose(1.15, 1.6, 0.5)}, nearness=0.9, most=2),
    "orange": Kind("food", {"whole": Pose(0.18, 1.0, 0.78)}, most=4),
    "person": Kind(
        "person",
        {
            "stand": Pose(1.72, 0.34, 0.62),
            "walk": Pose(1.7, 0.44, 0.46),
            "sit": Pose(1.3, 0.5, 0.54),
            "ride": Pose(1.45, 0.6, 0.32),
        },
        nearness=1.9,
        most=5,
    ),
    "sofa": Kind("furniture", {"front": Pose(1.05, 2.15, 0.85)}),
    "table": Kind(
        "furniture",
        {"dining": Pose(0.92, 2.0, 0.42), "round": Pose(0.8, 1.5, 0.31), "near": Pose(0.62, 3.6, 0.85)},
    ),
    "traffic light": Kind("outdoor", {"post": Pose(2.7, 0.22, 0.42)}, nearness=1.0, most=2),
    "tree": Kind(
        "outdoor",
        {"leafy": Pose(4.3, 0.78, 0.52), "conifer": Pose(4.8, 0.55, 0.45), "palm": Pose(4.6, 0.8, 0.17)},
        nearness=1.2,
        most=4,
    ),
    "umbrella": Kind("outdoor", {"held": Pose(1.05, 1.25, 0.29), "beach": Pose(2.2, 1.15, 0.22)}, most=2),
}

LOOK_ALIKES: tuple[tuple[str, str], ...] = (
    ("bicycle", "motorcycle"),
    ("cat", "dog"),
    ("bird", "kite"),
    ("apple", "orange"),
)
"""Pairs that share evidence and never come together: a model that reads the image alone doubts between them."""

EXCLUSIONS: tuple[tuple[str, str], ...] = (
    *LOOK_ALIKES,
    ("cat", "bird"),  # the birds have flown
    ("kite", "umbrella"),  # nobody flies a kite in the rain, or over sunshades
    ("bus", "bicycle"),
    ("traffic light", "bench"),
    ("horse", "dog"),
    ("boat", "bench"),
)
"""Pairs that never come together in any scene."""
