"""Exports of labelling tools: tag files, Label Studio, CVAT, COCO-style."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from data.fixtures import make_coco_export, make_cvat, make_label_studio, make_tags, save
from orderless.data import open_data
from orderless.data.readers.files import ImageFinder, image_files
from orderless.data.sample import Collection
from orderless.errors import UsageError


def by_name(found: Collection) -> dict[str, tuple[str, ...]]:
    return {sample.path.name: sample.labels for sample in found}


def test_tags_beside_images(tmp_path: Path) -> None:
    found = open_data(make_tags(tmp_path))
    assert found.format == "tags"
    assert by_name(found) == {
        "photo 0.png": ("1girl", "red hair", "outdoors"),
        "photo 1.png": ("dog", "ball", "grass"),
        "photo 2.png": ("cat", "sofa"),
        "photo 3.png": (),
        "photo 4.png": ("tree", "sky"),
        "photo 5.png": ("sky", "sea", "boat"),
    }
    assert "untagged.png" in found.notes[0]


def test_tags_in_split_folders(tmp_path: Path) -> None:
    for split in ("train", "val", "test"):
        save(tmp_path / split / "a.jpg", len(split))
        (tmp_path / split / "a.jpg.txt").write_text("x")
    assert set(open_data(tmp_path).splits) == {"train", "val", "test"}
    save(tmp_path / "b.jpg", 9)
    (tmp_path / "b.txt").write_text("x")
    with pytest.raises(UsageError, match=r"b\.jpg"):
        open_data(tmp_path)


def test_tags_that_are_boxes(tmp_path: Path) -> None:
    save(tmp_path / "a.jpg", 1)
    (tmp_path / "a.txt").write_text("0 0.5 0.5 0.25 0.125\n3 0.1 0.2 0.3 0.4\n")
    with pytest.raises(UsageError, match=r"a\.txt holds numbers of boxes"):
        open_data(tmp_path)


def test_tags_without_any(tmp_path: Path) -> None:
    save(tmp_path / "a.jpg", 1)
    with pytest.raises(UsageError, match=r"a\.jpg' has no \.txt"):
        open_data(tmp_path, format="tags")


@pytest.mark.parametrize("minimal", [False, True])
def test_label_studio(tmp_path: Path, minimal: bool) -> None:
    found = open_data(make_label_studio(tmp_path, minimal))
    assert found.format == "label-studio"
    assert by_name(found) == {
        "pic 0.jpg": ("cat", "outdoor"),
        "pic 1.jpg": ("dog",),
        "pic 2.jpg": (),
        "pic 3.jpg": ("cat", "dog"),
        "pic 4.jpg": ("outdoor",),
    }
    assert all(sample.load().size == (48, 40) for sample in found)
    assert len(found.notes) == (0 if minimal else 1)
    export = next(tmp_path.glob("*.json"))
    assert by_name(open_data(export)) == by_name(found)


def test_label_studio_minimal_with_a_field_of_another_name(tmp_path: Path) -> None:
    for i in range(3):
        save(tmp_path / f"{i}.jpg", i)
    tasks = [
        {"image": "0.jpg", "weather": "sunny", "caption": "a field", "annotation_id": 1},
        {"image": "1.jpg", "weather": {"choices": ["sunny", "windy"]}, "caption": "a lake", "annotation_id": 2},
        {"image": "2.jpg", "caption": "nothing", "annotation_id": 3},
    ]
    (tmp_path / "export.json").write_text(json.dumps(tasks))
    assert by_name(open_data(tmp_path)) == {"0.jpg": ("sunny",), "1.jpg": ("sunny", "windy"), "2.jpg": ()}


def test_label_studio_prefers_the_ground_truth(tmp_path: Path) -> None:
    save(tmp_path / "a.jpg", 1)

    def annotation(choice: str, truth: bool) -> dict[str, object]:
        return {"ground_truth": truth, "result": [{"type": "choices", "value": {"choices": [choice]}}]}

    task = {"data": {"image": "a.jpg"}, "annotations": [annotation("no", False), annotation("yes", True)]}
    (tmp_path / "export.json").write_text(json.dumps([task]))
    found = open_data(tmp_path)
    assert by_name(found) == {"a.jpg": ("yes",)}
    assert "several annotations" in found.notes[0]


@pytest.mark.parametrize(
    ("tasks", "expected"),
    [
        ([{"data": {"text": "hello"}, "annotations": []}], "task 1 names no image .*text"),
        ([{"data": {"image": "a.jpg"}, "annotations": []}], "no annotated task"),
        ([{"data": {"image": "gone.jpg"}, "annotations": [{"result": []}]}], "gone.jpg"),
        ([{"data": {"image": "../../a.jpg"}, "annotations": [{"result": [{"type": "choices"}]}]}], "task 1"),
        ([{"data": {"image": "a.jpg"}, "annotations": 3}], "task 1"),
        ([{"data": {"image": "a.jpg"}, "annotations": [{"result": [{"type": "choices"}]}]}], "task 1: its choices"),
        ([{"data": {"image": "a.jpg"}, "annotations": [{"result": [3]}]}], "task 1: its choices"),
        ([{"image": "a.jpg"}, 3], "task 2 is not an object"),
    ],
)
def test_label_studio_mistakes(tmp_path: Path, tasks: object, expected: str) -> None:
    save(tmp_path / "a.jpg", 1)
    (tmp_path / "export.json").write_text(json.dumps(tasks))
    with pytest.raises(UsageError, match=expected):
        open_data(tmp_path)


def test_cvat_tags(tmp_path: Path) -> None:
    found = open_data(make_cvat(tmp_path))
    assert found.format == "cvat"
    assert by_name(found)["frame_000001.PNG"] == ("cat", "indoor & warm")
    assert by_name(found)["frame_000002.PNG"] == ()
    assert all(sample.path.parent.name == "images" for sample in found)


def test_cvat_subsets_are_splits(tmp_path: Path) -> None:
    found = open_data(make_cvat(tmp_path, subsets=True))
    assert {split: len(part) for split, part in found.splits.items()} == {"train": 3, "val": 1, "test": 1}


def test_cvat_without_tags_takes_the_shapes(tmp_path: Path) -> None:
    found = open_data(make_cvat(tmp_path, tags=False))
    assert set(by_name(found).values()) == {("nose",)}
    assert "no tags" in found.notes[0]


def test_cvat_mistakes(tmp_path: Path) -> None:
    path = make_cvat(tmp_path) / "annotations.xml"
    whole = path.read_text()
    path.write_text(whole[:-30])
    with pytest.raises(UsageError, match=r"annotations\.xml is not XML to its end"):
        open_data(tmp_path)
    path.write_text("<annotations><track id='0'></track></annotations>")
    with pytest.raises(UsageError, match="video"):
        open_data(tmp_path)
    path.write_text("<annotations></annotations>")
    with pytest.raises(UsageError, match="names no image"):
        open_data(tmp_path)


def test_coco_export_with_labels_of_whole_images(tmp_path: Path) -> None:
    found = open_data(make_coco_export(tmp_path))
    assert found.format == "coco-export"
    assert by_name(found) == {"0.jpg": ("sunny",), "1.jpg": ("rainy",), "2.jpg": ("sunny",), "3.jpg": ("rainy",)}
    assert all(sample.areas == () for sample in found)
    assert "1 image without annotation" in found.notes[0]
    assert len(open_data(tmp_path, keep_empty=True)) == 5


def test_coco_export_in_split_folders(tmp_path: Path) -> None:
    found = open_data(make_coco_export(tmp_path, ("train", "valid", "test")))
    assert {split: len(part) for split, part in found.splits.items()} == {"train": 4, "val": 4, "test": 4}
    assert all(sample.path.exists() for sample in found)


def test_coco_export_of_cvat_subsets(tmp_path: Path) -> None:
    make_coco_export(tmp_path)
    path = tmp_path / "annotations" / "instances_default.json"
    path.rename(path.with_name("instances_Train.json"))
    assert set(open_data(tmp_path).splits) == {"train", "val"}


def test_an_image_of_another_split_does_not_stand_in(tmp_path: Path) -> None:
    make_coco_export(tmp_path, ("train", "test"))
    train = open_data(tmp_path)["train"]
    lost = train[1].path
    twin = tmp_path / "test" / lost.name
    if not twin.exists():
        save(twin, 3)
    lost.unlink()
    again = open_data(tmp_path)
    paths = {sample.path for sample in again["train"]} | {sample.path for sample in again.splits.get("val", [])}
    assert lost in paths  # named as missing when it is read
    assert twin not in paths


def test_one_image_does_not_stand_for_two_names(tmp_path: Path) -> None:
    save(tmp_path / "photos" / "a.jpg", 1)
    finder = ImageFinder(tmp_path)
    assert finder.find("one/a.jpg", "x") == tmp_path / "photos" / "a.jpg"
    assert finder.find("one/a.jpg", "x") == tmp_path / "photos" / "a.jpg"
    assert finder.find("two/a.jpg", "x") == tmp_path / "two" / "a.jpg"


def test_cvat_with_subsets_for_some_only(tmp_path: Path) -> None:
    path = make_cvat(tmp_path, subsets=True) / "annotations.xml"
    path.write_text(re.sub(r'subset="[^"]*"', 'subset="default"', path.read_text(), count=1))
    with pytest.raises(UsageError, match="some images have a split and 1 have none"):
        open_data(tmp_path)


def test_linked_folders_are_walked_but_not_twice(tmp_path: Path) -> None:
    elsewhere, root = tmp_path / "elsewhere", tmp_path / "root"
    save(elsewhere / "b.jpg", 1)
    save(root / "x" / "a.jpg", 2)
    (root / "link").symlink_to(elsewhere)
    (root / "x" / "up").symlink_to(root)
    (root / "y").symlink_to(elsewhere)
    assert list(image_files(root)) == [root / "link" / "b.jpg", root / "x" / "a.jpg"]


def test_tag_files_in_capitals_and_sidecars_without_tags(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        save(tmp_path / f"{name}.JPG", 1)
    (tmp_path / "a.TXT").write_text("dog")
    (tmp_path / "b.JPG.xmp").write_text(
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/></x:xmpmeta>'
    )
    (tmp_path / "b.txt").write_text("cat")
    (tmp_path / "c.txt").write_text("cow")
    found = {sample.path.name: sample.labels for sample in open_data(tmp_path)}
    assert found == {"a.JPG": ("dog",), "b.JPG": ("cat",), "c.JPG": ("cow",)}
