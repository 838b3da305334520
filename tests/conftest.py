"""Shared by all tests: a cache of their own, one thread, and a tiny data set that trains in a second."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")  # tiny tensors: threads would only wait for each other


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Never touch the user's feature cache; share one between the tests of a session."""
    monkeypatch.setenv("ORDERLESS_CACHE", str(tmp_path_factory.getbasetemp() / "feature-cache"))


@pytest.fixture(scope="session")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An ordinary folder of small tagged photos (80 / 16 / 16)."""
    from orderless.data.scenes import scenes, write_scenes

    out = tmp_path_factory.mktemp("photos") / "scenes"
    write_scenes(out, scenes(train=80, val=16, test=16, seed=3, size=64))
    return out
