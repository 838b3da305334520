"""`check`: every kind of trouble, found once and named."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import pytest
from PIL import Image

from data.fixtures import BUILDERS, make_folder, picture, save, write_csv
from orderless.data import open_data
from orderless.data.check import Report, check
from orderless.data.sample import Collection, Sample
from orderless.errors import OrderlessError, UsageError

TOP_LEVEL = {
    *("format", "images", "labels", "splits", "unreadable", "truncated", "oversized", "odd_modes", "duplicates"),
    *("near_duplicates", "leaks", "rare_labels", "unseen_labels", "cardinality", "cooccurrence"),
}


# pytest puts its own warning filters in front of ours.
pytestmark = pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")


def make_troubled(folder: Path) -> Path:
    """A folder with one of everything."""
    rows: list[list[object]] = [["file_name", "labels", "split"]]

    def add(name: str, labels: str, split: str = "train") -> Path:
        rows.append([name, labels, split])
        return folder / name

    for i in range(12):
        save(add(f"{i}.jpg", "cat|dog" if i % 2 else "cat"), i, (160, 120))
    shutil.copy(folder / "0.jpg", add("copy of 0.jpg", "dog"))
    picture(1, (160, 120)).resize((200, 150)).save(add("like 1.png", "cat", "test"))
    cut = save(add("cut.jpg", "cat"), 50, (160, 120))
    cut.write_bytes(cut.read_bytes()[:1500])
    add("text.jpg", "cat").write_text("not an image")
    add("gone.jpg", "cat")
    Image.new("1", (10_001, 10_000)).save(add("huge.png", "cat"))
    picture(51).convert("RGBA").save(add("clear.png", "", "val"))
    save(add("zebra.jpg", "zebra", "test"), 52)
    save(add("owl.jpg", "owl"), 53)
    save(add("twice.jpg", "cat"), 54)
    add("twice.jpg", "cat", "test")
    write_csv(folder / "metadata.csv", rows)
    return folder


@pytest.fixture(scope="module")
def troubled(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return check(open_data(make_troubled(tmp_path_factory.mktemp("troubled"))), workers=2)


def test_counts(troubled: Report) -> None:
    assert troubled.format == "folder"
    assert (troubled.images, troubled.samples) == (22, 23)
    assert troubled.splits == {"train": 19, "val": 1, "test": 3}
    assert troubled.labels == {"cat": 19, "dog": 7, "owl": 1, "zebra": 1}
    assert troubled.label_splits["cat"] == {"train": 17, "val": 0, "test": 2}
    assert troubled.cardinality == {
        "mean": round(28 / 23, 4),
        "min": 0,
        "max": 2,
        "histogram": {"0": 1, "1": 16, "2": 6},
    }
    assert troubled.cooccurrence["labels"] == ["cat", "dog", "owl", "zebra"]
    assert troubled.cooccurrence["matrix"] == [[19, 6, 0, 0], [6, 7, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
    assert troubled.cooccurrence["pairs"] == [{"labels": ["cat", "dog"], "count": 6}]


def test_images_that_cannot_be_read(troubled: Report) -> None:
    kinds = {row["image"]: row["kind"] for row in troubled.unreadable}
    assert kinds == {"cut.jpg": "truncated", "text.jpg": "damaged", "gone.jpg": "missing", "huge.png": "oversized"}
    assert all(row["reason"] for row in troubled.unreadable)
    assert troubled.truncated == ["cut.jpg"]
    assert troubled.missing == ["gone.jpg"]
    assert troubled.oversized == ["huge.png"]
    assert troubled.odd_modes == [{"image": "clear.png", "mode": "RGBA", "frames": 1}]


def test_copies_and_leaks(troubled: Report) -> None:
    assert troubled.duplicates == [["0.jpg", "copy of 0.jpg"]]
    assert troubled.near_duplicates == [["1.jpg", "like 1.png"]]
    assert troubled.conflicts == [{"images": ["0.jpg", "copy of 0.jpg"], "labels": [["cat"], ["dog"]]}]
    assert troubled.leaks == [
        {"kind": "same file", "splits": ["train", "test"], "images": ["twice.jpg"]},
        {"kind": "same look", "splits": ["train", "test"], "images": ["1.jpg", "like 1.png"]},
    ]


def test_one_file_in_two_rows_with_other_labels(tmp_path: Path) -> None:
    for name in ("a.jpg", "b.jpg", "c.jpg"):
        picture(ord(name[0])).save(tmp_path / name)
    (tmp_path / "metadata.csv").write_text("file_name,labels\na.jpg,cat\na.jpg,dog\nb.jpg,cat\nb.jpg,cat\nc.jpg,dog\n")
    report = check(open_data(tmp_path), workers=0)
    assert report.conflicts == [{"images": ["a.jpg", "a.jpg"], "labels": [["cat"], ["dog"]]}]
    assert any("2 rows name a photo" in note for note in report.notes)


def test_labels_to_worry_about(troubled: Report) -> None:
    assert troubled.rare_labels == [{"label": "dog", "train": 7}, {"label": "owl", "train": 1}]
    assert troubled.unseen_labels == [{"label": "zebra", "val": 0, "test": 1}]


def test_json(troubled: Report) -> None:
    whole = json.loads(json.dumps(troubled.to_json()))
    assert set(whole) >= TOP_LEVEL


def test_nothing_is_changed_and_processes_agree(tmp_path: Path) -> None:
    root = make_troubled(tmp_path / "data")
    before = {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in root.iterdir()}
    found = open_data(root)
    assert check(found, workers=0).to_json() == check(found, workers=3).to_json()
    assert {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in root.iterdir()} == before


@pytest.mark.parametrize("format", list(BUILDERS))
def test_every_format(tmp_path: Path, format: str) -> None:
    report = check(open_data(BUILDERS[format](tmp_path)), workers=0)
    assert report.format == format
    assert report.unreadable == []
    assert report.duplicates == []
    assert report.near_duplicates == []
    assert report.leaks == []
    assert report.images == (12 if format == "wider" else report.samples)


def test_progress_and_wrong_workers(tmp_path: Path) -> None:
    found = open_data(make_folder(tmp_path))
    seen: list[int] = []
    check(found, workers=0, progress=lambda facts, total: (seen.append(total), facts)[1])
    assert seen == [11]
    with pytest.raises(UsageError, match="workers is -1"):
        check(found, workers=-1)


@dataclass(frozen=True, slots=True)
class Deadly(Sample):
    """A picture that ends the process that opens it, as the system does when memory runs out."""

    def source_bytes(self) -> bytes:
        os._exit(9)


def test_a_process_that_dies_is_an_error_and_not_a_hang() -> None:
    samples: list[Sample] = [Deadly(Path(f"{i}.jpg"), ("a",)) for i in range(4)]
    with pytest.raises(OrderlessError, match="perhaps for want of memory"):
        check(Collection("folder", {"train": samples}), workers=2)


def test_generated_scenes() -> None:
    pytest.importorskip("orderless.data.scenes")
    report = check(open_data("scenes:train=4,val=2,test=2,size=64"), workers=0)
    assert report.images == 8
    assert report.unreadable == []
    assert report.odd_modes == []
