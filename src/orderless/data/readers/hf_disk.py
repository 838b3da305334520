"""A Hugging Face `datasets` data set saved to disk: Arrow files with `state.json` and `dataset_info.json`.

Images inside the Arrow files are read when a sample is loaded, by memory map; nothing is unpacked.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from PIL import Image

from orderless.data.images import PIXEL_LIMIT, open_image
from orderless.data.readers.files import SPLIT_NAMES, check_some_exist, inside, read_text, require, split_name
from orderless.data.readers.table import FILE_COLUMNS, LABEL_COLUMNS, parse_labels
from orderless.data.sample import Collection, Sample, complete_splits, split_samples
from orderless.errors import UnreadableImage, UsageError

FORMAT = "hf-disk"


@dataclass(frozen=True, slots=True)
class ArrowSample(Sample):
    """An image whose bytes lie in an Arrow file; `path` is a name for messages, not a file."""

    arrow: Path = field(kw_only=True)
    column: str = field(kw_only=True)
    row: int = field(kw_only=True)

    def load(self, size: int | None = None, pixel_limit: int = PIXEL_LIMIT) -> Image.Image:
        try:
            return open_image(self.source_bytes(), size=size, pixel_limit=pixel_limit)
        except UnreadableImage as error:
            raise UnreadableImage(self.path, error.reason) from None

    def source_bytes(self) -> bytes:
        data = _arrow_table(self.arrow).column(self.column)[self.row].as_py()["bytes"]
        if not isinstance(data, bytes):
            raise UnreadableImage(self.path, f"row {self.row} of {self.arrow.name} has no image")
        return data


def detect(root: Path) -> bool:
    return (root / "dataset_dict.json").is_file() or (root / "state.json").is_file()


def read(root: Path, seed: int) -> Collection:
    """Read one data set or a dictionary of splits."""
    if not (root / "dataset_dict.json").is_file():
        require(root / "state.json", "the description of the data set")
        samples, names = _read_part(root)
        split = SPLIT_NAMES.get(str(_json(root / "state.json").get("_split")).lower())
        given = split in ("val", "test")
        splits = {str(split): samples} if given else split_samples(samples, seed, root=root)
        return Collection(FORMAT, splits, root=root, names=names)
    splits = {}
    all_names: list[tuple[str, ...] | None] = []
    for part in _json(root / "dataset_dict.json").get("splits", []):
        folder = require(inside(root, str(part), str(root / "dataset_dict.json")), f"the split {part!r}")
        samples, names = _read_part(folder)
        splits.setdefault(split_name(part, str(root / "dataset_dict.json")), []).extend(samples)
        all_names.append(names)
    names = all_names[0] if all_names and all(names == all_names[0] for names in all_names) else None
    return Collection(FORMAT, complete_splits(splits, seed, root=root), root=root, names=names)


def _read_part(folder: Path) -> tuple[list[Sample], tuple[str, ...] | None]:
    """The samples of one split, and the label names when the data set declares them."""
    state = _json(folder / "state.json")
    features = _json(folder / "dataset_info.json").get("features") or {}
    if state.get("_indices_files") or state.get("_indices_data_files"):
        raise UsageError(f"{folder / 'state.json'} selects rows by an index; call flatten_indices() before saving")
    image = _named(features, ("image", *FILE_COLUMNS), "image", folder)
    label = _named(features, LABEL_COLUMNS, "labels", folder)
    classes = _class_names(features[label])
    samples: list[Sample] = []
    for entry in state.get("_data_files") or []:
        arrow = require(inside(folder, str(entry["filename"]), str(folder / "state.json")), "an Arrow file")
        samples += _read_arrow(arrow, folder, image, label, classes)
    if not samples:
        raise UsageError(f"{folder / 'state.json'} names no Arrow file with a row")
    if type(samples[0]) is Sample:
        check_some_exist(samples, folder)
    return samples, classes


def _read_arrow(arrow: Path, folder: Path, image: str, label: str, classes: tuple[str, ...] | None) -> list[Sample]:
    table = _arrow_table(arrow)
    for column in (image, label):
        if column not in table.column_names:
            raise UsageError(f"{arrow} has no column {column!r} (it has: {', '.join(table.column_names)})")
    # Only the paths and whether there are bytes: the bytes themselves stay on disk.
    samples: list[Sample] = []
    embedded, paths = _picture_fields(table.column(image), arrow)
    names: set[str] = set()
    for row, (cell, has_bytes, path) in enumerate(zip(table.column(label).to_pylist(), embedded, paths, strict=True)):
        where = f"{arrow} row {row}"
        labels = _labels(cell, classes, where)
        if has_bytes:
            name = Path(str(path).replace("\\", "/")).name if path else f"{arrow.stem}-{row:06d}"
            if name in names:  # some data sets call every image image.png
                name = f"{arrow.stem}-{row:06d}-{name}"
            names.add(name)
            samples.append(ArrowSample(folder / name, labels, arrow=arrow, column=image, row=row))
        elif path:
            samples.append(Sample(inside(folder, path, where), labels))
        else:
            raise UsageError(f"{where}: there is neither an image nor a path in the column {image!r}")
    return samples


def _picture_fields(column: Any, arrow: Path) -> tuple[list[bool], list[str | None]]:
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        return [False] * len(column), column.to_pylist()
    if not pa.types.is_struct(column.type) or {"bytes", "path"} - {f.name for f in column.type}:
        raise UsageError(f"{arrow}: the image column is {column.type}, not bytes and path")
    return pc.is_valid(pc.struct_field(column, "bytes")).to_pylist(), pc.struct_field(column, "path").to_pylist()


def _labels(cell: Any, classes: tuple[str, ...] | None, where: str) -> tuple[str, ...]:
    if classes is None:
        return parse_labels(cell, "|", where)
    indices = cell if isinstance(cell, list) else [] if cell is None else [cell]
    for index in indices:
        if not 0 <= index < len(classes):
            raise UsageError(f"{where}: the class {index} is not one of the {len(classes)} declared")
    return tuple(classes[index] for index in dict.fromkeys(indices))


def _class_names(feature: Any) -> tuple[str, ...] | None:
    """Names of a `ClassLabel`, alone or in a list; lists are written in three ways by different versions."""
    if isinstance(feature, list):
        return _class_names(feature[0])
    if isinstance(feature, dict) and feature.get("_type") == "ClassLabel":
        return tuple(str(name) for name in feature["names"])
    return _class_names(feature["feature"]) if isinstance(feature, dict) and "feature" in feature else None


def _named(features: dict[str, Any], names: tuple[str, ...], what: str, folder: Path) -> str:
    found = next((name for name in names if name in features), None)
    if found is None:
        raise UsageError(f"{folder / 'dataset_info.json'} has no column {what} (it has: {', '.join(features)})")
    return found


def _json(path: Path) -> dict[str, Any]:
    try:
        value = json.loads(read_text(path))
    except ValueError as error:
        raise UsageError(f"{path} is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise UsageError(f"{path} is not a JSON object")
    return value


@lru_cache(maxsize=64)
def _arrow_table(path: Path) -> Any:
    """The file as a table by memory map: pages are read when touched. One map per process and file."""
    import pyarrow as pa

    try:
        source = pa.memory_map(str(path))
        try:
            return pa.ipc.open_stream(source).read_all()
        except pa.ArrowInvalid:
            return pa.ipc.open_file(source).read_all()
    except (pa.ArrowException, OSError) as error:
        raise UsageError(f"{path} is not a whole Arrow file: {str(error).splitlines()[0]}") from None
