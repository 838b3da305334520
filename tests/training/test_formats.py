"""Every format trains: one epoch on its fixture, through the command's own path."""

from __future__ import annotations

from pathlib import Path

import pytest

from data.fixtures import BUILDERS
from orderless.config import parse_config
from orderless.data import open_data
from orderless.run_folder import RunFolder
from orderless.training.run import train

from .test_run import tiny


@pytest.mark.parametrize("format", list(BUILDERS))
def test_one_epoch_on_every_format(format: str, tmp_path: Path) -> None:
    data = BUILDERS[format](tmp_path)
    values = tiny(data, epochs=1).model_dump(mode="json")
    values["data"]["ignore_unknown"] = True  # the fixtures are so small that a split may lack a label
    metrics = train(parse_config(values, "test"), RunFolder(tmp_path / "run"))
    assert metrics["val"]["images"] == len(open_data(data)["val"])
