"""PA-100K: MATLAB cells, and the real part where it is present."""

from __future__ import annotations

from pathlib import Path

import pytest

from data.fixtures import PA100K_ATTRIBUTES, make_pa100k
from orderless.data import open_data
from orderless.errors import UsageError

REAL = Path(__file__).parents[3] / ".." / "shared" / "data" / "pa100k-2k"


def test_layout(tmp_path: Path) -> None:
    found = open_data(make_pa100k(tmp_path))
    assert found.format == "pa100k"
    assert found.names == PA100K_ATTRIBUTES
    assert {split: len(part) for split, part in found.splits.items()} == {"train": 6, "val": 2, "test": 2}
    assert found["train"][0].labels == ("Age18-60", "boots")
    assert all(type(label) is str for sample in found for label in sample.labels)
    assert found["test"][0].load().size == (48, 40)


def test_a_missing_split_is_noted(tmp_path: Path) -> None:
    from scipy.io import loadmat, savemat

    path = make_pa100k(tmp_path) / "annotation.mat"
    matrices = {key: value for key, value in loadmat(path).items() if not key.startswith(("__", "val"))}
    savemat(path, matrices)
    found = open_data(tmp_path)
    assert set(found.splits) == {"train", "test"}
    assert "annotation.mat has no val split" in found.notes


def test_half_downloaded(tmp_path: Path) -> None:
    make_pa100k(tmp_path)
    (tmp_path / "data").rename(tmp_path / "gone")
    with pytest.raises(UsageError, match=r"there is no folder .*data'"):
        open_data(tmp_path)


def test_half_a_matlab_file(tmp_path: Path) -> None:
    path = make_pa100k(tmp_path) / "annotation.mat"
    whole = path.read_bytes()
    for keep in (0, 100, 130, len(whole) // 2, len(whole) - 8):
        path.write_bytes(whole[:keep])
        with pytest.raises(UsageError, match=r"annotation\.mat"):
            open_data(tmp_path)


def test_labels_of_another_shape(tmp_path: Path) -> None:
    from scipy.io import loadmat, savemat

    path = make_pa100k(tmp_path) / "annotation.mat"
    matrices = {key: value for key, value in loadmat(path).items() if not key.startswith("__")}
    savemat(path, {**matrices, "train_label": matrices["train_label"][:, :5]})
    with pytest.raises(UsageError, match="train_label is 6x5, for 6 images and 6 attributes"):
        open_data(tmp_path)
    savemat(path, {**matrices, "train_label": matrices["train_label"] * 2})
    with pytest.raises(UsageError, match="other than 0 and 1"):
        open_data(tmp_path)


@pytest.mark.skipif(not REAL.exists(), reason="the real photos are not beside the repository")
def test_real_photos() -> None:
    found = open_data(REAL)
    assert found.format == "pa100k"
    assert {split: len(part) for split, part in found.splits.items()} == {"train": 1600, "val": 200, "test": 200}
    assert found.names is not None
    assert len(found.names) == 26
    assert found["train"][0].labels[:3] == ("Female", "Age18-60", "Front")
    assert found["train"][0].load().mode == "RGB"
