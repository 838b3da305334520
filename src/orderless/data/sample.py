"""`Sample`, one image with its labels, and `Collection`, the splits of one data set."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from unicodedata import normalize

from PIL import Image

from orderless.data.images import PIXEL_LIMIT, check_regular, open_image
from orderless.errors import UsageError
from orderless.labels import Vocabulary

SPLITS = ("train", "val", "test")

Box = tuple[float, float, float, float]  # x, y, width, height in pixels of the upright image


@dataclass(frozen=True, slots=True)
class Sample:
    """One image (or one box of it), its labels, and the labels about which nothing is known.

    `ignore` holds labels that the annotators left open: negative in training, left out of evaluation.
    """

    path: Path
    labels: tuple[str, ...]
    box: Box | None = None
    ignore: tuple[str, ...] = ()
    areas: tuple[float, ...] = ()  # largest object of each label as a share of the image, or empty

    @property
    def name(self) -> str:
        """What to call this sample in a message."""
        return str(self.path) if self.box is None else f"{self.path}[{','.join(f'{v:g}' for v in self.box)}]"

    def load(self, size: int | None = None, pixel_limit: int = PIXEL_LIMIT) -> Image.Image:
        """The upright RGB image, cropped to the box; decoded no larger than needed when `size` is given."""
        return open_image(self.path, box=self.box, size=size, pixel_limit=pixel_limit)

    def source_bytes(self) -> bytes:
        """What identifies the picture: the file's bytes and the box (key of the feature cache)."""
        check_regular(self.path)
        return self.path.read_bytes() + (repr(self.box).encode() if self.box is not None else b"")


class CarvedSplits(dict[str, list[Sample]]):
    """Splits that the data set did not bring: all of them, or some of them, were chosen here."""

    def __init__(self, splits: dict[str, list[Sample]], carved: Iterable[str]) -> None:
        super().__init__(splits)
        self.carved = tuple(carved)


@dataclass
class Collection:
    """A data set as its reader found it: samples by split, and what is known beyond them."""

    format: str
    splits: dict[str, list[Sample]]
    root: Path | None = None
    names: tuple[str, ...] | None = None  # published vocabulary in its published order
    groups: dict[str, str] = field(default_factory=dict)  # label -> super-category
    notes: list[str] = field(default_factory=list)  # what the reader wants the user to know
    carved: tuple[str, ...] = ()  # splits that were not in the data set but chosen by the seed

    def __post_init__(self) -> None:
        if isinstance(self.splits, CarvedSplits):
            self.carved = self.splits.carved

    def __getitem__(self, split: str) -> list[Sample]:
        if not self.splits.get(split):
            have = ", ".join(name for name in SPLITS if self.splits.get(name)) or "none"
            raise UsageError(f"{self.root or self.format} has no {split!r} split (it has: {have})")
        return self.splits[split]

    def __contains__(self, split: object) -> bool:
        return bool(self.splits.get(str(split)))

    def __iter__(self) -> Iterator[Sample]:
        for split in SPLITS:
            yield from self.splits.get(split, ())

    def __len__(self) -> int:
        return sum(len(samples) for samples in self.splits.values())

    def vocabulary(self) -> Vocabulary:
        """The labels of the training split with their frequencies there."""
        return Vocabulary.from_label_sets(
            (sample.labels for sample in self["train"]), names=self.names, groups=self.groups or None
        )

    def with_composed_labels(self) -> Collection:
        """Labels in one spelling: an é may be one character or two, and looks the same."""
        labels = {label for sample in self for label in (*sample.labels, *sample.ignore)} | {*(self.names or ())}
        composed = {label: spelling for label in labels if (spelling := normalize("NFC", label)) != label}
        if not composed:
            return self

        def respelt(labels: Iterable[str]) -> tuple[str, ...]:
            return tuple(dict.fromkeys(composed.get(label, label) for label in labels))

        def changed(sample: Sample) -> Sample:
            labels = respelt(sample.labels)
            areas = sample.areas if len(labels) == len(sample.labels) else ()
            return replace(sample, labels=labels, ignore=respelt(sample.ignore), areas=areas)

        return replace(
            self,
            splits={name: [changed(sample) for sample in part] for name, part in self.splits.items()},
            names=respelt(self.names) if self.names is not None else None,
            groups={composed.get(label, label): group for label, group in self.groups.items()},
        )

    def digests(self) -> dict[str, str]:
        """A checksum of each split: which images it has, in which order, with which labels."""
        return {name: self._digest(part) for name, part in self.splits.items() if part}

    def _digest(self, samples: Sequence[Sample]) -> str:
        digest = hashlib.sha256()
        for sample in samples:
            said = repr((place_of(sample, self.root), sample.box, sample.labels, sample.ignore))
            digest.update(said.encode("utf-8", "surrogateescape"))
        return digest.hexdigest()

    def limited(self, count: int | None, seed: int = 0) -> Collection:
        """At most `count` samples of every split, chosen by the seed."""
        if count is None:
            return self
        if count < 1:
            raise UsageError(f"a limit of {count} leaves no image; give at least 1")
        chosen = {
            split: in_order_of(part, by_hash(part, seed, root=self.root)[:count]) for split, part in self.splits.items()
        }
        return replace(self, splits=chosen)


