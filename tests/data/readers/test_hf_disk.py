"""Hugging Face data sets on disk: images inside Arrow files, names of classes, missing parts."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import pytest

from data.fixtures import make_hf_disk, picture
from orderless.data import open_data
from orderless.data.readers.hf_disk import ArrowSample
from orderless.data.sample import by_hash
from orderless.errors import UnreadableImage, UsageError


@pytest.mark.parametrize("class_labels", [True, False])
def test_embedded_images(tmp_path: Path, class_labels: bool) -> None:
    found = open_data(make_hf_disk(tmp_path, class_labels=class_labels))
    assert found.format == "hf-disk"
    assert found.names == (("ant", "bee", "cow") if class_labels else None)
    assert {split: len(part) for split, part in found.splits.items()} == {"train": 5, "val": 2}
    fourth = found["train"][3]
    assert fourth.labels == ("cow",)
    assert isinstance(fourth, ArrowSample)
    assert fourth.load().tobytes() == picture(8).tobytes()
    assert fourth.source_bytes().startswith(b"\x89PNG")
    assert fourth.path.name == "8.png"
    assert len({sample.source_bytes() for sample in found["train"]}) == 5


def test_samples_travel_to_worker_processes(tmp_path: Path) -> None:
    sample = open_data(make_hf_disk(tmp_path))["train"][0]
    again = pickle.loads(pickle.dumps(sample))  # noqa: S301 - our own bytes, as multiprocessing sends them
    assert again == sample
    assert again.load().size == (48, 40)


def test_shuffling_tells_rows_apart(tmp_path: Path) -> None:
    train = open_data(make_hf_disk(tmp_path))["train"]
    assert by_hash(train, 0) != by_hash(train, 1) or by_hash(train, 0) != by_hash(train, 2)


def test_images_beside_the_arrow_files(tmp_path: Path) -> None:
    found = open_data(make_hf_disk(tmp_path, embedded=False))
    assert not isinstance(found["train"][0], ArrowSample)
    assert found["train"][0].load().size == (48, 40)


def test_one_split_alone_is_split_by_the_seed(tmp_path: Path) -> None:
    found = open_data(make_hf_disk(tmp_path) / "train")
    assert {split: len(part) for split, part in found.splits.items()} == {"train": 3, "val": 1, "test": 1}


@pytest.mark.parametrize("missing", ["data-00000-of-00001.arrow", "state.json", "dataset_info.json"])
def test_half_downloaded(tmp_path: Path, missing: str) -> None:
    (make_hf_disk(tmp_path) / "train" / missing).unlink()
    with pytest.raises(UsageError, match=missing):
        open_data(tmp_path)


def test_half_an_arrow_file(tmp_path: Path) -> None:
    path = make_hf_disk(tmp_path) / "train" / "data-00000-of-00001.arrow"
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(UsageError, match="not a whole Arrow file"):
        open_data(tmp_path)


def test_columns_are_named(tmp_path: Path) -> None:
    path = make_hf_disk(tmp_path) / "train" / "dataset_info.json"
    path.write_text(json.dumps({"features": {"image": {"_type": "Image"}, "caption": {"_type": "Value"}}}))
    with pytest.raises(UsageError, match=r"no column labels .*image, caption"):
        open_data(tmp_path)


def test_a_broken_image_names_the_row(tmp_path: Path) -> None:
    sample = open_data(make_hf_disk(tmp_path))["train"][0]
    with pytest.raises(UnreadableImage, match=r"5\.png.*more than the limit"):
        sample.load(pixel_limit=10)


def test_images_of_one_name_are_not_one_image(tmp_path: Path) -> None:
    import pyarrow as pa

    make_hf_disk(tmp_path)
    file = tmp_path / "train" / "data-00000-of-00001.arrow"
    with pa.OSFile(str(file)) as source:
        table = pa.ipc.open_stream(source).read_all()
    images = [{"bytes": image["bytes"], "path": "image.png"} for image in table["image"].to_pylist()]
    table = table.set_column(0, "image", pa.array(images, table.schema.field("image").type))
    with pa.OSFile(str(file), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    assert len({sample.path for sample in open_data(tmp_path)["train"]}) == 5
