"""PASCAL VOC 2007 and 2012 as published: `JPEGImages/`, `Annotations/*.xml`, `ImageSets/Main/*.txt`.

Objects marked difficult are no labels, as in the challenge's own evaluation; a class of which an image shows
only difficult objects goes to `Sample.ignore`. Where the test annotations are not published (2012), `val` is
the test split and the validation split is carved from `train`.
"""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

from orderless.data.readers.files import check_some_exist, inside, note_count, read_text, require, share
from orderless.data.sample import Collection, Sample, complete_splits
from orderless.errors import UsageError

FORMAT = "voc"

CLASSES = (
    "aeroplane", "bicycle", "bird", "boat", "bottle", "bus", "car", "cat", "chair", "cow",
    "diningtable", "dog", "horse", "motorbike", "person", "pottedplant", "sheep", "sofa", "train", "tvmonitor",
)  # fmt: skip
PUBLISHED = {
    "2007": {"train": 2_501, "val": 2_510, "test": 4_952},
    "2012": {"train": 5_717, "val": 5_823},
}


def detect(root: Path) -> bool:
    return bool(_years(root))


def read(
    root: Path, seed: int, *, year: int | None = None, difficult: bool = False, val_share: float = 0.1
) -> Collection:
    """Read one year; `difficult` makes difficult objects count as labels."""
    years = _years(root)
    if not years:
        raise UsageError(f"there is no folder JPEGImages in {str(root)!r}, nor in VOCdevkit/VOC2007 below it")
    chosen = str(year) if year is not None else sorted(years)[0]
    if chosen not in years:
        raise UsageError(f"{str(root)!r} has no VOC{chosen} (it has: {', '.join(sorted(years))})")
    notes = []
    if year is None and len(years) > 1:
        notes.append(f"{' and '.join(sorted(years))} are here: {chosen} was read (option year)")
    folder = years[chosen]
    splits: dict[str, list[Sample]] = {}
    for split in ("train", "val", "test"):
        names = _names(folder, split, required=split == "train")
        if split == "test" and names and not (folder / "Annotations" / f"{names[0]}.xml").exists():
            notes.append("test.txt is here but its annotations are not")
            continue
        if names:
            splits[split] = [_sample(folder, name, difficult) for name in names]
            check_some_exist(splits[split], folder / "ImageSets" / "Main" / f"{split}.txt")
            if split in PUBLISHED.get(chosen, {}):
                note_count(notes, f"images of {split}", len(names), PUBLISHED[chosen][split])
    if "test" not in splits and "val" in splits:
        splits["test"] = splits.pop("val")
        notes.append("there is no annotated test split: val is the test split, and val is carved from train")
    found = {label for part in splits.values() for sample in part for label in (*sample.labels, *sample.ignore)}
    classes = CLASSES if found <= set(CLASSES) else tuple(sorted(found))  # own data in this layout has own classes
    return Collection(
        FORMAT, complete_splits(splits, seed, share(val_share), root=folder), root=folder, names=classes, notes=notes
    )


def _years(root: Path) -> dict[str, Path]:
    """Year -> folder; the year of a folder of another name is unknown."""
    if (root / "JPEGImages").is_dir() or (root / "ImageSets" / "Main").is_dir():
        return {root.name.removeprefix("VOC") if root.name.startswith("VOC20") else "unknown": root}
    found = {}
    for parent in (root, root / "VOCdevkit"):
        for folder in sorted(parent.glob("VOC20*")):
            if (folder / "JPEGImages").is_dir() or (folder / "ImageSets" / "Main").is_dir():
                found[folder.name.removeprefix("VOC")] = folder
    return found


def _names(folder: Path, split: str, required: bool) -> list[str]:
    path = folder / "ImageSets" / "Main" / f"{split}.txt"
    if not required and not path.exists():
        return []
    return read_text(require(path, f"the list of {split}")).split()


def _sample(folder: Path, name: str, difficult: bool) -> Sample:
    path = folder / "Annotations" / f"{name}.xml"
    try:
        tree = ElementTree.parse(path).getroot()
    except FileNotFoundError:
        raise UsageError(f"an annotation is missing: there is no {str(path)!r}") from None
    except (ElementTree.ParseError, ValueError) as error:
        raise UsageError(f"{path} is not XML: {error}") from None
    size = tree.find("size")
    pixels = _number(size, "width") * _number(size, "height")
    largest: dict[str, float] = {}
    hard: set[str] = set()
    for item in tree.iter("object"):
        label = (item.findtext("name") or "").strip()
        if not label:
            raise UsageError(f"{path}: an object has no name")
        if not difficult and (item.findtext("difficult") or "0").strip() == "1":
            hard.add(label)
            continue
        box = item.find("bndbox")
        area = (_number(box, "xmax") - _number(box, "xmin")) * (_number(box, "ymax") - _number(box, "ymin"))
        largest[label] = max(largest.get(label, 0.0), area)
    labels = tuple(sorted(largest))
    listed = inside(folder / "JPEGImages", f"{name}.jpg", str(path))
    named = inside(folder / "JPEGImages", tree.findtext("filename") or f"{name}.jpg", str(path))
    return Sample(
        listed if listed.is_file() else named,  # the annotation may be a copy of another
        labels,
        ignore=tuple(sorted(hard - largest.keys())),
        areas=tuple(min(1.0, largest[label] / pixels) for label in labels) if pixels and all(largest.values()) else (),
    )


def _number(element: ElementTree.Element | None, name: str) -> float:
    try:
        return float(element.findtext(name) or 0) if element is not None else 0.0
    except ValueError:
        return 0.0
