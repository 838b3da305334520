"""MS-COCO 2014 and 2017 as published: `annotations/instances_{train,val}<year>.json` and the image folders.

As in the paper, `val` is the test split, and images without any annotation are dropped. A validation split
is carved from `train`. Crowd objects count as labels.
"""

from __future__ import annotations

from pathlib import Path

from orderless.data.readers.coco_file import CocoFile, read_coco_file
from orderless.data.readers.files import check_some_exist, first_folder, inside, note_count, require, share, unique
from orderless.data.sample import Collection, Sample, complete_splits
from orderless.errors import UsageError

FORMAT = "coco"

YEARS = ("2014", "2017")
# Images with at least one annotation, and all images.
PUBLISHED = {
    "train2014": (82_081, 82_783),
    "val2014": (40_137, 40_504),
    "train2017": (117_266, 118_287),
    "val2017": (4_952, 5_000),
}
SPLITS = {"train": "train", "val": "test"}


def detect(root: Path) -> bool:
    return bool(_years(root))


def read(
    root: Path,
    seed: int,
    *,
    year: int | None = None,
    keep_empty: bool = False,
    partial_download: bool = False,
    val_share: float = 0.1,
) -> Collection:
    """Read one year; `keep_empty` keeps images without annotation, `partial_download` accepts one part alone."""
    years = _years(root)
    chosen = str(year) if year is not None else (years or YEARS)[0]
    if chosen not in YEARS:
        raise UsageError(f"MS-COCO has the years 2014 and 2017, not {chosen}")
    notes = [f"{' and '.join(years)} are here: {chosen} was read (option year)"] if len(years) > 1 and not year else []
    splits: dict[str, list[Sample]] = {}
    groups: dict[str, str] = {}
    names: tuple[str, ...] = ()
    for part, split in SPLITS.items():
        name = f"{part}{chosen}"
        path = root / "annotations" / f"instances_{name}.json"
        if partial_download and not path.exists():
            notes.append(f"annotations/{path.name} is not here: there is no {split} split")
            continue
        found = read_coco_file(require(path, f"the list of {name}"))
        samples = _samples(found, root, name, keep_empty)
        check_some_exist(samples, path)
        note_count(notes, f"images of {name}", len(samples), PUBLISHED[name][1 if keep_empty else 0])
        splits[split] = samples
        names, groups = unique((*names, *found.names.values())), groups | found.groups
    return Collection(
        FORMAT,
        complete_splits(splits, seed, share(val_share), root=root),
        root=root,
        names=names,
        groups=groups,
        notes=notes,
    )


def _years(root: Path) -> list[str]:
    return [year for year in YEARS if any((root / "annotations").glob(f"instances_*{year}.json"))]


def _samples(found: CocoFile, root: Path, name: str, keep_empty: bool) -> list[Sample]:
    folder = first_folder(root, [name, f"images/{name}"], f"the images of {name}")
    return found.samples(lambda file: inside(folder, file, str(found.path)), keep_empty)