def place_of(sample: Sample, root: Path | None) -> str:
    """Where a photo lies in its data set, wherever that lies; without a root, the file and its folder."""
    if root is not None and sample.path.is_relative_to(root):
        return sample.path.relative_to(root).as_posix()
    return "/".join(sample.path.parts[-2:])


def by_hash(samples: Sequence[Sample], seed: int, salt: str = "", root: Path | None = None) -> list[Sample]:
    """Shuffle by a hash of each sample's place, so that a split survives moved and renamed folders, and new photos."""

    def key(sample: Sample) -> bytes:
        place = place_of(sample, root)
        return hashlib.sha256(f"{seed}/{salt}/{place}/{sample.box}".encode("utf-8", "surrogateescape")).digest()

    return sorted(samples, key=key)


def in_order_of(samples: Sequence[Sample], chosen: Iterable[Sample]) -> list[Sample]:
    """The chosen samples in the order that they had; by identity, since two samples may be equal."""
    identities = {id(sample) for sample in chosen}
    return [sample for sample in samples if id(sample) in identities]


def split_samples(
    samples: Iterable[Sample],
    seed: int = 0,
    val_share: float = 0.1,
    test_share: float = 0.1,
    *,
    root: Path | None = None,
) -> dict[str, list[Sample]]:
    """Split samples that come without a split: seeded, stable, at least one photo where there is a share.

    All samples of a photo (its boxes) go to the same split: who was seen in training is not to be judged.
    """
    everything = list(samples)
    photos = {sample.path: replace(sample, box=None) for sample in everything}
    shuffled = [photo.path for photo in by_hash(list(photos.values()), seed, root=root)]
    n_test = max(1, round(len(shuffled) * test_share)) if test_share and len(shuffled) > 2 else 0
    n_val = max(1, round(len(shuffled) * val_share)) if val_share and len(shuffled) > 1 else 0
    split = dict.fromkeys(shuffled, "train")
    split |= dict.fromkeys(shuffled[:n_test], "test") | dict.fromkeys(shuffled[n_test : n_test + n_val], "val")
    chosen = {name: [sample for sample in everything if split[sample.path] == name] for name in SPLITS}
    chosen = {name: part for name, part in chosen.items() if part}
    return CarvedSplits(chosen, carved=chosen)


def complete_splits(
    splits: dict[str, list[Sample]], seed: int = 0, val_share: float = 0.1, *, root: Path | None = None
) -> dict[str, list[Sample]]:
    """Give a data set published without a validation split one, carved from its training split."""
    if splits.get("val") or not splits.get("train"):
        return {name: part for name, part in splits.items() if part}
    carved = split_samples(splits["train"], seed=seed, val_share=val_share, test_share=0.0, root=root)
    return CarvedSplits({**{k: v for k, v in splits.items() if v}, **carved}, carved=["val"])
