"""WIDER Attribute as published: every box of a person is a sample with 14 attributes.

1 is yes, −1 is no, and 0, unspecified, goes to `Sample.ignore`: negative in training, left out of evaluation.
The list of training holds images of the folders `train` and `val`; those of `val` are the validation split.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from orderless.data.readers.files import check_some_exist, first_folder, inside, note_count, require, share
from orderless.data.readers.jsonstream import stream
from orderless.data.sample import Collection, Sample, complete_splits
from orderless.errors import UsageError

FORMAT = "wider"

ATTRIBUTES = (
    "male", "longhair", "sunglass", "hat", "tshirt", "longsleeve", "formal",
    "shorts", "jeans", "longpants", "skirt", "facemask", "logo", "stripe",
)  # fmt: skip
PUBLISHED = {"trainval": 28_345, "test": 29_179}


def detect(root: Path) -> bool:
    return any(_annotation(root, part).exists() for part in PUBLISHED)


def read(root: Path, seed: int, *, merge_val: bool = False, val_share: float = 0.1) -> Collection:
    """Read both lists; `merge_val` trains on `val` too, as the paper does, but for `val_share` of all photos."""
    images = first_folder(root, ("Image", "Images", "image", "images"), "the images")
    splits: dict[str, list[Sample]] = {"train": [], "val": [], "test": []}
    notes: list[str] = []
    for part, published in PUBLISHED.items():
        path = require(_annotation(root, part), f"the list of {part}")
        rows = [(value, sample) for value in _images(path) for sample in _boxes(value, images, path)]
        check_some_exist([sample for _, sample in rows], path)
        note_count(notes, f"boxes of {part}", len(rows), published)
        for value, sample in rows:
            in_val = part == "trainval" and not merge_val and str(value["file_name"]).startswith("val/")
            splits["test" if part == "test" else "val" if in_val else "train"].append(sample)
    return Collection(
        FORMAT, complete_splits(splits, seed, share(val_share), root=root), root=root, names=ATTRIBUTES, notes=notes
    )


def _annotation(root: Path, part: str) -> Path:
    name = f"wider_attribute_{part}.json"
    # The archive itself unpacks to the last two; the first is where the literature keeps them.
    places = [
        root / "Annotations" / name,
        root / "Anno" / name,
        root / "wider_attribute_annotation" / name,
        root / name,
    ]
    return next((place for place in places if place.exists()), places[0])


def _images(path: Path) -> list[dict[str, Any]]:
    return [value for key, value in stream(path) if key == "images"]


def _boxes(image: dict[str, Any], images: Path, path: Path) -> list[Sample]:
    try:
        name, targets = image["file_name"], image["targets"]
        file = inside(images, name, str(path))
        samples = []
        for target in targets:
            x, y, width, height = (float(value) for value in target["bbox"])
            values = target["attribute"]
            if len(values) != len(ATTRIBUTES) or not set(values) <= {1, 0, -1}:
                raise UsageError(f"{path}: a box of {name!r} has the attributes {values}, not 14 of 1, 0 and -1")
            samples.append(
                Sample(
                    file,
                    tuple(label for label, value in zip(ATTRIBUTES, values, strict=True) if value == 1),
                    box=(x, y, width, height),
                    ignore=tuple(label for label, value in zip(ATTRIBUTES, values, strict=True) if value == 0),
                )
            )
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{path}: an image is not of the published form ({error!r})") from None
    return samples
