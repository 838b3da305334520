"""`convert`: what goes in comes out, in the plain form."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from data.fixtures import BUILDERS, make_folder, save, write_csv
from orderless.data import open_data
from orderless.data.convert import convert, label_cell
from orderless.data.readers.table import parse_labels
from orderless.errors import UsageError


@pytest.mark.parametrize("format", list(BUILDERS))
def test_round_trip(tmp_path: Path, format: str) -> None:
    before = open_data(BUILDERS[format](tmp_path / "in" if (tmp_path / "in").mkdir() is None else tmp_path))
    assert convert(before, tmp_path / "out") == []
    after = open_data(tmp_path / "out")
    assert after.format == "folder"
    for split, part in before.splits.items():
        rows = after.splits[split]
        assert [sample.labels for sample in rows] == [sample.labels for sample in part]
        assert [sample.ignore for sample in rows] == [sample.ignore for sample in part]
        assert [sample.load().size for sample in rows] == [sample.load().size for sample in part]
        if part[0].box is None:
            assert [sample.source_bytes() for sample in rows] == [sample.source_bytes() for sample in part]


@pytest.mark.parametrize(
    "labels", [(), ("a",), ("a", "b c"), ("a|b", "c"), ("[x]",), (" a",), ('say "hi"',), ("a,b", "ü\n")]
)
def test_label_cells_are_read_back(labels: tuple[str, ...]) -> None:
    assert parse_labels(label_cell(labels), "|", "") == tuple(label.strip() for label in labels)


def test_names_that_clash_and_images_that_are_missing(tmp_path: Path) -> None:
    rows: list[list[object]] = [["file_name", "labels"]]
    for i, name in enumerate(["a/x.png", "b/x.png", "c/X.PNG", "d/x-2.png"]):
        save(tmp_path / "in" / name, i)
        rows.append([name, f"label {i}"])
    write_csv(tmp_path / "in" / "metadata.csv", [*rows, ["gone.png", "z"]])
    before = open_data(tmp_path / "in")
    left_out = convert(before, tmp_path / "out")
    assert [error.reason for error in left_out] == ["there is no such file"]
    after = open_data(tmp_path / "out")
    assert len(after) == 4
    assert len({sample.path.name.lower() for sample in after}) == 4
    pictures = {sample.labels: sample.source_bytes() for sample in before if sample.path.exists()}
    assert {sample.labels: sample.source_bytes() for sample in after} == pictures


def test_nothing_is_overwritten_and_nothing_is_left_behind(tmp_path: Path) -> None:
    found = open_data(make_folder(tmp_path / "in"))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="exists already"):
        convert(found, tmp_path / "out")

    def interrupted(rows: object) -> object:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        convert(found, tmp_path / "new", interrupted)  # type: ignore[arg-type]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "out"]


def test_names_that_no_table_can_hold(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for i, name in enumerate([b"\xff\xfe", "日本 犬".encode(), b"a\x1b[31mred: <x>", b"a?"]):
        save(folder / f"{i}.png", i).rename(folder / os.fsdecode(name + b".png"))
        (folder / os.fsdecode(name + b".txt")).write_text(f"label {i}")
    before = open_data(folder)
    assert convert(before, tmp_path / "out") == []
    after = open_data(tmp_path / "out")
    pictures = {sample.labels: sample.source_bytes() for sample in before}
    assert {sample.labels: sample.source_bytes() for sample in after} == pictures
    assert "日本 犬.png" in {sample.path.name for sample in after}
