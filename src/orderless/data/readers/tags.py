"""A small file of tags beside each image: `photo.txt`, tags separated by commas or lines, or an XMP sidecar.

Folders named train, val and test are splits; otherwise the split is made by the seed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from orderless.data.readers.files import SPLIT_NAMES, image_files, read_text, unique
from orderless.data.sample import Collection, Sample, complete_splits, split_samples
from orderless.data.xmp import read_keywords
from orderless.errors import UsageError
from orderless.text import counted

FORMAT = "tags"

BOX_LINE = re.compile(r"\d+( +[\d.eE+-]+){4,}\s*")  # object detectors keep boxes in such files, not tags


def detect(root: Path) -> bool:
    return root.is_dir() and any(any(_tag_files(image)) for image in islice(image_files(root), 200))


def read(root: Path, seed: int) -> Collection:
    """Read every image that has a tag file; an empty tag file means that the image has no label."""
    if not root.is_dir():
        raise UsageError(f"{str(root)!r} is not a folder")
    splits: dict[str, list[Sample]] = {}
    unsplit: list[Sample] = []
    untagged: list[Path] = []
    for image in image_files(root):
        labels = next((tags for file in _tag_files(image) if (tags := _labels(file)) is not None), None)
        if labels is None:
            untagged.append(image)
            continue
        sample = Sample(image, labels)
        split = SPLIT_NAMES.get(image.relative_to(root).parts[0].lower())
        if split:
            splits.setdefault(split, []).append(sample)
        else:
            unsplit.append(sample)
    if not splits and not unsplit:
        what = f"{str(untagged[0])!r} has no .txt or .xmp of tags beside it" if untagged else "there is no image"
        raise UsageError(f"{str(root)!r} is not a folder of images with tags: {what}")
    if splits and unsplit:
        raise UsageError(f"some images lie in the folders of a split, but {str(unsplit[0].path)!r} does not")
    notes = []
    if untagged:
        left_out = counted(len(untagged), "image without a tag file was", "images without a tag file were")
        notes.append(f"{left_out} left out, the first is {str(untagged[0])!r}")
    splits = split_samples(unsplit, seed, root=root) if unsplit else complete_splits(splits, seed, root=root)
    return Collection(FORMAT, splits, root=root, notes=notes)


def _tag_files(image: Path) -> Iterator[Path]:
    for suffix in (".txt", ".TXT", ".xmp", ".XMP"):
        for path in (image.with_name(image.name + suffix), image.with_suffix(suffix)):
            if path.is_file():
                yield path


def _labels(path: Path) -> tuple[str, ...] | None:
    """The tags of the file; None if it is a sidecar that says nothing of tags (it may hold a camera's settings)."""
    if path.suffix.lower() == ".xmp":
        return read_keywords(path.read_bytes(), path)
    text = read_text(path)
    if any(BOX_LINE.fullmatch(line) for line in text.splitlines()):
        raise UsageError(f"{path} holds numbers of boxes, not tags: export the labels as COCO or as a table")
    return parse_tags(text)


def parse_tags(text: str) -> tuple[str, ...]:
    """Tags separated by commas or lines."""
    return unique(tag.strip() for tag in re.split(r"[,\r\n]", text) if tag.strip())
