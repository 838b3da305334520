"""Samples, collections and seeded splits."""

from __future__ import annotations

from pathlib import Path

import pytest

from data.fixtures import save
from orderless.data import open_data
from orderless.data.sample import Collection, Sample, by_hash, complete_splits, split_samples
from orderless.errors import UsageError


def samples(count: int, folder: str = "photos") -> list[Sample]:
    return [Sample(Path("data", folder, f"{i}.jpg"), ("a",) if i % 2 else ("a", "b")) for i in range(count)]


def test_names() -> None:
    assert Sample(Path("a/b.jpg"), ()).name == "a/b.jpg"
    assert Sample(Path("a/b.jpg"), (), box=(1, 2.5, 30, 40)).name == "a/b.jpg[1,2.5,30,40]"


def test_source_bytes_tell_boxes_apart(tmp_path: Path) -> None:
    path = tmp_path / "a.jpg"
    path.write_bytes(b"123")
    whole, part = Sample(path, ()), Sample(path, (), box=(0, 0, 1, 1))
    assert whole.source_bytes() == b"123"
    assert whole.source_bytes() != part.source_bytes()


def test_splits_do_not_depend_on_where_the_folder_lies() -> None:
    here = [Sample(Path("/one/x", f"{i}.jpg"), ()) for i in range(30)]
    there = [Sample(Path("/two/deeper/x", f"{i}.jpg"), ()) for i in range(30)]
    names = [[[s.path.name for s in part] for part in split_samples(group, 3).values()] for group in (here, there)]
    assert names[0] == names[1]


def test_new_photos_leave_most_of_the_split_as_it_was() -> None:
    before = {s.path for s in split_samples(samples(200))["train"]}
    after = {s.path for s in split_samples(samples(210))["train"]}
    assert len(before - after) <= 5


@pytest.mark.parametrize(
    ("count", "expected"),
    [
        (0, {}),
        (1, {"train": 1}),
        (2, {"train": 1, "val": 1}),
        (3, {"train": 1, "val": 1, "test": 1}),
        (100, {"train": 80, "val": 10, "test": 10}),
    ],
)
def test_split_sizes(count: int, expected: dict[str, int]) -> None:
    parts = split_samples(samples(count))
    assert {name: len(part) for name, part in parts.items()} == expected
    assert sorted(str(s.path) for part in parts.values() for s in part) == sorted(str(s.path) for s in samples(count))


def test_parts_keep_the_order_of_the_data() -> None:
    train = split_samples(samples(50))["train"]
    assert train == [sample for sample in samples(50) if sample in train]


def test_equal_samples_are_not_lost() -> None:
    same = [Sample(Path("a.jpg"), ("x",)) for _ in range(10)]
    assert sum(len(part) for part in split_samples(same).values()) == 10
    assert len(Collection("folder", {"train": same}).limited(4)["train"]) == 4


def test_by_hash_tells_boxes_apart() -> None:
    boxes = [Sample(Path("a.jpg"), (), box=(i, 0, 1, 1)) for i in range(20)]
    assert by_hash(boxes, 0) != boxes
    assert by_hash(boxes, 0) != by_hash(boxes, 1)


def test_complete_splits() -> None:
    carved = complete_splits({"train": samples(20), "test": samples(3, "t")}, seed=1)
    assert {name: len(part) for name, part in carved.items()} == {"train": 18, "val": 2, "test": 3}
    given = {"train": samples(20), "val": samples(1, "v"), "test": []}
    assert {name: len(part) for name, part in complete_splits(given).items()} == {"train": 20, "val": 1}
    assert complete_splits({"test": samples(2)}) == {"test": samples(2)}


def test_limited() -> None:
    whole = Collection("folder", {"train": samples(30), "val": samples(3, "v")})
    part = whole.limited(5, seed=1)
    assert (len(part["train"]), len(part["val"])) == (5, 3)
    assert part["train"] == sorted(part["train"], key=samples(30).index)
    assert whole.limited(None) is whole
    with pytest.raises(UsageError, match="limit of 0"):
        whole.limited(0)


def test_collection() -> None:
    found = Collection("folder", {"train": samples(4), "test": []})
    assert "train" in found
    assert "test" not in found
    assert len(found) == len(list(found)) == 4
    assert found.vocabulary().frequencies == (4, 2)
    with pytest.raises(UsageError, match=r"no 'test' split \(it has: train\)"):
        found["test"]


def test_a_collection_knows_which_splits_were_chosen_here() -> None:
    samples = [Sample(Path(f"{i}.jpg"), ("cat",)) for i in range(20)]
    everything = Collection("folder", split_samples(samples))
    assert everything.carved == ("train", "val", "test")
    assert everything.limited(1).carved == everything.carved
    assert Collection("folder", complete_splits({"train": samples, "test": samples})).carved == ("val",)
    assert Collection("folder", complete_splits({"train": samples, "val": samples})).carved == ()


def test_splits_survive_another_name_of_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["file_name,labels", *(f"{i}.png,a" for i in range(40))]
    for name in ("one", "two"):
        for i in range(40):
            save(tmp_path / name / f"{i}.png", i, (8, 8))
        (tmp_path / name / "metadata.csv").write_text("\n".join(lines))
    monkeypatch.chdir(tmp_path / "one")
    for limit in (None, 5):
        found = [
            {split: [sample.path.name for sample in part] for split, part in collection.limited(limit).splits.items()}
            for collection in map(open_data, (tmp_path / "one", tmp_path / "two", Path(), Path("../two")))
        ]
        assert found[0] == found[1] == found[2] == found[3]


def test_digests_tell_of_changes(tmp_path: Path) -> None:
    before = Collection("x", {"train": samples(3), "val": samples(1)}, root=Path("data")).digests()
    moved = [Sample(Path("elsewhere", *s.path.parts[1:]), s.labels) for s in samples(3)]
    assert Collection("x", {"train": moved}, root=Path("elsewhere")).digests() == {"train": before["train"]}
    for other in (samples(4), samples(3)[::-1], [Sample(s.path, ("a",)) for s in samples(3)]):
        assert Collection("x", {"train": other}, root=Path("data")).digests()["train"] != before["train"]
