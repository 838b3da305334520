"""One `.txt` of tags beside each photo, separated by commas: what many training tools read, and `open_data` too."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from orderless.data.readers.tags import BOX_LINE, parse_tags
from orderless.errors import UsageError
from orderless.files import write_text
from orderless.outputs.about import About

if TYPE_CHECKING:
    from orderless.results import Result

SUFFIX = ".txt"


def check(about: About) -> None:
    """Refuse labels that a list separated by commas cannot hold."""
    for label in about.labels:
        if parse_tags(label) != (label,) or BOX_LINE.fullmatch(label) or re.search(r"[\ud800-\udfff]", label):
            raise UsageError(f"a .txt file cannot hold the label {label!r}; choose --to jsonl or --to parquet")


def write(result: Result, path: Path, about: About) -> None:
    write_text(path, ", ".join(result.labels) + "\n" * bool(result.labels))
