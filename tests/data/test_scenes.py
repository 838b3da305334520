"""The generated scenes: everything follows from the seed, and the labels tell the truth about the pictures."""

from __future__ import annotations

import csv
import hashlib
import pickle
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from orderless.data.sample import Collection
from orderless.data.scenes import (
    EXCLUSIONS,
    LOOK_ALIKES,
    SCENE_GROUPS,
    SCENE_LABELS,
    SceneSample,
    scenes,
    write_scenes,
)
from orderless.data.scenes.draw import PAINTERS, draw_scene, visible_shares
from orderless.data.scenes.kinds import KINDS
from orderless.data.scenes.world import MOST_LABELS, NEEDS, sample_scene
from orderless.errors import UnreadableImage, UsageError


@pytest.fixture(scope="module")
def many() -> Collection:
    return scenes(train=2500, val=100, test=100)


def frequencies(collection: Collection) -> dict[str, float]:
    counts = Counter(label for sample in collection["train"] for label in sample.labels)
    return {label: counts[label] / len(collection["train"]) for label in SCENE_LABELS}


def digest(sample: SceneSample) -> str:
    return hashlib.sha256(sample.load().tobytes() + repr((sample.labels, sample.areas)).encode()).hexdigest()


def test_same_seed_same_pictures_in_another_process() -> None:
    here = [digest(sample) for sample in scenes(train=4, val=0, test=2, seed=3, size=96)]
    code = (
        "from tests.data.test_scenes import digest, scenes\n"
        "print(*[digest(s) for s in scenes(train=4, val=0, test=2, seed=3, size=96)])"
    )
    root = Path(__file__).parents[2]
    there = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert there.stdout.split() == here
    assert here == [digest(sample) for sample in scenes(train=4, val=0, test=2, seed=3, size=96)]


def test_a_scene_does_not_depend_on_how_many_there_are() -> None:
    few, more = scenes(train=5, val=2, test=0), scenes(train=9, val=7, test=3)
    assert few["train"] == more["train"][:5]
    assert few["val"] == more["val"][:2]


def test_seeds_and_splits_share_no_scene() -> None:
    looks = [sample_scene(seed, split, i).look for seed in (0, 1) for split in (0, 1, 2) for i in range(200)]
    assert len(set(looks)) == len(looks)
    collection = scenes(train=8, val=8, test=8, size=48)
    assert len({sample.load().tobytes() for sample in collection}) == 24
    assert len({sample.source_bytes() for sample in collection}) == 24
    assert len({sample.path for sample in collection}) == 24


def test_vocabulary_is_complete() -> None:
    assert list(SCENE_LABELS) == sorted(KINDS) == sorted(SCENE_GROUPS) == sorted(PAINTERS)
    assert len(set(SCENE_GROUPS.values())) >= 5
    assert scenes(train=400, val=0, test=0).vocabulary().names == SCENE_LABELS


def test_number_of_labels(many: Collection) -> None:
    counts = Counter(len(sample.labels) for sample in many["train"])
    total = len(many["train"])
    assert min(counts) == 0
    assert max(counts) <= MOST_LABELS == 7
    assert 0.01 < counts[0] / total < 0.06
    assert 2.7 < sum(number * count for number, count in counts.items()) / total < 3.4


