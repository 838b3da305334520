"""Folder plus table: every way to write labels, and every mistake named with file and line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from data.fixtures import make_folder, make_one_hot, save, write_csv
from orderless.data import open_data
from orderless.data.readers.table import parse_labels
from orderless.errors import UsageError


def table(folder: Path, text: str | bytes, name: str = "metadata.csv", images: int = 3) -> Path:
    for i in range(images):
        save(folder / f"{i}.png", i)
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def message(folder: Path, **options: object) -> str:
    with pytest.raises(UsageError) as caught:
        open_data(folder, **options)
    text = str(caught.value)
    assert "\n" not in text
    return text


def labels(folder: Path, **options: object) -> dict[str, tuple[str, ...]]:
    return {sample.path.name: sample.labels for sample in open_data(folder, **options)}


def test_splits_and_labels(tmp_path: Path) -> None:
    found = open_data(make_folder(tmp_path))
    assert found.format == "folder"
    assert {split: len(part) for split, part in found.splits.items()} == {"train": 6, "val": 2, "test": 3}
    assert found["train"][2].labels == ("apple", "bread")
    assert found["train"][0].labels == ()
    assert found["train"][2].load().size == (48, 40)


@pytest.mark.parametrize("spelling", ["val", "valid", "VALIDATION", "dev"])
def test_split_spellings(tmp_path: Path, spelling: str) -> None:
    table(tmp_path, f"file_name,labels,split\n0.png,a,Train\n1.png,b,{spelling}\n2.png,a,test\n")
    assert set(open_data(tmp_path).splits) == {"train", "val", "test"}


@pytest.mark.parametrize("column", ["file_name", "image", "path", "filename", "File_Name"])
def test_names_of_the_file_column(tmp_path: Path, column: str) -> None:
    assert labels(table(tmp_path, f"{column},labels\n0.png,a|b\n1.png,b\n"))["0.png"] == ("a", "b")


def test_one_hot_columns_give_the_vocabulary(tmp_path: Path) -> None:
    found = open_data(make_one_hot(tmp_path))
    assert found.names == ("cat", "dog", "red fox")
    assert {sample.path.name: sample.labels for sample in found}["3.jpg"] == ("cat", "red fox")
    assert any("width" in note for note in found.notes)


def test_one_hot_in_split_folders_as_roboflow_writes_it(tmp_path: Path) -> None:
    for split in ("train", "valid", "test"):
        save(tmp_path / split / f"{split}.jpg", len(split))
        (tmp_path / split / "_classes.csv").write_text(f"filename, cat, dog\n{split}.jpg, 1, 0\n")
    found = open_data(tmp_path)
    assert set(found.splits) == {"train", "val", "test"}
    assert found["val"][0].labels == ("cat",)
    assert found["val"][0].path == tmp_path / "valid" / "valid.jpg"


def test_json_lines_with_lists(tmp_path: Path) -> None:
    rows = [{"file_name": "0.png", "labels": ["a", "b c"]}, {"file_name": "1.png", "labels": []}]
    table(tmp_path, "\n".join(json.dumps(row) for row in rows) + "\n\n", "metadata.jsonl")
    assert labels(tmp_path) == {"0.png": ("a", "b c"), "1.png": ()}


def test_parquet(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    for i in range(3):
        save(tmp_path / f"{i}.png", i)
    rows = {"file_name": ["0.png", "1.png", "2.png"], "labels": [["a"], ["b", "a"], []], "split": ["train"] * 3}
    pq.write_table(pa.table(rows), tmp_path / "metadata.parquet")
    found = open_data(tmp_path)
    assert set(found.splits) == {"train", "val"}  # val is carved from train
    assert labels(tmp_path)["1.png"] == ("b", "a")


def test_table_in_each_split_folder(tmp_path: Path) -> None:
    for split in ("train", "validation", "test"):
        save(tmp_path / split / "x.png", len(split))
        write_csv(tmp_path / split / "metadata.csv", [["file_name", "labels"], ["x.png", "a"]])
    assert {split: len(part) for split, part in open_data(tmp_path).splits.items()} == {"train": 1, "val": 1, "test": 1}


def test_split_from_the_folder_names_of_one_table(tmp_path: Path) -> None:
    rows: list[list[object]] = [["file_name", "labels"]]
    for name in ("train/0.png", "train/1.png", "test/2.png"):
        save(tmp_path / name, int(name[-5]))
        rows.append([name, "a"])
    write_csv(tmp_path / "metadata.csv", rows)
    assert [sample.path.name for sample in open_data(tmp_path)["test"]] == ["2.png"]


def test_seeded_split_when_there_is_none(tmp_path: Path) -> None:
    table(tmp_path, "file_name,labels\n" + "".join(f"{i}.png,a\n" for i in range(40)), images=40)
    first, again, other = (open_data(tmp_path, seed=seed) for seed in (0, 0, 1))
    assert {split: len(part) for split, part in first.splits.items()} == {"train": 32, "val": 4, "test": 4}
    assert first.splits == again.splits
    assert first.splits != other.splits


def test_semicolons_byte_order_mark_and_spaces(tmp_path: Path) -> None:
    table(tmp_path, "\ufefffile_name; labels\r\n0.png; a | b \r\n\r\n1.png;\r\n")
    assert labels(tmp_path) == {"0.png": ("a", "b"), "1.png": ()}


def test_a_table_of_another_name_and_a_table_given_itself(tmp_path: Path) -> None:
    table(tmp_path, "file_name,labels\n0.png,a\n1.png,b\n", name="my photos.csv")
    assert len(open_data(tmp_path)) == len(open_data(tmp_path / "my photos.csv")) == 2


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("a|b|a", ("a", "b")),
        ('["a", "b, c"]', ("a", "b, c")),
        ("['a', \"b's\"]", ("a", "b's")),
        ("[x]", ("[x]",)),
        ("", ()),
        (None, ()),
        ([], ()),
        (["a", None, 3], ("a", "3")),
        ("[" * 5000, ("[" * 5000,)),
        ("a||b| ", ("a", "b")),
    ],
)
def test_parse_labels(cell: object, expected: tuple[str, ...]) -> None:
    assert parse_labels(cell, "|", "here") == expected


def test_other_separator_is_an_option_and_is_proposed(tmp_path: Path) -> None:
    table(tmp_path, 'file_name,labels\n0.png,"a,b"\n1.png,"b,c"\n')
    assert "separator=," in open_data(tmp_path).notes[0]
    assert labels(tmp_path, separator=",")["0.png"] == ("a", "b")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("file_name,labels,split\n0.png,a,train\n1.png,b,later\n", ["line 3", "'later'"]),
        ("file_name,labels\n0.png,a\n1.png,b,c\n", ["line 3", "3 cells"]),
        ("file_name,labels\n0.png\n", ["line 2", "1 cells"]),
        ("file_name,caption\n0.png,hello\n", ["labels", "file_name, caption"]),
        ("name,labels\n0.png,a\n", ["file_name", "name, labels"]),
        ("file_name,cat,dog\n0.png,1,0\n1.png,0,2\n2.png,1,1\n", ["line 3", "'dog'", "'2'"]),
        ("file_name,labels\n", ["no row"]),
        ("file_name,labels,labels\n0.png,a,b\n", ["twice", "'labels'"]),
        ("file_name,labels\nnot-there.png,a\n", ["missing", "not-there.png"]),
        ("file_name,labels\n,a\n", ["line 2", "empty"]),
        ("file_name,labels\nhttp://example.org/a.jpg,a\n", ["line 2", "address"]),
        ('file_name,labels\n0.png,"a\n', ["line 2"]),
        (b"file_name,labels\n0.png,a\n1.png,caf\xe9\n", ["line 3", "0xe9", "UTF-8"]),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str | bytes, expected: list[str]) -> None:
    found = message(table(tmp_path, text))
    assert "metadata.csv" in found
    for part in expected:
        assert part in found


@pytest.mark.parametrize("name", ["../0.png", "a/../../0.png", "/etc/passwd", "C:\\photos\\0.png", "..\\0.png", ".."])
def test_paths_cannot_leave_the_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    save(tmp_path / "0.png", 0)
    assert "outside the data folder" in message(table(folder, f"file_name,labels\n0.png,a\n{name},a\n"))


def test_an_absolute_path_inside_and_back_slashes_are_fine(tmp_path: Path) -> None:
    save(tmp_path / "sub" / "x.png", 1)
    table(tmp_path, f"file_name,labels\n{tmp_path}/0.png,a\nsub\\x.png,b\n./sub/../1.png,a\n")
    assert all(sample.path.exists() for sample in open_data(tmp_path))


@pytest.mark.parametrize("line", ["{", "[1]", '{"labels": ["a"]}', '{"file_name": 3, "labels": []}'])
def test_bad_json_lines(tmp_path: Path, line: str) -> None:
    table(tmp_path, '{"file_name": "0.png", "labels": ["a"]}\n' + line + "\n", "metadata.jsonl")
    assert "metadata.jsonl line 2" in message(tmp_path)


def test_half_a_parquet_file(tmp_path: Path) -> None:
    assert "not a whole Parquet file" in message(table(tmp_path, b"PAR1 and no more", "metadata.parquet"))


def test_nested_labels(tmp_path: Path) -> None:
    table(tmp_path, '{"file_name": "0.png", "labels": [["a"]]}\n', "metadata.jsonl")
    assert "flat list" in message(tmp_path)


def test_folders_of_splits_and_others(tmp_path: Path) -> None:
    names = [f"{folder}/{i}.png" for folder in ("train", "test", "extra") for i in range(4)]
    for i, name in enumerate(names):
        save(tmp_path / name, i)
    write_csv(tmp_path / "metadata.csv", [["file_name", "labels"], *([name, "a"] for name in names)])
    assert "some images have a split and 4 have none" in message(tmp_path)
    kept = [name for name in names if not name.startswith("test")]  # `train` may be a label then
    write_csv(tmp_path / "metadata.csv", [["file_name", "labels"], *([name, "a"] for name in kept)])
    assert {split: len(part) for split, part in open_data(tmp_path).splits.items()} == {"train": 6, "val": 1, "test": 1}


@pytest.mark.parametrize("value", [[1.0, 0.0], [1, 0, 1], [False, True, False], "[0, 0, 1, 1]", [0.0, 0.0, 0.0]])
def test_a_row_of_zeros_and_ones_has_no_names(value: object) -> None:
    with pytest.raises(UsageError, match="a 0 or 1 for each label"):
        parse_labels(value, "|", "here")


@pytest.mark.parametrize(
    ("value", "expected"),
    [([0, 1], ("0", "1")), ([1], ("1",)), (float("nan"), ()), ([3, 1], ("3", "1")), (["1", "0", "2"], ("1", "0", "2"))],
)
def test_numbers_may_be_names(value: object, expected: tuple[str, ...]) -> None:
    assert parse_labels(value, "|", "here") == expected


def test_one_spelling_of_accents(tmp_path: Path) -> None:
    found = open_data(
        table(tmp_path, "file_name,labels\n0.png,caf\u00e9\n1.png,cafe\u0301\n2.png,caf\u00e9|cafe\u0301\n")
    )
    assert {sample.labels for sample in found} == {("caf\u00e9",)}
