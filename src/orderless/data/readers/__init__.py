"""One reader per format. A reader is a module with `FORMAT`, `detect` and `read`; the list below is the registry."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from orderless.data.sample import Collection
from orderless.errors import UsageError


class Reader(Protocol):
    """What every module in this package offers."""

    FORMAT: str  # the name for `--format`

    def detect(self, root: Path) -> bool:
        """Is this folder (or file) of that format? Looks at names, and at the head of a file if it must."""

    def read(self, root: Path, seed: int, **options: object) -> Collection:
        """The samples by split; raises `UsageError` that names the missing or broken file."""


# Format -> module, in order of detection: distinctive layouts first, the catch-all ones last.
_MODULES = {
    "hf-disk": "hf_disk",
    "coco": "coco",
    "nus-wide": "nus_wide",
    "wider": "wider",
    "pa100k": "pa100k",
    "voc": "voc",
    "folder": "table",
    "coco-export": "coco_export",
    "label-studio": "label_studio",
    "cvat": "cvat",
    "tags": "tags",
}

FORMATS: tuple[str, ...] = tuple(_MODULES)


def reader_for(format: str) -> Reader:
    """The reader of that name."""
    if format not in _MODULES:
        raise UsageError(f"there is no format {format!r}; choose one of: {', '.join(FORMATS)}")
    return cast(Reader, import_module(f"orderless.data.readers.{_MODULES[format]}"))


def detect(root: Path) -> Reader:
    """The first reader that recognises the folder."""
    for format in FORMATS:
        reader = reader_for(format)
        if reader.detect(root):
            return reader
    raise UsageError(
        f"{str(root)!r} is of no known format: add a metadata.csv with the columns file_name and labels, "
        f"or name its format with --format ({', '.join(FORMATS)})"
    )
