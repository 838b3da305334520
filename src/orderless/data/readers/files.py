"""What every reader needs: text with clear errors, paths that stay inside the data folder, split names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from orderless.data.images import is_image_file
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


def head(path: Path, size: int = 4096) -> bytes:
    """The first bytes of a file, without a byte-order mark and leading space: enough to tell formats apart."""
    with path.open("rb") as file:
        return file.read(size).lstrip(b"\xef\xbb\xbf \t\r\n")


def is_address(text: str) -> bool:
    """`s3://bucket/photo.jpg` or the like, not a path."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", text) is not None


def inside(root: Path, name: str, where: str) -> Path:
    """The file `name` of the folder `root`; a name that leads out of the folder is an error.

    Judged by the name alone: links inside the folder are the user's own choice.
    """
    if not name or "\0" in name:
        raise UsageError(f"{where}: the file name is empty" if not name else f"{where}: the file name has a NUL byte")
    if is_address(name):
        raise UsageError(f"{where}: {name!r} is an address, not a file; download the images first")
    place = os.path.normpath(name.replace("\\", "/"))
    if place.startswith("/"):
        outside = not Path(place).is_relative_to(root.absolute())
    else:
        outside = place == ".." or place.startswith("../") or re.match(r"[A-Za-z]:/", place) is not None
    if outside:
        raise UsageError(f"{where}: {name!r} lies outside the data folder {str(root)!r}")
    return root / place


def check_some_exist(samples: Sequence[Sample], source: object) -> None:
    """Refuse a list whose first images are all missing: the images were never downloaded, or lie elsewhere."""
    if samples and not any(sample.path.exists() for sample in samples[:20]):
        raise UsageError(f"{source} names images that are missing, the first is {str(samples[0].path)!r}")


def note_count(notes: list[str], what: str, found: int, published: int) -> None:
    """Tell the user when a published data set does not have its published size."""
    if found != published:
        notes.append(f"{what}: {found:,} here, {published:,} in the published set")


def share(value: object, option: str = "val_share") -> float:
    """An option that is a share of the training split, 0 to carve nothing off."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1:
        raise UsageError(f"the option {option} wants a share from 0 to below 1, not {value!r}")
    return float(value)


def first_folder(root: Path, names: Sequence[str], what: str) -> Path:
    """The first of these folders that exists, or one sentence that names where it was looked for."""
    for name in names:
        if (root / name).is_dir():
            return root / name
    raise UsageError(f"{what} are missing: there is no folder {str(root / names[0])!r}")


def unique(labels: Iterable[str]) -> tuple[str, ...]:
    """Without repetitions, in the order of first appearance."""
    return tuple(dict.fromkeys(labels))


class ImageFinder:
    """Finds image files by the names that labelling tools write: with their own folders and prefixes."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._by_name: dict[str, list[Path]] | None = None
        self._given: dict[Path, Path] = {}  # by the last part of its name alone -> where it was expected

    def find(self, name: str, where: str, near: Path | None = None) -> Path:
        """The image; where it is not found, the path at which it was expected first."""
        expected = inside(near or self.root, name, where)
        for folder in (near or self.root, self.root, self.root / "images"):
            if (folder / name).is_file():
                return inside(folder, name, where)
        base = Path(name.replace("\\", "/")).name
        # An image of another split would not be this one, nor one that stands for another name already.
        split = self._split(expected)
        found = [path for path in self._index().get(base, []) if split is None or self._split(path) in (None, split)]
        if len(found) > 1:
            raise UsageError(f"{where}: the image {name!r} could be {str(found[0])!r} or {str(found[1])!r}")
        if not found or self._given.setdefault(found[0], expected) != expected:
            return expected
        return found[0]

    def _split(self, path: Path) -> str | None:
        """Which the first folder below the root stands for."""
        parts = path.relative_to(self.root).parts[:-1] if path.is_relative_to(self.root) else ()
        return SPLIT_NAMES.get(parts[0].lower()) if parts else None

    def _index(self) -> dict[str, list[Path]]:
        if self._by_name is None:
            self._by_name = {}
            for path in image_files(self.root):
                self._by_name.setdefault(path.name, []).append(path)
        return self._by_name


def image_files(root: Path) -> Iterator[Path]:
    """Every image file under the folder, sorted, without hidden folders; linked folders too, but none twice."""
    seen = {os.path.realpath(root)}  # a link may lead back up
    for folder, folders, names in os.walk(root, followlinks=True):
        below = {name: os.path.realpath(Path(folder, name)) for name in sorted(folders) if not name.startswith(".")}
        first = {place: name for name, place in reversed(below.items()) if place not in seen}
        folders[:] = sorted(first.values())
        seen.update(first)
        for name in sorted(names):
            path = Path(folder, name)
            if is_image_file(path):
                yield path
