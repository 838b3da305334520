from __future__ import annotations

from pathlib import Path

import pytest

from .commands import TINY, run


@pytest.fixture(scope="session")
def tiny_run(photos: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run, trained by the command."""
    out = tmp_path_factory.mktemp("tiny") / "run"
    run("train", photos, "--out", out, "--epochs", "1", *TINY)
    return out
