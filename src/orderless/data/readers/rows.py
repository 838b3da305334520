"""Rows of a CSV, JSON-lines or Parquet table, each with the place to name in an error."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orderless.data.readers.files import read_text
from orderless.errors import UsageError


@dataclass(frozen=True)
class Rows:
    """A table: column names, and for every row its values in that order; `lines` are the rows' line numbers."""

    path: Path
    columns: list[str]
    values: list[list[Any]]
    lines: list[int]

    def where(self, row: int) -> str:
        return f"{self.path} {'row' if self.path.suffix == '.parquet' else 'line'} {self.lines[row]}"


def read_rows(path: Path) -> Rows:
    """Read the whole table."""
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        rows = _parquet(path)
    elif suffix == ".jsonl":
        rows = _json_lines(path)
    else:
        rows = _csv(path)
    if not rows.values:
        raise UsageError(f"{path} names no image: it has no row")
    return rows


def _csv(path: Path) -> Rows:
    text = read_text(path)
    header = text.partition("\n")[0]
    # Spreadsheets of many countries write semicolons.
    delimiter = max(",;\t", key=header.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    columns: list[str] = []
    values: list[list[Any]] = []
    lines: list[int] = []
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            cells = [cell.strip() for cell in cells]
            if not columns:
                columns = cells
                _no_column_twice(path, columns)
                continue
            if len(cells) != len(columns):
                raise UsageError(
                    f"{path} line {reader.line_num}: the row has {len(cells)} cells but the header has {len(columns)}"
                )
            values.append(cells)
            lines.append(reader.line_num)
    except csv.Error as error:
        raise UsageError(f"{path} line {reader.line_num}: {error}") from None
    return Rows(path, columns, values, lines)


def _no_column_twice(path: Path, columns: list[str]) -> None:
    for i, name in enumerate(columns):
        if name in columns[:i]:
            raise UsageError(f"{path} line 1: the column {name!r} stands there twice")


def _json_lines(path: Path) -> Rows:
    records: list[dict[str, Any]] = []
    lines: list[int] = []
    # Not splitlines(): JSON text may hold a bare U+2028.
    for number, line in enumerate(read_text(path).split("\n"), start=1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{path} line {number}: not a JSON object ({error})") from None
        if not isinstance(record, dict):
            raise UsageError(f"{path} line {number}: not a JSON object but {type(record).__name__}")
        records.append(record)
        lines.append(number)
    columns = list(dict.fromkeys(key for record in records for key in record))
    return Rows(path, columns, [[record.get(name) for name in columns] for record in records], lines)


def _parquet(path: Path) -> Rows:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(path, use_threads=False)
    except (pa.ArrowException, OSError) as error:
        raise UsageError(f"{path} is not a whole Parquet file: {str(error).splitlines()[0]}") from None
    columns = [table.column(i).to_pylist() for i in range(table.num_columns)]
    values = [list(row) for row in zip(*columns, strict=True)]
    return Rows(path, list(table.column_names), values, list(range(1, len(values) + 1)))
