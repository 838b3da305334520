"""Runs with random weights and tiny heads, and one of them exported."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from orderless.config import Config, DataConfig, ModelConfig
from orderless.labels import Vocabulary
from orderless.methods import METHODS
from orderless.model.network import build_model
from orderless.run_folder import RunFolder, save_weights

LABELS = tuple("abcdefg")


@pytest.fixture(scope="session")
def write_run(tmp_path_factory: pytest.TempPathFactory, photos: Path) -> Callable[..., Path]:
    """write_run("pla", attention=False) -> a finished run folder."""

    def write(method: str, *, data: Path = photos, attention: bool | None = None) -> Path:
        wants = METHODS[method].attention
        model = ModelConfig(
            backbone="test_resnet", head=METHODS[method].head, hidden=16, embedding=8, attention_size=8, query_size=16,
            attention=attention if attention is not None else wants if wants is not None else True, max_steps=6,
        )  # fmt: skip
        config = Config(method=method, data=DataConfig(path=str(data), image_size=64), model=model)
        run = RunFolder(tmp_path_factory.mktemp("run"))
        run.begin(config, Vocabulary(LABELS, (1,) * len(LABELS)))
        torch.manual_seed(0)
        save_weights(build_model(config.model, len(LABELS)), run.weights_file)
        return run.path

    return write


@pytest.fixture(scope="session")
def exported(write_run: Callable[..., Path], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A run of PLA, and its file."""
    from orderless.export.file import export_run

    run = write_run("pla")
    return run, export_run(run, tmp_path_factory.mktemp("exported") / "model.onnx").path
