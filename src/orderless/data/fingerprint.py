"""What can be said about one image without a model, and which images look alike.

Two pictures count as near-duplicates when their 64-bit difference hashes differ in at most `HASH_DISTANCE` bits
and their colours, at 4x4 pixels, agree. The colours keep apart what a hash of brightness steps cannot tell:
plain backgrounds, documents, night shots.
"""

from __future__ import annotations

import hashlib
import io
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from PIL import Image

from orderless.data.images import PIXEL_LIMIT
from orderless.data.sample import Sample
from orderless.errors import UnreadableImage

HASH_DISTANCE = 3  # four bands of 16 bits: with at most 3 bits different, one band is the same
COLOUR_DISTANCE = 10.0  # mean difference of the 48 colour values, of 255
BANDS = (0, 16, 32, 48)
MOST_COLOURS = 64
PLAIN_MODES = frozenset({"RGB", "L"})


@dataclass(frozen=True, slots=True)
class Facts:
    """One image file: whether it can be read, what it is, and what it looks like."""

    problem: str = ""  # why it cannot be read, empty if it can
    kind: str = ""  # missing, truncated, oversized or damaged; empty if it can be read
    digest: bytes = b""  # of the file's bytes
    width: int = 0
    height: int = 0
    mode: str = ""  # as stored: RGB, L, P, RGBA, CMYK, I;16 …
    frames: int = 1
    hash: int = 0
    colours: bytes = b""

    @property
    def odd(self) -> bool:
        """Stored in a way that has to be converted: palette, transparency, CMYK, 16 bits, animation."""
        return bool(self.mode) and (self.mode not in PLAIN_MODES or self.frames > 1)


def examine(sample: Sample) -> Facts:
    """Read and decode the whole image of a sample (not only its box)."""
    whole = replace(sample, box=None)
    try:
        data = whole.source_bytes()
    except FileNotFoundError:
        return Facts("there is no such file", "missing")
    except OSError as error:
        return Facts(error.strerror or "it cannot be read", "damaged")
    except UnreadableImage as error:
        return Facts(error.reason, "missing")
    facts = _header(data)
    try:
        image = whole.load(size=64)
    except UnreadableImage as error:
        return replace(facts, problem=error.reason, kind=_kind(facts, error.reason))
    small = image.resize((9, 8), Image.Resampling.BOX, reducing_gap=4.0)
    width, height = (facts.width, facts.height) if facts.width else image.size
    colours = image.resize((4, 4), Image.Resampling.BOX, reducing_gap=4.0).tobytes()
    return replace(facts, width=width, height=height, hash=difference_hash(small), colours=colours)


def difference_hash(image: Image.Image) -> int:
    """64 bits: is each of 8x8 cells darker than its right neighbour?"""
    grey = image.convert("L").resize((9, 8), Image.Resampling.BOX).tobytes()
    bits = 0
    for row in range(8):
        for column in range(8):
            bits = bits << 1 | (grey[row * 9 + column] < grey[row * 9 + column + 1])
    return bits


def _header(data: bytes) -> Facts:
    """Size and mode as stored, without decoding; nothing of it when the bytes are no image."""
    facts = Facts(digest=hashlib.sha256(data).digest())
    try:
        with Image.open(io.BytesIO(data)) as image:
            return replace(
                facts, width=image.width, height=image.height, mode=image.mode, frames=getattr(image, "n_frames", 1)
            )
    except Exception:  # noqa: BLE001 - plugins raise all kinds of errors on damaged headers; `load` names the damage
        return facts


def _kind(facts: Facts, reason: str) -> str:
    if facts.width * facts.height > PIXEL_LIMIT or "too large" in reason or "more than the limit" in reason:
        return "oversized"
    return "truncated" if "truncated" in reason or "file is empty" in reason else "damaged"


def look_alikes(images: Sequence[Facts]) -> list[list[int]]:
    """Groups of images that look the same, as indices; only images that could be read take part.

    Every pair within the distance shares one of four 16-bit bands of its hash, so only images in the same
    bucket are compared, never all pairs.
    """
    by_hash: dict[int, list[int]] = defaultdict(list)
    for i, facts in enumerate(images):
        if not facts.problem:
            by_hash[facts.hash].append(i)
    groups = _Groups(len(images))
    heads = {value: _join_same_colours(same, images, groups) for value, same in by_hash.items()}
    for band in BANDS:
        buckets: dict[int, list[int]] = defaultdict(list)
        for value in by_hash:
            buckets[value >> band & 0xFFFF].append(value)
        for values in buckets.values():
            for i, first in enumerate(values):
                for second in values[i + 1 :]:
                    if (first ^ second).bit_count() <= HASH_DISTANCE:
                        _join_same_colours([*heads[first], *heads[second]], images, groups)
    return groups.members()


def _join_same_colours(candidates: Sequence[int], images: Sequence[Facts], groups: _Groups) -> list[int]:
    """Join what agrees in colour, and return one image of each colour.

    Thousands of blank pages need one comparison each; plain fields in more than `MOST_COLOURS` colours are
    told apart no further.
    """
    heads: list[int] = []
    for i in candidates:
        head = next((head for head in heads if _colours_agree(images[head], images[i])), None)
        if head is not None:
            groups.join(head, i)
        elif len(heads) < MOST_COLOURS:
            heads.append(i)
    return heads


def _colours_agree(first: Facts, second: Facts) -> bool:
    if first.colours == second.colours:
        return True
    total = sum(abs(a - b) for a, b in zip(first.colours, second.colours, strict=True))
    return total <= COLOUR_DISTANCE * len(first.colours)


class _Groups:
    """Disjoint sets of indices."""

    def __init__(self, count: int) -> None:
        self.parent = list(range(count))

    def root(self, i: int) -> int:
        while self.parent[i] != i:
            self.parent[i] = self.parent[self.parent[i]]
            i = self.parent[i]
        return i

    def join(self, first: int, second: int) -> None:
        a, b = sorted((self.root(first), self.root(second)))
        self.parent[b] = a

    def members(self) -> list[list[int]]:
        found: dict[int, list[int]] = defaultdict(list)
        for i in range(len(self.parent)):
            found[self.root(i)].append(i)
        return [group for group in found.values() if len(group) > 1]


def same_bytes(images: Iterable[Facts]) -> list[list[int]]:
    """Groups of files with the same content, as indices."""
    found: dict[bytes, list[int]] = defaultdict(list)
    for i, facts in enumerate(images):
        if facts.digest:
            found[facts.digest].append(i)
    return [group for group in found.values() if len(group) > 1]
