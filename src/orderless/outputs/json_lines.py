"""JSON lines: one object per photo with `file_name`, `labels`, `scores`, or `file_name` and `error`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, TextIO

from orderless.outputs.about import About

if TYPE_CHECKING:
    from orderless.results import Result


def write(results: Iterable[Result], file: TextIO, about: About, *, begun: bool = False) -> None:
    for result in results:
        row: dict[str, Any] = {"file_name": about.name(result.name)}
        if result.error is not None:
            row["error"] = result.error
        else:
            row["labels"] = result.labels
            row["scores"] = [round(tag.score, 4) for tag in result.tags]
        file.write(json_text(row) + "\n")


def json_text(value: object) -> str:
    """One line of JSON that UTF-8 can hold: file names need not be UTF-8, and are escaped then."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value)
    return text


def done_rows(lines: Iterable[str]) -> Iterator[tuple[str | None, bool]]:
    """Of a file that was written in part: for every row its photo and whether it failed."""
    for line in lines:
        row = json.loads(line)
        yield row["file_name"], "error" in row
