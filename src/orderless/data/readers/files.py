"""What every reader needs: text with clear errors, paths that stay inside the data folder, split names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from orderless.data.sample import Sample
from orderless.errors import UsageError

SPLIT_NAMES = {
    "train": "train",
    "training": "train",
    "val": "val",
    "valid": "val",
    "validation": "val",
    "dev": "val",
    "test": "test",
    "testing": "test",
}


def split_name(name: object, where: str) -> str:
    """`train`, `val` or `test` for any of the usual spellings."""
    split = SPLIT_NAMES.get(str(name).strip().lower())
    if split is None:
        raise UsageError(f"{where}: the split {str(name)!r} is unknown (use train, val or test)")
    return split


def require(path: Path, what: str) -> Path:
    """The path, or one sentence that names what is missing."""
    if not path.exists():
        raise UsageError(f"{what} is missing: there is no {str(path)!r}")
    return path


def read_text(path: Path) -> str:
    """A UTF-8 text file, with or without byte-order mark; a bad byte is an error that names its line."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise UsageError(f"there is no file {str(path)!r}") from None
    except OSError as error:
        raise UsageError(f"cannot read {str(path)!r}: {error.strerror}") from None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"{path} line {line}: the byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8"
        ) from None


def inside(root: Path, name: str, where: str) -> Path:
    """The file `name` of the folder `root`; a name that leads out of the folder is an error.

    Judged by the name alone: links inside the folder are the user's own choice.
    """
    if not name or "\0" in name:
        raise UsageError(f"{where}: the file name is empty" if not name else f"{where}: the file name has a NUL byte")
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", name):
        raise UsageError(f"{where}: {name!r} is an address, not a file; download the images first")
    place = os.path.normpath(name.replace("\\", "/"))
    drive = re.match(r"[A-Za-z]:", place) is not None
    if drive or place == ".." or place.startswith("../") or not (root / place).is_relative_to(root):
        # An absolute path may still lead to the right place when the folder was given relative to here.
        if drive or not Path(place).is_relative_to(root.absolute()):
            raise UsageError(f"{where}: {name!r} lies outside the data folder {str(root)!r}")
    return root / place


def check_some_exist(samples: Sequence[Sample], source: object) -> None:
    """Refuse a list whose first images are all missing: the images were never downloaded, or lie elsewhere."""
    if samples and not any(sample.path.exists() for sample in samples[:20]):
        raise UsageError(f"{source} names images that are missing, the first is {str(samples[0].path)!r}")


def unique(labels: Iterable[str]) -> tuple[str, ...]:
    """Without repetitions, in the order of first appearance."""
    return tuple(dict.fromkeys(labels))
