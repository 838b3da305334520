"""WIDER Attribute: a sample per box, three values of an attribute."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from data.fixtures import make_wider
from orderless.data import open_data
from orderless.data.readers.wider import ATTRIBUTES
from orderless.errors import UsageError


def test_boxes_are_samples(tmp_path: Path) -> None:
    found = open_data(make_wider(tmp_path))
    assert found.format == "wider"
    assert found.names == ATTRIBUTES
    assert {split: len(part) for split, part in found.splits.items()} == {"train": 8, "val": 8, "test": 8}
    first = found["train"][0]
    assert first.box == (4.0, 3.5, 20.0, 30.25)
    assert first.labels == ATTRIBUTES[0::3]
    assert first.ignore == ATTRIBUTES[2::3]
    assert first.load().size == (20, 31)
    assert "[4,3.5,20,30.25]" in first.name


def test_val_joins_train_as_in_the_paper(tmp_path: Path) -> None:
    found = open_data(make_wider(tmp_path), merge_val=True, val_share=0)
    assert {split: len(part) for split, part in found.splits.items()} == {"train": 16, "test": 8}


def test_all_boxes_of_a_photo_go_to_the_same_split(tmp_path: Path) -> None:
    found = open_data(make_wider(tmp_path), merge_val=True, val_share=0.25)
    photos = {split: {sample.path for sample in part} for split, part in found.splits.items()}
    assert found["val"]
    assert not photos["val"] & photos["train"]
    assert len(found["train"]) + len(found["val"]) == 16


@pytest.mark.parametrize("missing", ["Annotations/wider_attribute_test.json", "Image"])
def test_half_downloaded(tmp_path: Path, missing: str) -> None:
    path = make_wider(tmp_path) / missing
    path.rename(tmp_path / "gone")
    with pytest.raises(UsageError, match=path.name):
        open_data(tmp_path)


@pytest.mark.parametrize(
    ("target", "expected"),
    [
        ({"attribute": [1] * 13, "bbox": [0, 0, 1, 1]}, "not 14"),
        ({"attribute": [2] * 14, "bbox": [0, 0, 1, 1]}, "not 14"),
        ({"attribute": [1] * 14, "bbox": [0, 0, 1]}, "published form"),
        ({"attribute": [1] * 14}, "bbox"),
    ],
)
def test_broken_boxes(tmp_path: Path, target: dict[str, object], expected: str) -> None:
    path = make_wider(tmp_path) / "Annotations" / "wider_attribute_test.json"
    path.write_text(json.dumps({"images": [{"file_name": "test/a.jpg", "targets": [target]}]}))
    with pytest.raises(UsageError, match=expected):
        open_data(tmp_path)
