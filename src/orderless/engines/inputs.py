"""What a job on Ray may be given: files, folders, globs, lists of files, Parquet, and the same on an object store.

Everything becomes rows of `name`, and either nothing more (the name is the place) or the `image` itself, as bytes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

from orderless.data.images import is_image_file
from orderless.data.photos import Photos
from orderless.data.readers.files import image_files, is_address
from orderless.data.readers.table import FILE_COLUMNS
from orderless.errors import UsageError

BLOCK = 512  # names that travel together
IMAGE_COLUMNS = ("image", "bytes", "image_bytes", "content")


def is_parquet(text: str) -> bool:
    """A Parquet file, or a folder of such; a folder with images is one of images, whatever else is in it."""
    path = Path(text)
    if is_address(text):
        return False
    if path.is_dir():
        return any(path.glob("*.parquet")) and next(image_files(path), None) is None
    return path.suffix.lower() == ".parquet" and path.is_file()


def names(patterns: list[str]) -> Iterator[str]:
    """The places of single images; lists of files (`.txt`) are read, addresses of folders listed."""
    for pattern in patterns:
        if is_address(pattern):
            yield from _listed(pattern)
        elif pattern.endswith(".txt"):
            with Path(pattern).open(encoding="utf-8", errors="surrogateescape") as lines:
                yield from (line.rstrip("\r\n") for line in lines if line.strip())
    rest = [pattern for pattern in patterns if not is_address(pattern) and not pattern.endswith(".txt")]
    if rest:
        yield from (str(photo) for photo in Photos(rest, others=len(rest) < len(patterns)))


def name_tables(patterns: list[str]) -> list[Any]:
    """Names as Arrow tables of one column; bytes, since names of files need not be UTF-8."""
    import pyarrow as pa

    found = (os.fsencode(name) for name in names(patterns))
    tables = []
    while block := list(islice(found, BLOCK)):
        tables.append(pa.table({"name": pa.array(block, pa.binary())}))
    if not tables:
        raise UsageError("there is no image to tag")
    return tables


def _listed(address: str) -> Iterator[str]:
    import pyarrow as pa
    from pyarrow import fs

    try:
        filesystem, path = _filesystem(address)
        if filesystem.get_file_info(path).type != fs.FileType.Directory:
            yield address
            return
        infos = filesystem.get_file_info(fs.FileSelector(path, recursive=True))
    except (pa.ArrowException, OSError, ValueError, ImportError) as error:
        raise UsageError(f"cannot list {address!r}: {str(error).splitlines()[0]}") from None
    base, begin = address.rstrip("/"), len(path.rstrip("/"))
    for info in sorted(infos, key=lambda info: str(info.path)):
        if info.type == fs.FileType.File and is_image_file(Path(info.base_name)):
            yield base + quote(info.path[begin:])


def _filesystem(address: str) -> tuple[Any, str]:
    """Arrow's own file systems (file, s3, gs, hdfs), else what fsspec knows; and the path there."""
    import pyarrow as pa
    from pyarrow import fs

    try:
        filesystem, path = fs.FileSystem.from_uri(address)
        return filesystem, str(path)
    except pa.ArrowInvalid:
        import fsspec  # type: ignore[import-untyped]

        found, path = fsspec.core.url_to_fs(unquote(address))
        return fs.PyFileSystem(fs.FSSpecHandler(found)), str(path)


def read_image(place: str) -> bytes:
    """The bytes of an image, from a path or an address; raises OSError."""
    if not is_address(place):
        path = Path(place)
        if path.exists() and not path.is_file():
            raise OSError("it is not an ordinary file")
        return path.read_bytes()
    filesystem, path_there = _filesystem(place)
    with filesystem.open_input_stream(path_there) as stream:
        return bytes(stream.read())


def parquet_rows(table: Any, folder: str) -> list[tuple[str, bytes | None]]:
    """Name and, where the table brings it, image of every row; relative names start at the table's `folder`."""
    import pyarrow as pa

    columns = {name.lower(): table.column(name) for name in table.column_names}
    kinds = {name: column.type for name, column in columns.items()}
    image = next((c for c in IMAGE_COLUMNS if c in columns and not pa.types.is_string(kinds[c])), None)
    name = next((c for c in (*FILE_COLUMNS, "name", "id", "url", "uri") if c in columns and c != image), None)
    if image is None and name is None:
        raise UsageError(
            f"the Parquet file has no column of paths ({', '.join(FILE_COLUMNS)}) or of images "
            f"({', '.join(IMAGE_COLUMNS)}); it has: {', '.join(table.column_names)}"
        )
    called = [str(value) for value in columns[name].to_pylist()] if name else [""] * table.num_rows
    if image is None:
        return [(place if is_address(place) else os.path.join(folder, place), None) for place in called]  # noqa: PTH118
    rows: list[tuple[str, bytes | None]] = []
    for own, value in zip(called, columns[image].to_pylist(), strict=True):
        inner = value if isinstance(value, dict) else {"bytes": value}  # Hugging Face keeps bytes and path together
        rows.append((own or str(inner.get("path") or ""), inner.get("bytes") or b""))
    if not all(own for own, _ in rows):
        raise UsageError("the Parquet file has images without names; add a column file_name")
    return rows
