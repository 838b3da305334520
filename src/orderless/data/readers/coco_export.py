"""COCO-style exports of labelling tools: any JSON file with `images`, `annotations` and `categories`.

Labels of whole images (annotations without a box) and objects both count. The file stands beside the images,
in `annotations/` with the images in `images/`, or one in each of the folders train, valid and test.
"""

from __future__ import annotations

from pathlib import Path

from orderless.data.readers.coco_file import CocoFile, read_coco_file
from orderless.data.readers.files import SPLIT_NAMES, ImageFinder, check_some_exist, head, share
from orderless.data.sample import Collection, Sample, complete_splits, split_samples
from orderless.errors import UsageError
from orderless.text import counted

FORMAT = "coco-export"


def detect(root: Path) -> bool:
    return bool(_files(root))


def read(root: Path, seed: int, *, keep_empty: bool = False, val_share: float = 0.1) -> Collection:
    """Read every file; `keep_empty` keeps images without annotation."""
    files = _files(root)
    if not files:
        raise UsageError(f"there is no .json file with images, annotations and categories in {str(root)!r}")
    folder = root if root.is_dir() else root.parent
    finder = ImageFinder(folder)
    splits: dict[str, list[Sample]] = {}
    unsplit: list[Sample] = []
    groups: dict[str, str] = {}
    left_out = 0
    for split, path in files:
        found = read_coco_file(path)
        samples = _samples(found, finder, keep_empty)
        check_some_exist(samples, path)
        left_out += len(found.images) - len(samples)
        groups |= found.groups
        if split:
            splits.setdefault(split, []).extend(samples)
        else:
            unsplit.extend(samples)
    if splits and unsplit:
        raise UsageError(f"{folder}: some COCO files name a split and some do not, as {files[0][1].name!r}")
    empty = counted(left_out, "image without annotation was", "images without annotation were")
    notes = [f"{empty} left out (option keep_empty)"] if left_out else []
    splits = (
        split_samples(unsplit, seed, root=folder)
        if unsplit
        else complete_splits(splits, seed, share(val_share), root=folder)
    )
    return Collection(FORMAT, splits, root=folder, groups=groups, notes=notes)


def _samples(found: CocoFile, finder: ImageFinder, keep_empty: bool) -> list[Sample]:
    return found.samples(lambda name: finder.find(name, str(found.path), near=found.path.parent), keep_empty)


def _files(root: Path) -> list[tuple[str | None, Path]]:
    """The COCO files with the split that their name or folder stands for."""
    if root.is_file():
        return [(None, root)] if root.suffix.lower() == ".json" and looks_like_coco(root) else []
    found: list[tuple[str | None, Path]] = []
    folders = [root, root / "annotations", *(root / name for name in sorted({*SPLIT_NAMES}))]
    for folder in folders:
        if folder.is_dir():
            found += [(_split_of(path), path) for path in sorted(folder.glob("*.json")) if looks_like_coco(path)]
    return found


def _split_of(path: Path) -> str | None:
    words = path.stem.lower().replace("-", "_").split("_")
    return next(
        (SPLIT_NAMES[word] for word in (path.parent.name.lower(), *reversed(words)) if word in SPLIT_NAMES), None
    )


def looks_like_coco(path: Path) -> bool:
    """An object with the names of COCO's lists near its beginning or its end."""
    start = head(path, 1 << 16)
    if not start.startswith(b"{"):
        return False
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - (1 << 16)))
        ends = start + file.read()
    return b'"images"' in ends and (b'"annotations"' in ends or b'"categories"' in ends)
