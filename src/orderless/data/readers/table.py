"""A folder of images with a table: the plain form, and what Hugging Face calls `imagefolder`.

`metadata.csv`, `.jsonl` or `.parquet` stands at the root, or one in each of the folders train, val and test.
Labels come as one column (a list, a JSON list, or text separated by `|`) or as one 0/1 column per label.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from orderless.data.readers.files import SPLIT_NAMES, check_some_exist, inside, split_name, unique
from orderless.data.readers.rows import Rows, read_rows
from orderless.data.sample import Collection, Sample, complete_splits, split_samples
from orderless.errors import UsageError
from orderless.text import counted

FORMAT = "folder"

SUFFIXES = (".csv", ".jsonl", ".parquet")
FILE_COLUMNS = ("file_name", "image", "path", "filename")
LABEL_COLUMNS = ("labels", "label", "tags")
SPLIT_COLUMN = "split"
ERROR_COLUMN = "error"  # why a photo could not be tagged, as `orderless predict` writes
IGNORE_COLUMN = "ignore"  # labels left open, written as the labels are

_ZERO_ONE: dict[object, bool] = {"0": False, "1": True, "0.0": False, "1.0": True, "true": True, "false": False}


def detect(root: Path) -> bool:
    return bool(_tables(root))


def read(root: Path, seed: int, *, separator: str = "|") -> Collection:
    """Read the tables; `separator` stands between labels in a text cell."""
    tables = _tables(root)
    if not tables:
        raise UsageError(f"there is no metadata.csv, metadata.jsonl or metadata.parquet in {str(root)!r}")
    folder = root if root.is_dir() else root.parent
    notes: list[str] = []
    names: tuple[str, ...] | None = None
    splits: dict[str, list[Sample]] = {}
    unsplit: list[Sample] = []
    for split, path in tables:
        rows = read_rows(path)
        columns = _columns(rows, separator, notes)
        if columns.names:
            names = unique((*(names or ()), *columns.names))
        _leave_out_failed(rows, notes)
        samples = _samples(rows, columns, separator, path.parent, folder)
        check_some_exist([sample for _, sample in samples], path)
        again = len(samples) - len({sample.path for _, sample in samples})
        if again:
            rows_name = counted(again, "row names", "rows name")
            notes.append(f"{path.name}: {rows_name} a photo that another row names too; each row is a sample")
        for own_split, sample in samples:
            if own_split or split:
                splits.setdefault(own_split or str(split), []).append(sample)
            else:
                unsplit.append(sample)
    if splits and unsplit:
        raise UsageError(f"{folder}: some images have a split and {len(unsplit)} have none, as {unsplit[0].name!r}")
    splits = split_samples(unsplit, seed, root=folder) if unsplit else complete_splits(splits, seed, root=folder)
    return Collection(FORMAT, splits, root=folder, names=names, notes=notes)


def _tables(root: Path) -> list[tuple[str | None, Path]]:
    """The tables with the split that their folder stands for."""
    if root.is_file():
        return [(None, root)] if root.suffix.lower() in SUFFIXES else []
    here = _table_in(root)
    if here:
        return [(None, here)]
    found: list[tuple[str | None, Path]] = []
    for folder in sorted(root.iterdir()):
        split = SPLIT_NAMES.get(folder.name.lower())
        table = _table_in(folder) if split and folder.is_dir() else None
        if table:
            found.append((split, table))
    if found:
        return found
    alone = [path for path in sorted(root.iterdir()) if path.suffix.lower() in SUFFIXES and path.is_file()]
    return [(None, alone[0])] if len(alone) == 1 else []


def _table_in(folder: Path) -> Path | None:
    # `_classes.csv` with one 0/1 column per label is what Roboflow exports for multi-label data.
    for name in (*(f"metadata{suffix}" for suffix in SUFFIXES), "_classes.csv"):
        if (folder / name).is_file():
            return folder / name
    return None


@dataclass(frozen=True)
class _Columns:
    """Which column means what."""

    file: int
    split: int | None
    labels: Callable[[list[Any], str], tuple[str, ...]]  # of a row; the text says where the row stands
    names: tuple[str, ...] | None  # the vocabulary, when the columns give it
    ignore: int | None = None


def _columns(rows: Rows, separator: str, notes: list[str]) -> _Columns:
    place = {name.lower(): i for i, name in reversed(list(enumerate(rows.columns)))}
    have = f"(it has: {', '.join(rows.columns)})"
    file = next((place[name] for name in FILE_COLUMNS if name in place), None)
    if file is None:
        raise UsageError(f"{rows.path} has no column file_name {have}")
    split = place.get(SPLIT_COLUMN)
    label = next((place[name] for name in LABEL_COLUMNS if name in place), None)
    ignore = place.get(IGNORE_COLUMN) if label is not None else None
    if label is not None:
        _warn_of_commas(rows, label, separator, notes)
        return _Columns(file, split, lambda row, where: parse_labels(row[label], separator, where), None, ignore)
    chosen = _zero_one_columns(rows, [i for i in range(len(rows.columns)) if i not in (file, split)], notes)
    if not chosen:
        raise UsageError(f"{rows.path} has no column labels and no 0/1 columns {have}")

    def one_hot(row: list[Any], where: str) -> tuple[str, ...]:
        found = []
        for i in chosen:
            value = _zero_one(row[i])
            if value is None:
                raise UsageError(f"{where} column {rows.columns[i]!r}: {row[i]!r} is neither 0 nor 1")
            if value:
                found.append(rows.columns[i])
        return tuple(found)

    return _Columns(file, split, one_hot, tuple(rows.columns[i] for i in chosen))


def _zero_one(value: object) -> bool | None:
    if isinstance(value, str):
        return _ZERO_ONE.get(value.lower())
    return bool(value) if isinstance(value, bool | int | float) and value in (0, 1) else None


def _zero_one_columns(rows: Rows, candidates: list[int], notes: list[str]) -> list[int]:
    """Columns that hold 0 and 1 mostly: the odd cell among them is a mistake to name, not another column."""
    chosen: list[int] = []
    left_out: list[int] = []
    for i in candidates:
        good = sum(_zero_one(row[i]) is not None for row in rows.values)
        (chosen if good * 2 > len(rows.values) else left_out).append(i)
    if chosen and left_out:
        notes.append(f"{rows.path.name}: left out the columns {', '.join(rows.columns[i] for i in left_out)}: not 0/1")
    return chosen


def parse_labels(value: object, separator: str, where: str) -> tuple[str, ...]:
    """Labels of one cell: a list, a list written as text, or names with the separator between them."""
    items: object = value
    if isinstance(value, str):
        text = value.strip()
        items = _written_list(text) if text.startswith("[") and text.endswith("]") else None
        if items is None:
            items = text.split(separator)
    if items is None or items != items:  # NaN, as data frames write what is missing
        return ()
    if not isinstance(items, list | tuple):
        items = [items]
    if any(isinstance(item, list | tuple | dict) for item in items):
        raise UsageError(f"{where}: the labels {str(value)[:80]!r} are not a flat list of names")
    if _is_zero_one_row(items):
        raise UsageError(
            f"{where}: {str(value)[:80]!r} is a 0 or 1 for each label, but nothing says for which; "
            "give their names, or a column for each label"
        )
    return unique(name for item in items if item is not None and (name := str(item).strip()))


def _is_zero_one_row(items: Sequence[object]) -> bool:
    """Not a list of the labels called 0 and 1, which has each of them once."""
    numbers = [item for item in items if isinstance(item, bool | int | float) and item in (0, 1)]
    return len(numbers) == len(items) > 1 and (len(items) > 2 or any(isinstance(item, float) for item in items))


def _written_list(text: str) -> list[Any] | None:
    """A JSON list, or a Python list as data frames write it; None when the text is neither."""
    for parse in (json.loads, ast.literal_eval):
        try:
            found = parse(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
        return found if isinstance(found, list) else None
    return None


def _warn_of_commas(rows: Rows, label: int, separator: str, notes: list[str]) -> None:
    cells = [row[label] for row in rows.values if isinstance(row[label], str) and not row[label].startswith("[")]
    for other in ",;":
        if any(separator in cell for cell in cells) or other == separator:
            return
        if sum(other in cell for cell in cells) * 3 > len(cells) > 0:
            notes.append(
                f"{rows.path.name}: labels as {cells[0]!r} are taken as one name; "
                f"if {other!r} stands between labels, give -O separator={other}"
            )
            return


def _leave_out_failed(rows: Rows, notes: list[str]) -> None:
    """Rows of `orderless predict` that say why a photo has no tags: it is not a photo without labels."""
    if ERROR_COLUMN not in rows.columns or "labels" not in rows.columns:
        return
    place = rows.columns.index(ERROR_COLUMN)
    kept = [number for number, row in enumerate(rows.values) if not row[place]]
    if len(kept) < len(rows.values):
        notes.append(f"{rows.path.name}: left out {len(rows.values) - len(kept)} of its photos, which have an error")
        rows.values[:] = [rows.values[number] for number in kept]
        rows.lines[:] = [rows.lines[number] for number in kept]


def _samples(
    rows: Rows, columns: _Columns, separator: str, base: Path, folder: Path
) -> list[tuple[str | None, Sample]]:
    found: list[tuple[str | None, Sample]] = []
    for number, row in enumerate(rows.values):
        where = rows.where(number)
        name = row[columns.file]
        if not isinstance(name, str):
            raise UsageError(f"{where}: the file name is {str(name)[:80]!r}, not text")
        split = split_name(row[columns.split], where) if columns.split is not None else None
        ignore = parse_labels(row[columns.ignore], separator, where) if columns.ignore is not None else ()
        found.append((split, Sample(inside(base, name, where), columns.labels(row, where), ignore=ignore)))
    if columns.split is None:
        by_folder = [_folder_split(sample.path, folder) for _, sample in found]
        # One such name among others may be a label, as the folder `train` beside `bus`; two are splits.
        if all(by_folder) or len({*by_folder} - {None}) > 1:
            return [(split, sample) for split, (_, sample) in zip(by_folder, found, strict=True)]
    return found


def _folder_split(path: Path, folder: Path) -> str | None:
    """`train/0001.jpg` lies in the training split when every image of the table lies in such a folder."""
    parts = path.relative_to(folder).parts if path.is_relative_to(folder) else ()
    return SPLIT_NAMES.get(parts[0].lower()) if len(parts) > 1 else None
