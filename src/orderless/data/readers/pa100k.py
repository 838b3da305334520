"""PA-100K as published: `annotation.mat` and the photos in `data/`."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import Any

from orderless.data.readers.files import check_some_exist, first_folder, inside, note_count, require
from orderless.data.sample import Collection, Sample
from orderless.errors import UsageError

FORMAT = "pa100k"

PUBLISHED = {"train": 80_000, "val": 10_000, "test": 10_000}


def detect(root: Path) -> bool:
    return (root / "annotation.mat").is_file()


def read(root: Path, seed: int) -> Collection:
    """Read the splits that the file has; the seed is not needed."""
    path = require(root / "annotation.mat", "the list of attributes")
    images = first_folder(root, ("data", "release_data/release_data", "release_data"), "the photos")
    matrices = _load(path)
    names = tuple(_text(cell) for cell in _matrix(matrices, "attributes", path).ravel())
    splits: dict[str, list[Sample]] = {}
    notes: list[str] = []
    for split, published in PUBLISHED.items():
        if f"{split}_images_name" not in matrices:
            notes.append(f"annotation.mat has no {split} split")
            continue
        files = [_text(cell) for cell in _matrix(matrices, f"{split}_images_name", path).ravel()]
        labels = _matrix(matrices, f"{split}_label", path)
        if labels.shape != (len(files), len(names)):
            raise UsageError(
                f"{path}: {split}_label is {'x'.join(map(str, labels.shape))}, "
                f"for {len(files)} images and {len(names)} attributes"
            )
        if not ((labels == 0) | (labels == 1)).all():
            raise UsageError(f"{path}: {split}_label holds values other than 0 and 1")
        splits[split] = [
            Sample(inside(images, file, f"{path} ({split})"), tuple(names[i] for i in row.nonzero()[0]))
            for file, row in zip(files, labels, strict=True)
        ]
        check_some_exist(splits[split], f"{path} ({split})")
        note_count(notes, f"images of {split}", len(files), published)
    return Collection(FORMAT, splits, root=root, names=names, notes=notes)


def _load(path: Path) -> dict[str, Any]:
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        matrices: dict[str, Any] = loadmat(str(path))
    except (
        MatReadError,
        NotImplementedError,  # SciPy's word for files of MATLAB 7.3
        ValueError,
        TypeError,
        OSError,
        LookupError,
        EOFError,
        zlib.error,
    ) as error:
        raise UsageError(f"{path} is not a whole MATLAB file: {str(error).splitlines()[0]}") from None
    return matrices


def _matrix(matrices: dict[str, Any], name: str, path: Path) -> Any:
    if name not in matrices:
        have = ", ".join(sorted(key for key in matrices if not key.startswith("__")))
        raise UsageError(f"{path} has no {name} (it has: {have})")
    return matrices[name]


def _text(cell: Any) -> str:
    """MATLAB cells arrive as arrays in arrays."""
    while not isinstance(cell, str):
        if not hasattr(cell, "ravel") or cell.size != 1:
            raise UsageError(f"annotation.mat: {cell!r} should be one name")
        cell = cell.ravel()[0] if cell.ndim else cell.item()
    return str(cell)  # not NumPy's own kind of text
