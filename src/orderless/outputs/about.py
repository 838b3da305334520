"""What a format wants to know beyond the results: labels, the model's name, how photos are called."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from orderless.data.readers.files import is_address
from orderless.errors import UsageError

_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet would compute, were it first in a cell


@dataclass(frozen=True)
class About:
    """One job of writing tags."""

    labels: tuple[str, ...]  # of the vocabulary
    model: str  # name of the run
    photos: Path  # a folder that holds all photos
    folder: Path | None = None  # of the file that is written; None: standard output
    options: dict[str, str] = field(default_factory=dict)  # of the format, given with -O

    def name(self, photo: str) -> str:
        """How a table calls a photo: relative to the table where it lies below it (so that the table is a data
        set), else as it was given."""
        name = photo
        if self._base is not None and not is_address(photo):
            absolute = os.path.abspath(photo)  # noqa: PTH100  not resolve(): links are the user's own choice
            if absolute.startswith(self._base):
                name = absolute[len(self._base) :].replace(os.sep, "/")
        return f"./{name}" if name.startswith(_FORMULA) else name

    @cached_property
    def _base(self) -> str | None:
        """The folder as text, once: there may be millions of photos."""
        return None if self.folder is None else os.path.join(os.path.abspath(self.folder), "")  # noqa: PTH100, PTH118

    def below(self, photo: str) -> Path:
        """The photo's place relative to the folder of all photos."""
        return Path(os.path.relpath(photo, self.photos))

    def option(self, name: str, default: str) -> str:
        return self.options.get(name, default)


def check_options(format: str, options: dict[str, object], known: dict[str, str]) -> dict[str, str]:
    """Options given with -O, as text; an unknown one is an error."""
    for name in options:
        if name not in known:
            has = f"it has: {', '.join(known)}" if known else "it has none"
            raise UsageError(f"the output {format} has no option {name!r} ({has})")
    return {name: str(value) for name, value in options.items()}


def valid_text(text: str) -> str:
    """Text that UTF-8 can hold: a broken code point becomes a question mark."""
    return text.encode("utf-8", "replace").decode("utf-8")
