"""What a job on Ray may be given; no Ray is needed to read it."""

from __future__ import annotations

import os
from pathlib import Path

import fsspec
import pyarrow as pa
import pytest
from PIL import Image

from orderless.engines.inputs import is_parquet, name_tables, names, parquet_rows, read_image
from orderless.errors import UsageError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("b.jpg", "a.png", os.fsdecode(b"\xff.jpg"), "deep/c d.jpg"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        Image.new("RGB", (4, 4)).save(tmp_path / name)
    (tmp_path / "notes.md").write_text("no image")
    return tmp_path


def test_folders_lists_and_addresses(folder: Path) -> None:
    (folder / "list.txt").write_text("x/1.jpg\n\ngone.jpg\n")
    assert list(names([str(folder / "list.txt")])) == ["x/1.jpg", "gone.jpg"]
    assert len(list(names([str(folder)]))) == 4
    address = f"file://{folder / 'deep'}"
    (found,) = names([address])
    assert found == f"{address}/c%20d.jpg"
    assert read_image(found) == (folder / "deep" / "c d.jpg").read_bytes()
    assert list(names([f"file://{folder}/b.jpg"])) == [f"file://{folder}/b.jpg"]
    memory = fsspec.filesystem("memory")
    memory.pipe("/bucket/a/e f.jpg", b"image")
    (found,) = names(["memory://bucket/a"])
    assert (found, read_image(found)) == ("memory://bucket/a/e%20f.jpg", b"image")
    with pytest.raises(UsageError, match="cannot list"):
        list(names(["strange://bucket/x"]))


def test_names_that_are_not_utf8_arrive(folder: Path) -> None:
    (table,) = name_tables([str(folder)])
    assert sorted(os.fsdecode(name) for name in table["name"].to_pylist()) == sorted(names([str(folder)]))


def test_parquet_of_paths_and_of_images(tmp_path: Path) -> None:
    paths = pa.table({"path": ["a.jpg", "/b.jpg", "s3://c/d.jpg"], "more": [1, 2, 3]})
    assert parquet_rows(paths, "/data") == [("/data/a.jpg", None), ("/b.jpg", None), ("s3://c/d.jpg", None)]
    images = pa.table({"id": [7], "image": [b"bytes"]})
    assert parquet_rows(images, "/data") == [("7", b"bytes")]
    hugging = pa.table({"image": [{"bytes": b"x", "path": "p.jpg"}, {"bytes": None, "path": "q.jpg"}]})
    assert parquet_rows(hugging, "/data") == [("p.jpg", b"x"), ("q.jpg", b"")]
    with pytest.raises(UsageError, match="it has: colour"):
        parquet_rows(pa.table({"colour": ["red"]}), "/data")
    with pytest.raises(UsageError, match="without names"):
        parquet_rows(pa.table({"image": [b"x"]}), "/data")


def test_what_is_parquet(folder: Path) -> None:
    (folder / "tags.parquet").touch()
    assert not is_parquet(str(folder))  # a folder of images, whatever else is in it
    (folder / "only").mkdir()
    (folder / "only" / "1.parquet").touch()
    assert is_parquet(str(folder / "only"))
    assert is_parquet(str(folder / "tags.parquet"))
    assert not is_parquet("nowhere.parquet")
    assert not is_parquet("s3://bucket/x.parquet")
