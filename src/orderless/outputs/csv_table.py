"""CSV: `file_name`, `labels` in the model's order with `|` between them, their `scores`, and the `error` of a failure.

It is the table of the plain form: `open_data` reads it back. A label that would be read back wrongly, or that a
spreadsheet would take for a formula, makes its cell a JSON list.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, TextIO

from orderless.data.convert import label_cell
from orderless.outputs.about import About, valid_text

if TYPE_CHECKING:
    from orderless.results import Result

COLUMNS = ("file_name", "labels", "scores", "error")


def write(results: Iterable[Result], file: TextIO, about: About, *, begun: bool = False) -> None:
    """Rows for the results; with a header unless the file has begun already."""
    table = csv.writer(file)
    if not begun:
        table.writerow(COLUMNS)
    for result in results:
        labels = label_cell(valid_text(label) for label in result.labels)
        scores = "|".join(f"{tag.score:.4f}" for tag in result.tags)
        table.writerow([about.name(result.name), labels, scores, valid_text(result.error or "")])


def done_rows(lines: Iterable[str]) -> Iterator[tuple[str | None, bool]]:
    """Of a file that was written in part: for every row its photo (None: the header) and whether it failed."""
    for number, row in enumerate(csv.reader(lines, strict=True)):
        yield (None, False) if number == 0 else (row[0], bool(row[3]))
