"""MS-COCO: ids with gaps, crowds, images without annotation, the splits of the paper."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from data.fixtures import make_coco
from orderless.data import open_data
from orderless.data.readers import coco
from orderless.errors import UsageError


@pytest.mark.parametrize("year", [2014, 2017])
def test_layout(tmp_path: Path, year: int) -> None:
    found = open_data(make_coco(tmp_path, year))
    assert found.format == "coco"
    assert found.names == ("person", "bicycle", "bottle", "toothbrush")
    assert found.groups["bottle"] == "kitchen"
    # 8 images each, one without annotation; val is carved from train and the published val is the test split.
    assert {split: len(part) for split, part in found.splits.items()} == {"train": 6, "val": 1, "test": 7}
    assert all(f"val{year}" in str(sample.path) for sample in found["test"])
    assert all(sample.load().size == (48, 40) for sample in found)


def test_labels_areas_and_crowds(tmp_path: Path) -> None:
    first = open_data(make_coco(tmp_path))["test"][0]
    assert first.labels == ("person", "toothbrush")  # the toothbrush is a crowd object
    assert first.areas == pytest.approx((48 / 1920, 960 / 1920))


def test_images_without_annotation_on_request(tmp_path: Path) -> None:
    found = open_data(make_coco(tmp_path), keep_empty=True)
    assert len(found["test"]) == 8
    assert found["test"][-1].labels == ()


def test_everything_stays_in_train_on_request(tmp_path: Path) -> None:
    assert set(open_data(make_coco(tmp_path), val_share=0).splits) == {"train", "test"}


def test_both_years(tmp_path: Path) -> None:
    make_coco(make_coco(tmp_path, 2014), 2017)
    assert "2014 was read" in open_data(tmp_path).notes[0]
    assert "train2017" in str(open_data(tmp_path, year=2017)["train"][0].path)
    with pytest.raises(UsageError, match="not 2015"):
        open_data(tmp_path, year=2015)


def test_counts_are_compared_with_the_published_ones(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert any("7 here, 82,081 in the published set" in note for note in open_data(make_coco(tmp_path)).notes)
    monkeypatch.setattr(coco, "PUBLISHED", {"train2014": (7, 8), "val2014": (7, 8)})
    assert open_data(tmp_path).notes == []
    assert open_data(tmp_path, keep_empty=True).notes == []


@pytest.mark.parametrize("missing", ["annotations/instances_train2014.json", "annotations/instances_val2014.json"])
def test_half_downloaded_lists(tmp_path: Path, missing: str) -> None:
    (make_coco(tmp_path) / missing).unlink()
    with pytest.raises(UsageError, match=Path(missing).name):
        open_data(tmp_path)
    assert open_data(tmp_path, partial_download=True).notes


def test_half_downloaded_images(tmp_path: Path) -> None:
    make_coco(tmp_path)
    (tmp_path / "val2014").rename(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match=r"there is no folder .*val2014"):
        open_data(tmp_path)
    (tmp_path / "val2014").mkdir()
    with pytest.raises(UsageError, match=r"missing, the first is .*COCO_val2014"):
        open_data(tmp_path)


def test_half_a_json_file(tmp_path: Path) -> None:
    path = make_coco(tmp_path) / "annotations" / "instances_train2014.json"
    path.write_bytes(path.read_bytes()[:-300])
    with pytest.raises(UsageError, match=r"instances_train2014.json ends in the middle"):
        open_data(tmp_path)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda whole: whole["annotations"][0].update(category_id=7), "category 7"),
        (lambda whole: whole["annotations"][0].update(image_id=3), "image 3"),
        (lambda whole: whole["annotations"][0].pop("image_id"), "'annotations' has no 'image_id'"),
        (lambda whole: whole.update(annotations=[3]), "not of the COCO form"),
        (lambda whole: whole.pop("categories"), "no categories"),
        (lambda whole: whole["images"][0].update(file_name="../../secret.jpg"), "outside the data folder"),
    ],
)
def test_broken_entries(tmp_path: Path, change: object, expected: str) -> None:
    path = make_coco(tmp_path) / "annotations" / "instances_train2014.json"
    whole = json.loads(path.read_text())
    change(whole)  # type: ignore[operator]
    path.write_text(json.dumps(whole))
    with pytest.raises(UsageError, match=expected):
        open_data(tmp_path)
