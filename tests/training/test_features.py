"""The feature cache: encoded once, found by content, whole or absent, bounded."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch

from orderless.data import open_data
from orderless.data.sample import Sample
from orderless.data.transforms import Preprocessing
from orderless.errors import OrderlessError
from orderless.model.encoder import Encoder
from orderless.training import features as cache
from orderless.training.features import FeatureStore, encoder_key, store_features

CPU = torch.device("cpu")


@pytest.fixture
def setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Encoder, Preprocessing, Path]:
    monkeypatch.setenv("ORDERLESS_CACHE", str(tmp_path / "cache"))
    torch.manual_seed(0)
    encoder = Encoder("test_resnet").eval()
    return encoder, Preprocessing(64, encoder.mean, encoder.std), tmp_path


def store(setting: tuple[Encoder, Preprocessing, Path], samples: list[Sample]) -> tuple:
    return store_features(setting[0], setting[1], samples, mirror=True, device=CPU)


def test_stored_features_are_the_encoders(setting, photos: Path) -> None:
    encoder, preprocessing, _ = setting
    samples = open_data(photos)["test"]
    features, places, unreadable = store(setting, samples)
    assert not unreadable
    image = preprocessing.test_transform()(samples[3].load(size=64)).unsqueeze(0)
    with torch.inference_mode():
        expected = torch.stack([encoder(image)[0], encoder(image.flip(3))[0]])
    stored = torch.from_numpy(features.gather([places[3]] * 2, [0, 1])).float()
    torch.testing.assert_close(stored, expected, atol=5e-3, rtol=5e-3)


def test_an_image_is_encoded_once_whatever_its_name(setting, photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    samples = open_data(photos)["test"]
    store(setting, samples)
    moved = setting[2] / "moved"
    shutil.copytree(photos, moved)
    monkeypatch.setattr(setting[0], "forward", lambda images: pytest.fail("encoded again"))
    again, places, _ = store(setting, open_data(moved)["test"])
    assert all(place is not None for place in places)
    assert len(again.rows) == len(samples)


def test_files_that_vanish_meanwhile_do_not_matter(setting, photos: Path) -> None:
    """Another process may rename what it wrote, or remove a whole store."""
    store(setting, open_data(photos)["test"])
    folder = next((setting[2] / "cache" / "features").iterdir())
    (folder / "gone.f16").symlink_to("nowhere")
    store(setting, open_data(photos)["val"])
    assert len(FeatureStore(folder).rows) == 32


def test_another_weight_or_size_is_another_store(setting) -> None:
    encoder, preprocessing, _ = setting
    key = encoder_key(encoder, preprocessing, 2)
    assert encoder_key(encoder, Preprocessing(96, encoder.mean, encoder.std), 2) != key
    assert encoder_key(encoder, preprocessing, 1) != key
    with torch.no_grad():
        next(encoder.parameters()).mul_(1.5)
    assert encoder_key(encoder, preprocessing, 2) != key


def test_a_trunk_is_stored_once_however_its_tail_learns(setting, photos: Path) -> None:
    encoder, preprocessing, _ = setting
    samples = open_data(photos)["test"][:3]
    whole, key = encoder_key(encoder, preprocessing, 2), encoder_key(encoder, preprocessing, 2, "trunk")
    assert whole != key
    with torch.no_grad():
        for layer in encoder.tail_layers:
            for weight in layer.parameters():
                weight.mul_(1.1)
    assert encoder_key(encoder, preprocessing, 2, "trunk") == key
    assert encoder_key(encoder, preprocessing, 2) != whole
    cells, places, _ = store_features(encoder, preprocessing, samples, mirror=False, device=CPU, part="trunk")
    images = torch.stack([preprocessing.test_transform()(sample.load(size=64)) for sample in samples])
    stored = torch.from_numpy(cells.gather(places, [0] * 3)).float()
    with torch.inference_mode():
        torch.testing.assert_close(encoder.tail(stored), encoder(images), atol=5e-3, rtol=5e-3)


def test_a_kill_between_data_and_index_leaves_nothing_visible(setting, photos: Path) -> None:
    samples = open_data(photos)["test"]
    written, _, _ = store(setting, samples)
    for index in written.folder.glob("*.json"):
        index.unlink()  # the state after a kill between the two renames
    assert FeatureStore(written.folder).rows == {}
    _, places, _ = store(setting, samples)
    assert all(place is not None for place in places)


def test_a_torn_shard_is_encoded_again(setting, photos: Path) -> None:
    samples = open_data(photos)["test"]
    written, _, _ = store(setting, samples)
    for shard in written.folder.glob("*.f16"):
        shard.write_bytes(shard.read_bytes()[:100])
    again, places, _ = store(setting, samples)
    assert np.isfinite(again.gather(places, [0] * len(places))).all()


def test_the_cache_is_bounded(setting, photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    samples = open_data(photos)["test"]
    old, _, _ = store(setting, samples)
    size = sum(file.stat().st_size for file in old.folder.iterdir())
    with torch.no_grad():
        next(setting[0].parameters()).mul_(1.5)
    monkeypatch.setenv("ORDERLESS_CACHE_GB", str(1.5 * size / 1e9))
    new, _, _ = store(setting, samples)
    assert not old.folder.exists()  # the least recently used store made room
    assert new.folder.exists()
    monkeypatch.setenv("ORDERLESS_CACHE_GB", str(0.1 * size / 1e9))
    with torch.no_grad():
        next(setting[0].parameters()).mul_(1.5)
    with pytest.raises(OrderlessError, match="ORDERLESS_CACHE_GB"):
        store(setting, samples)


def test_unreadable_images_are_reported_not_replaced(setting, photos: Path) -> None:
    bad = setting[2] / "bad.jpg"
    bad.write_bytes(b"no")
    samples = [*open_data(photos)["test"][:2], Sample(bad, ()), Sample(setting[2] / "gone.jpg", ())]
    _, places, unreadable = store(setting, samples)
    assert [place is None for place in places] == [False, False, True, True]
    assert [sample.path.name for sample, _ in unreadable] == ["bad.jpg", "gone.jpg"]


def test_equal_images_share_one_place(setting, photos: Path) -> None:
    sample = open_data(photos)["test"][0]
    _, places, _ = store(setting, [sample, sample])
    assert places[0] == places[1]


def test_shards_are_flushed_on_the_way(setting, photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "SHARD_IMAGES", 32)
    written, _, _ = store(setting, open_data(photos)["train"])
    assert len(written.shards) == 3


def test_a_photo_that_changes_meanwhile_is_not_kept(setting, photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = setting[2] / "changing"
    shutil.copytree(photos, folder)
    samples = open_data(folder)["test"]
    first, before = samples[0].path, samples[0].path.read_bytes()
    hashed = cache._image_hash

    def hash_then_change(sample: Sample) -> str | None:
        found = hashed(sample)
        if sample.path == first:
            first.write_bytes(samples[1].path.read_bytes())
            os.utime(first, (1, 1))
        return found

    monkeypatch.setattr(cache, "_image_hash", hash_then_change)
    _, places, unreadable = store(setting, samples)
    assert places[0] is None
    assert unreadable == [(samples[0], "it changed while it was read")]
    monkeypatch.setattr(cache, "_image_hash", hashed)
    first.write_bytes(before)
    features, places, unreadable = store(setting, samples)
    assert not unreadable
    assert not np.array_equal(features.gather([places[0]], [0]), features.gather([places[1]], [0]))


def test_what_a_full_disk_left_is_removed(setting, photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("orderless.files.os.fsync", full)
        with pytest.raises(OrderlessError, match=r"cannot write .*No space"):
            store(setting, open_data(photos)["test"])
    folder = next((setting[2] / "cache" / "features").iterdir())
    assert not list(folder.iterdir())
    (folder / ".old.tmp").touch()
    os.utime(folder / ".old.tmp", (1, 1))
    (folder / ".new.tmp").touch()
    store(setting, open_data(photos)["test"])
    assert [file.name for file in folder.glob(".*")] == [".new.tmp"]
