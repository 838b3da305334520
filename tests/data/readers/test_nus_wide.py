"""NUS-WIDE: the paper's split with its seeds, and the official lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from data.fixtures import make_nus_wide
from orderless.data import open_data
from orderless.data.readers import nus_wide
from orderless.errors import UsageError


def test_the_papers_split(tmp_path: Path) -> None:
    found = open_data(make_nus_wide(tmp_path, images=40), val_share=0)
    assert found.format == "nus-wide"
    assert found.names == ("airport", "animal", "beach")
    # 30 of the 40 have a label; 150,000 of 209,347 of them are for training.
    assert {split: len(part) for split, part in found.splits.items()} == {"train": 21, "test": 9}
    assert all(sample.labels for sample in found)
    sample = next(s for s in found if s.path.name.startswith("0003_"))
    assert sample.labels == ("airport", "animal")
    assert sample.path == tmp_path / "Flickr" / "zoo" / "0003_2124494182.jpg"
    assert sample.load().size == (48, 40)


def test_three_seeds_give_three_splits(tmp_path: Path) -> None:
    make_nus_wide(tmp_path, images=40)
    tests = [frozenset(s.path for s in open_data(tmp_path, seed=seed)["test"]) for seed in (0, 1, 2)]
    assert len(set(tests)) == 3
    assert frozenset(s.path for s in open_data(tmp_path, seed=0)["test"]) == tests[0]


def test_the_official_lists(tmp_path: Path) -> None:
    found = open_data(make_nus_wide(tmp_path, images=12), split="official", val_share=0)
    names = sorted(sample.path.name[:4] for sample in found["test"])
    assert names == ["0003", "0006", "0009"]
    assert next(s for s in found["test"] if s.path.name.startswith("0003")).labels == ("airport", "animal")
    kept = open_data(tmp_path, split="official", val_share=0, keep_empty=True)
    assert (len(kept["train"]), len(kept["test"])) == (8, 4)


def test_published_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "9 here, 209,347 in the published set" in open_data(make_nus_wide(tmp_path)).notes[0]
    monkeypatch.setattr(nus_wide, "WITH_LABEL", 9)
    monkeypatch.setattr(nus_wide, "TRAINING", 6)
    found = open_data(tmp_path, val_share=0)
    assert found.notes == []
    assert len(found["train"]) == 6


@pytest.mark.parametrize(
    "missing",
    ["ImageList/Imagelist.txt", "Concepts81.txt", "Groundtruth/AllLabels/Labels_beach.txt", "Flickr"],
)
def test_half_downloaded(tmp_path: Path, missing: str) -> None:
    path = make_nus_wide(tmp_path) / missing
    path.rename(tmp_path / "gone")
    with pytest.raises(UsageError, match=path.name):
        open_data(tmp_path)


def test_broken_label_files(tmp_path: Path) -> None:
    path = make_nus_wide(tmp_path) / "Groundtruth" / "AllLabels" / "Labels_beach.txt"
    path.write_text("0\n" * 11)
    with pytest.raises(UsageError, match=r"Labels_beach.txt has 11 lines but the image list has 12"):
        open_data(tmp_path)
    path.write_text("0\n" * 11 + "2\n")
    with pytest.raises(UsageError, match=r"Labels_beach.txt line 12: '2'"):
        open_data(tmp_path)


def test_unknown_split(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="'mine'"):
        open_data(make_nus_wide(tmp_path), split="mine")
