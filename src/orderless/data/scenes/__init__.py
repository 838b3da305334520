"""Generated scenes: photos that nobody took, drawn on the fly from a seed, with their label sets.

They let a newcomer see the whole job done without a download, and they have what the method is about:
labels that pull each other in or exclude each other, look-alikes, dominant and tiny objects, a long tail.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from PIL import Image

from orderless.data.images import PIXEL_LIMIT
from orderless.data.sample import SPLITS, Collection, Sample
from orderless.data.scenes.kinds import EXCLUSIONS, LOOK_ALIKES
from orderless.data.scenes.world import SCENE_GROUPS, SCENE_LABELS, Scene, sample_scene
from orderless.data.scenes.writing import write_scenes
from orderless.errors import UnreadableImage, UsageError

__all__ = [
    "EXCLUSIONS",
    "LOOK_ALIKES",
    "SCENE_GROUPS",
    "SCENE_LABELS",
    "SceneSample",
    "scenes",
    "write_scenes",
]

VERSION = 1  # of the pictures: a change to the drawing or to the world model raises it, and caches start afresh
SMALLEST_SIZE, LARGEST_SIZE = 48, 1024


@dataclass(frozen=True, slots=True)
class SceneSample(Sample):
    """A sample without a file: four numbers and a split name say all, so it travels cheaply to worker processes."""

    seed: int = 0
    split: str = "train"
    index: int = 0
    size: int = 192

    def scene(self) -> Scene:
        """What the picture holds and where."""
        return sample_scene(self.seed, SPLITS.index(self.split), self.index)

    def load(self, size: int | None = None, pixel_limit: int = PIXEL_LIMIT) -> Image.Image:
        """Draw the picture; smaller than its own size when `size` asks for less, never larger."""
        from orderless.data.scenes.draw import draw_scene  # late: listing labels needs no drawing

        side = self.size if size is None else max(SMALLEST_SIZE, min(size, self.size))
        if side * side > pixel_limit:
            raise UnreadableImage(self.path, f"{side}x{side} is more than the limit of {pixel_limit:,} pixels")
        return draw_scene(self.scene(), side)

    def source_bytes(self) -> bytes:
        return f"orderless scenes {VERSION}/{self.seed}/{self.split}/{self.index}/{self.size}".encode()


def scenes(train: int = 3000, val: int = 400, test: int = 800, seed: int = 0, size: int = 192) -> Collection:
    """A data set of generated scenes. Nothing is drawn before a sample is loaded."""
    counts = dict(zip(SPLITS, (train, val, test), strict=True))
    for split, count in counts.items():
        if count < 0:
            raise UsageError(f"the number of {split} scenes is {count}; it must be 0 or more")
    if seed < 0:
        raise UsageError(f"the seed is {seed}; it must be 0 or more")
    if not SMALLEST_SIZE <= size <= LARGEST_SIZE:
        raise UsageError(f"scenes of {size} pixels cannot be drawn; choose from {SMALLEST_SIZE} to {LARGEST_SIZE}")
    return Collection(
        format="scenes",
        splits={
            split: [_sample(seed, split, index, size) for index in range(count)]
            for split, count in counts.items()
            if count
        },
        names=SCENE_LABELS,
        groups=dict(SCENE_GROUPS),
    )


def _sample(seed: int, split: str, index: int, size: int) -> SceneSample:
    areas = sample_scene(seed, SPLITS.index(split), index).areas()
    return SceneSample(
        path=Path(f"scenes/{seed}/{split}/{index:05d}.png"),
        labels=tuple(areas),
        areas=tuple(areas.values()),
        seed=seed,
        split=split,
        index=index,
        size=size,
    )