def test_long_tail(many: Collection) -> None:
    shares = sorted(frequencies(many).values(), reverse=True)
    assert 0.5 <= shares[0] <= 0.64
    assert 0.008 <= shares[-1] <= 0.03
    assert shares[len(shares) // 2] < 0.15
    assert frequencies(many)["person"] == shares[0]


def test_the_frequent_is_often_tiny_and_the_rare_often_huge(many: Collection) -> None:
    areas: dict[str, list[float]] = {"person": [], "bus": []}
    for sample in many["train"]:
        for label, area in zip(sample.labels, sample.areas, strict=True):
            if label in areas:
                areas[label].append(area)
    assert np.median(areas["person"]) < 0.03
    assert np.median(areas["bus"]) > 0.2


@pytest.mark.parametrize("pair", EXCLUSIONS, ids="-".join)
def test_exclusions_never_meet(many: Collection, pair: tuple[str, str]) -> None:
    assert not [sample.name for sample in many if set(pair) <= set(sample.labels)]


def test_look_alikes_are_exclusions_and_live_in_the_same_places() -> None:
    assert set(LOOK_ALIKES) <= set(EXCLUSIONS)
    settings: dict[str, set[str]] = {}
    for i in range(1500):
        scene = sample_scene(0, 0, i)
        for label in scene.areas():
            settings.setdefault(label, set()).add(scene.setting)
    for a, b in LOOK_ALIKES:
        assert settings[a] & settings[b], (a, b)


def test_companions(many: Collection) -> None:
    for sample in many:
        for label in set(sample.labels) & set(NEEDS):
            assert set(NEEDS[label]) & set(sample.labels), sample.name
    with_boat = [sample for sample in many["train"] if "boat" in sample.labels]
    birds = sum("bird" in sample.labels for sample in with_boat) / len(with_boat)
    assert birds > 1.5 * frequencies(many)["bird"]


def test_labels_and_areas_agree_with_the_drawing() -> None:
    for i in range(150):
        scene = sample_scene(5, 2, i)
        drawn = visible_shares(scene, 96)
        largest: dict[str, float] = {}
        for thing, share in zip(scene.things, drawn, strict=True):
            largest[thing.kind] = max(largest.get(thing.kind, 0.0), share)
            assert share > 0, (i, thing)
        areas = scene.areas()
        assert largest.keys() == areas.keys()
        for label, area in areas.items():
            assert 0.15 * area < largest[label] < 4 * area + 0.002, (i, label)


def test_every_label_shows_in_the_picture() -> None:
    from dataclasses import replace

    for i in range(12):
        scene = sample_scene(9, 0, i)
        whole = np.asarray(draw_scene(scene, 96), dtype=int)
        for label in scene.areas():
            without = replace(scene, things=tuple(thing for thing in scene.things if thing.kind != label))
            changed = np.abs(np.asarray(draw_scene(without, 96), dtype=int) - whole).max(axis=2) > 8
            assert changed.sum() >= 5, (i, label)


@pytest.mark.parametrize("size", [48, 97, 192, 300, 1024])
def test_any_size(size: int) -> None:
    sample = scenes(train=3, val=0, test=0, size=size)["train"][1]
    image = sample.load()
    assert image.size == (size, size)
    assert image.mode == "RGB"
    assert np.asarray(image).std() > 10


def test_load_never_draws_larger_than_asked_or_than_the_sample() -> None:
    sample = scenes(train=1, val=0, test=0, size=128)["train"][0]
    assert sample.load(size=64).size == (64, 64)
    assert sample.load(size=500).size == (128, 128)
    assert sample.load(size=8).size == (48, 48)
    with pytest.raises(UnreadableImage, match="limit of 100 pixels"):
        sample.load(pixel_limit=100)


def test_samples_travel_to_other_processes() -> None:
    sample = scenes(train=2, val=0, test=0, size=64)["train"][1]
    copy = pickle.loads(pickle.dumps(sample))  # noqa: S301  (our own bytes)
    assert copy == sample
    assert copy.load().tobytes() == sample.load().tobytes()
    assert copy.source_bytes() == sample.source_bytes()


def test_written_folder(tmp_path: Path) -> None:
    collection = scenes(train=4, val=2, test=3, seed=1, size=64)
    seen: list[str] = []

    def watch(rows):  # type: ignore[no-untyped-def]
        for row in rows:
            seen.append(row[0])
            yield row

    write_scenes(tmp_path / "a", collection, watch)
    write_scenes(tmp_path / "deep" / "b", collection)
    with (tmp_path / "a" / "metadata.csv").open(newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert list(rows[0]) == ["file_name", "labels", "split"]
    assert [row["split"] for row in rows] == seen == ["train"] * 4 + ["val"] * 2 + ["test"] * 3
    for row, sample in zip(rows, collection, strict=True):
        assert tuple(filter(None, row["labels"].split("|"))) == sample.labels
        with Image.open(tmp_path / "a" / row["file_name"]) as image:
            assert image.format == "JPEG"
            difference = np.abs(np.asarray(image, dtype=int) - np.asarray(sample.load(), dtype=int))
        assert difference.mean() < 6
    assert rows[-1]["file_name"] == "images/test-00002.jpg"
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file())
    assert len(files) == 10
    for file in files:
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "deep" / "b" / file).read_bytes()


def test_writing_refuses_what_is_there_and_leaves_nothing_half_done(tmp_path: Path) -> None:
    collection = scenes(train=2, val=0, test=0, size=48)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("keep")
    with pytest.raises(UsageError, match="exists already"):
        write_scenes(tmp_path / "full", collection)
    (tmp_path / "empty").mkdir()
    write_scenes(tmp_path / "empty", collection)
    assert (tmp_path / "empty" / "metadata.csv").is_file()

    def fail(rows):  # type: ignore[no-untyped-def]
        yield next(iter(rows))
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_scenes(tmp_path / "broken", collection, fail)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "full"]


@pytest.mark.parametrize(
    ("options", "message"),
    [({"train": -1}, "train scenes is -1"), ({"seed": -5}, "seed is -5"), ({"size": 20}, "20 pixels")],
)
def test_wrong_numbers(options: dict[str, int], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        scenes(**options)


def test_command(tmp_path: Path) -> None:
    import typer
    from typer.testing import CliRunner

    from orderless.cli.scenes import scenes_command

    app = typer.Typer()
    app.command()(scenes_command)
    result = CliRunner().invoke(app, [str(tmp_path / "x"), "--train", "3", "--val", "1", "--test", "1", "--size", "48"])
    assert result.exit_code == 0, result.output
    assert len(list((tmp_path / "x" / "images").iterdir())) == 5
