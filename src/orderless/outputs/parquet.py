"""Parquet: the columns of the CSV, with real lists; written a row group at a time."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orderless.outputs.about import About, valid_text

if TYPE_CHECKING:
    from orderless.results import Result

ROW_GROUP = 8192


def schema() -> Any:
    """The columns, as a pyarrow schema."""
    import pyarrow as pa

    text = pa.string()
    return pa.schema(
        [("file_name", text), ("labels", pa.list_(text)), ("scores", pa.list_(pa.float32())), ("error", text)]
    )


def row(result: Result, name: str) -> dict[str, Any]:
    """One photo; a failure has no labels, which is not the same as an empty list of them."""
    name = os.fsencode(name).decode("utf-8", "backslashreplace")  # Parquet's text is UTF-8, names of files need not be
    if result.error is not None:
        return {"file_name": name, "labels": None, "scores": None, "error": valid_text(result.error)}
    labels = [valid_text(label) for label in result.labels]
    return {"file_name": name, "labels": labels, "scores": [tag.score for tag in result.tags], "error": None}


def write(results: Iterable[Result], path: Path, about: About) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = (row(result, about.name(result.name)) for result in results)
    with pq.ParquetWriter(path, schema(), compression="zstd") as writer:
        while group := list(islice(rows, ROW_GROUP)):
            writer.write_table(pa.Table.from_pylist(group, schema=schema()))
