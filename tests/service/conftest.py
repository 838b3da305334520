"""Tiny models to serve: not trained, but talkative; one of their labels is a script."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image
from tests.service.serving import Service, serving

from orderless.config import Config, parse_config
from orderless.labels import Vocabulary
from orderless.model.network import build_model
from orderless.recipes import recipe
from orderless.run_folder import RunFolder, save_weights
from orderless.service.models import Models, load_models

LABELS = ("<script>alert(1)</script>", "bird", "boat", "car", "dog", "person", "tree", "../../x")


def tiny(method: str) -> Config:
    values = recipe("quick", method).model_dump(mode="json")
    values["data"] |= {"image_size": 64, "workers": 0}
    values["model"] |= {
        "backbone": "test_resnet", "weights": "none", "hidden": 16, "embedding": 8, "attention_size": 8,
        "binary_hidden": 16, "max_steps": 8,
    }  # fmt: skip
    return parse_config(values, "test")


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two run folders, `pla` and `bce`."""
    found = []
    for method in ("pla", "bce"):
        path = tmp_path_factory.mktemp("served") / method
        path.mkdir()
        config, vocabulary = tiny(method), Vocabulary(LABELS, tuple(range(len(LABELS), 0, -1)))
        torch.manual_seed(1)
        model = build_model(config.model, len(vocabulary))
        with torch.no_grad():
            for parameter in model.head.parameters():
                parameter.mul_(3)  # strong opinions: another label at every step
        run = RunFolder(path)
        run.begin(config, vocabulary)
        save_weights(model, run.weights_file)
        found.append(path)
    return found


@pytest.fixture(scope="session")
def models(runs: list[Path]) -> Models:
    return load_models(runs)


def jpeg(seed: int = 0, size: tuple[int, int] = (96, 64)) -> bytes:
    """A small photo of noise in large patches."""
    patches = torch.rand((4, 4, 3), generator=torch.Generator().manual_seed(seed)).mul(255).byte().numpy()
    memory = io.BytesIO()
    Image.fromarray(patches).resize(size, Image.Resampling.BICUBIC).save(memory, "JPEG", quality=90)
    return memory.getvalue()


@pytest.fixture(scope="session")
def photo() -> bytes:
    return jpeg()


@pytest.fixture
def file(tmp_path: Path, photo: bytes) -> Path:
    path = tmp_path / "photo.jpg"
    path.write_bytes(photo)
    return path


@pytest.fixture(scope="module")
def service(runs: list[Path]) -> Iterator[Service]:
    """The real service with two runs."""
    with serving(*runs) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A real Chromium; who asks for it is skipped where there is none."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no Chromium is installed (apt-get install chromium)")
    sync_api = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed (pip install playwright)")
    with sync_api.sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=chromium, args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        )
        yield found
        found.close()
