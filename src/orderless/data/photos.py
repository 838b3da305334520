"""The photos that a command was given: files, folders and globs, walked anew each time rather than listed."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path

from orderless.data.readers.files import image_files, is_address
from orderless.errors import UsageError


class Photos:
    """Iterates over files as given, folders walked, globs matched; sorted within each, no file twice."""

    def __init__(self, patterns: list[str], *, others: bool = False) -> None:
        """One of several files may be missing, but not all of them, unless there are `others` that come another way."""
        self.patterns = list(dict.fromkeys(patterns))
        address = next((pattern for pattern in self.patterns if is_address(pattern)), None)
        if address is not None:
            raise UsageError(f"{address!r} is an address; only --engine ray reads addresses, those of object stores")
        if not others and not any(_is_glob(pattern) or os.path.lexists(pattern) for pattern in self.patterns):
            raise UsageError(f"there is no file or folder {self.patterns[0]!r}")
        for pattern in self.patterns:
            if Path(pattern).is_dir():
                if next(image_files(Path(pattern)), None) is None:
                    raise UsageError(f"the folder {pattern!r} holds no image")
            elif _is_glob(pattern) and not any(Path(match).is_file() for match in _matches(pattern)):
                raise UsageError(f"no file matches {pattern!r}")

    def __iter__(self) -> Iterator[Path]:
        if len(self.patterns) == 1:
            yield from _photos(self.patterns[0])
            return
        seen: set[Path] = set()  # what lies below one pattern may be another's too
        for pattern in self.patterns:
            for photo in _photos(pattern):
                if photo not in seen:
                    seen.add(photo)
                    yield photo

    def count(self) -> int:
        return sum(1 for _ in self)

    @property
    def folder(self) -> Path:
        """The innermost folder that holds them all."""
        return Path(os.path.commonpath([_folder(pattern) for pattern in self.patterns]))


def _photos(pattern: str) -> Iterator[Path]:
    path = Path(pattern)
    if path.is_dir():
        yield from image_files(path)
    elif _is_glob(pattern):
        yield from (Path(match) for match in sorted(_matches(pattern)) if Path(match).is_file())
    else:
        yield path  # one of several that is missing is named as failed, like any other that cannot be read


def _is_glob(pattern: str) -> bool:
    return any(sign in pattern for sign in "*?[") and not Path(pattern).exists()


def _matches(pattern: str) -> Iterator[str]:
    return glob.iglob(pattern, recursive=True)  # noqa: PTH207  absolute patterns too


def _folder(pattern: str) -> str:
    path = Path(pattern)
    if _is_glob(pattern):
        path = Path(*takewhile(lambda part: not any(sign in part for sign in "*?["), path.parts[:-1]))
    elif not path.is_dir():
        path = path.parent
    return os.path.abspath(path)  # noqa: PTH100  not resolve(): links are the user's own choice
