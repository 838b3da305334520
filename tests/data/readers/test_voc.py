"""PASCAL VOC: nesting, difficult objects, years with and without test annotations."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from data.fixtures import make_voc
from orderless.data import open_data
from orderless.errors import UsageError


@pytest.mark.parametrize("nested", [True, False])
@pytest.mark.parametrize("deeper", [True, False])
def test_layout(tmp_path: Path, nested: bool, deeper: bool) -> None:
    root = make_voc(tmp_path, nested=nested)
    found = open_data(root / "VOCdevkit" if nested and deeper else root)
    assert found.format == "voc"
    assert found.names is not None
    assert len(found.names) == 20
    assert {split: len(part) for split, part in found.splits.items()} == {"train": 4, "val": 3, "test": 3}
    assert all(sample.load().size == (48, 40) for sample in found)


def test_difficult_objects(tmp_path: Path) -> None:
    train = open_data(make_voc(tmp_path))["train"]
    assert [(s.labels, s.ignore) for s in train[:3]] == [
        (("dog", "person"), ()),  # a difficult dog beside an easy one
        (("person",), ("bottle",)),
        ((), ("chair",)),
    ]
    assert train[0].areas == pytest.approx((24 * 20 / 1920, 16 / 1920))
    with_difficult = open_data(tmp_path, difficult=True)["train"]
    assert [s.labels for s in with_difficult[1:3]] == [("bottle", "person"), ("chair",)]


def test_2012_has_no_test_annotations(tmp_path: Path) -> None:
    found = open_data(make_voc(tmp_path, 2012, test=False))
    assert {split: len(part) for split, part in found.splits.items()} == {"train": 3, "val": 1, "test": 3}
    assert any("val is the test split" in note for note in found.notes)


def test_two_years(tmp_path: Path) -> None:
    make_voc(make_voc(tmp_path), 2012, test=False)
    assert "2007 was read" in open_data(tmp_path).notes[0]
    assert "VOC2012" in str(open_data(tmp_path, year=2012)["train"][0].path)
    with pytest.raises(UsageError, match="no VOC2010"):
        open_data(tmp_path, year=2010)


@pytest.mark.parametrize("missing", ["ImageSets/Main/train.txt", "Annotations/000003.xml"])
def test_half_downloaded(tmp_path: Path, missing: str) -> None:
    path = make_voc(tmp_path) / "VOCdevkit" / "VOC2007" / missing
    path.unlink()
    with pytest.raises(UsageError, match=path.name):
        open_data(tmp_path)


def test_broken_xml(tmp_path: Path) -> None:
    path = make_voc(tmp_path) / "VOCdevkit" / "VOC2007" / "Annotations" / "000002.xml"
    path.write_text(path.read_text()[:-20])
    with pytest.raises(UsageError, match=r"000002.xml is not XML"):
        open_data(tmp_path)


def test_a_file_name_that_leads_out(tmp_path: Path) -> None:
    path = make_voc(tmp_path) / "VOCdevkit" / "VOC2007" / "Annotations" / "000002.xml"
    path.write_text(path.read_text().replace("000002.jpg", "../../../secret.jpg"))
    with pytest.raises(UsageError, match="outside the data folder"):
        open_data(tmp_path)


def test_the_list_says_which_image_not_a_stale_annotation(tmp_path: Path) -> None:
    root = make_voc(tmp_path)
    expected = [sample.path for sample in open_data(root)]
    for stale in ("000001.jpg", "000001", ""):
        for path in root.rglob("*.xml"):
            path.write_text(re.sub("<filename>.*</filename>", f"<filename>{stale}</filename>", path.read_text()))
        assert [sample.path for sample in open_data(root)] == expected
