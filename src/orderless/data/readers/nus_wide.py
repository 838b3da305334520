"""NUS-WIDE as published: `ImageList/`, `Groundtruth/`, `Concepts81.txt`, and the photos in `Flickr/` or `images/`.

Two splits: `paper` (the default) keeps the images with a label, 209,347 of 269,648, and takes 150,000 for
training by the seed; the paper uses the seeds 0, 1 and 2. `official` follows the published lists.
"""

from __future__ import annotations

from pathlib import Path

from orderless.data.readers.files import check_some_exist, first_folder, inside, note_count, read_text, require, share
from orderless.data.sample import Collection, Sample, by_hash, complete_splits, in_order_of
from orderless.errors import UsageError

FORMAT = "nus-wide"

WITH_LABEL, TRAINING = 209_347, 150_000
OFFICIAL = {"train": ("Train", 161_789), "test": ("Test", 107_859)}
IMAGE_FOLDERS = ("Flickr", "images", "Images", "image")


def detect(root: Path) -> bool:
    return (root / "ImageList").is_dir() or any(
        (root / "Groundtruth" / name).is_dir() for name in ("AllLabels", "TrainTestLabels")
    )


def read(
    root: Path, seed: int, *, split: str = "paper", keep_empty: bool = False, val_share: float = 0.1
) -> Collection:
    """Read the 81 concepts; `split` is `paper` or `official`, `keep_empty` keeps images without label."""
    if split not in ("paper", "official"):
        raise UsageError(f"NUS-WIDE has the splits paper and official, not {split!r}")
    concepts = _concepts(root)
    images = first_folder(root, IMAGE_FOLDERS, "the photos")
    notes: list[str] = []
    splits: dict[str, list[Sample]] = {}
    if split == "paper":
        listed = _listed(root, images, concepts, "ImageList/Imagelist.txt", "AllLabels/Labels_{}.txt")
        everything = listed if keep_empty else [sample for sample in listed if sample.labels]
        if not keep_empty:
            note_count(notes, "images with a label", len(everything), WITH_LABEL)
        count = round(len(everything) * TRAINING / WITH_LABEL)
        shuffled = by_hash(everything, seed, root=root)
        splits = {
            "train": in_order_of(everything, shuffled[:count]),
            "test": in_order_of(everything, shuffled[count:]),
        }
    else:
        for name, (part, published) in OFFICIAL.items():
            labels = f"TrainTestLabels/Labels_{{}}_{part}.txt"
            listed = _listed(root, images, concepts, f"ImageList/{part}Imagelist.txt", labels)
            note_count(notes, f"images in {part}Imagelist.txt", len(listed), published)
            splits[name] = listed if keep_empty else [sample for sample in listed if sample.labels]
    return Collection(
        FORMAT, complete_splits(splits, seed, share(val_share), root=root), root=root, names=concepts, notes=notes
    )


def _concepts(root: Path) -> tuple[str, ...]:
    places = (root / "Concepts81.txt", root / "ConceptsList" / "Concepts81.txt")
    path = next((place for place in places if place.exists()), places[0])
    names = tuple(read_text(require(path, "the list of concepts")).split())
    if not names:
        raise UsageError(f"{path} is empty")
    return names


def _listed(root: Path, images: Path, concepts: tuple[str, ...], image_list: str, labels: str) -> list[Sample]:
    path = require(root / image_list, "the list of images")
    files = [line.strip() for line in read_text(path).splitlines() if line.strip()]
    found: list[list[str]] = [[] for _ in files]
    for concept in concepts:
        for i in _positives(root / "Groundtruth" / labels.format(concept), len(files)):
            found[i].append(concept)
    samples = [
        Sample(inside(images, name, f"{path} line {number}"), tuple(own))
        for number, (name, own) in enumerate(zip(files, found, strict=True), start=1)
    ]
    check_some_exist(samples, path)
    return samples


def _positives(path: Path, count: int) -> list[int]:
    """The images that have the concept: a line of 0 or 1 for every image."""
    values = read_text(require(path, "a label file")).split()
    if len(values) != count:
        raise UsageError(f"{path} has {len(values):,} lines but the image list has {count:,}")
    odd = set(values) - {"0", "1"}
    if odd:
        value = sorted(odd)[0]
        raise UsageError(f"{path} line {values.index(value) + 1}: {value!r} is neither 0 nor 1")
    return [i for i, value in enumerate(values) if value == "1"]
