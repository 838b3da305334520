"""The cache of resized images: same pictures, decoded once, torn files ignored."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from data.fixtures import save
from orderless.data.image_cache import ImageCache
from orderless.data.sample import Sample
from orderless.data.transforms import Preprocessing
from orderless.errors import UnreadableImage

PREPROCESSING = Preprocessing(32, (0.5, 0.5, 0.5), (0.5, 0.5, 0.5), "bicubic")


def test_the_same_picture_without_decoding_it_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sample = Sample(save(tmp_path / "a.jpg", 1, (200, 150)), ())
    cache = ImageCache(tmp_path / "cache", PREPROCESSING)
    transform = PREPROCESSING.test_transform()
    first = transform(cache.load(sample))
    assert np.array_equal(first, transform(sample.load(size=32)))
    monkeypatch.setattr(Sample, "load", lambda *args, **kwargs: pytest.fail("decoded again"))
    assert np.array_equal(transform(cache.load(sample)), first)


def test_a_torn_file_is_made_again(tmp_path: Path) -> None:
    sample = Sample(save(tmp_path / "a.jpg", 1), ())
    cache = ImageCache(tmp_path / "cache", PREPROCESSING)
    whole = np.asarray(cache.load(sample))
    for file in (tmp_path / "cache").rglob("*"):
        if file.is_file():
            file.write_bytes(b"torn")
    assert np.array_equal(np.asarray(cache.load(sample)), whole)


def test_a_missing_or_damaged_image_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.jpg").write_bytes(b"no")
    cache = ImageCache(tmp_path / "cache", PREPROCESSING)
    for name in ("bad.jpg", "gone.jpg"):
        with pytest.raises(UnreadableImage, match=name):
            cache.load(Sample(tmp_path / name, ()))
    assert not (tmp_path / "cache").exists()


def test_a_cache_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    sample = Sample(save(tmp_path / "a.jpg", 1), ())
    (tmp_path / "file").touch()
    assert ImageCache(tmp_path / "file", PREPROCESSING).load(sample).size == (32, 32)
