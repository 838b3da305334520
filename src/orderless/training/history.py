"""metrics.csv: the epochs of a run, a row each."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from orderless.files import write_text

Row = dict[str, float | int | str]

COLUMNS = ("stage", "epoch", "learning-rate", "loss", "images", "unreadable")


def write_rows(path: Path, rows: list[Row]) -> None:
    """metrics.csv: a row per epoch, columns in a fixed order."""
    columns = list(dict.fromkeys([*COLUMNS, *(key for row in rows for key in row)]))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    writer.writerows({k: f"{v:.6g}" if isinstance(v, float) else v for k, v in row.items()} for row in rows)
    write_text(path, text.getvalue())


def read_rows(path: Path) -> list[Row]:
    """The rows of a metrics.csv; numbers as numbers."""
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [{k: _number(v) for k, v in row.items()} for row in csv.DictReader(file)]


def _number(text: str) -> float | int | str:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
