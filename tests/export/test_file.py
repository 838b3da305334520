"""`orderless export`: the real command, what it writes, and that a wrong model leaves no file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from typer.testing import CliRunner

from orderless.cli.app import app
from orderless.errors import OrderlessError, UsageError
from orderless.export.file import export_run
from orderless.export.metadata import INPUT, OUTPUTS


def test_the_file_explains_itself(exported: tuple[Path, Path]) -> None:
    model = onnx.load(exported[1])
    onnx.checker.check_model(model)
    assert [value.name for value in model.graph.input] == [INPUT]
    assert [value.name for value in model.graph.output] == list(OUTPUTS)
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param == "batch"
    assert [node.op_type for node in model.graph.node].count("Loop") == 1
    assert "BatchNormalization" not in {node.op_type for node in model.graph.node}
    props = {prop.key: prop.value for prop in model.metadata_props}
    assert [row["name"] for row in json.loads(props["orderless.labels"])["labels"]] == list("abcdefg")
    rule = json.loads(props["orderless.preprocessing"])
    assert rule["size"] == 64
    assert rule["resize"] == "squeeze"
    assert props["orderless.method"] == "pla"
    assert str(exported[0]) not in str(props)


@pytest.mark.slow
def test_int8_tells_its_cost(write_run: Callable[..., Path], photos: Path, tmp_path: Path) -> None:
    to = tmp_path / "small.onnx"
    data = shutil.copytree(photos, tmp_path / "data")
    next((data / "images").glob("val-*")).write_bytes(b"no image")  # is left out, as in training
    answer = CliRunner().invoke(app, ["export", str(write_run("bce", data=data)), "--to", str(to), "--int8"])
    assert answer.exit_code == 0, answer.output
    assert "of all labels decided alike" in answer.output
    assert "int8 on 15 validation photos: OF1" in answer.output
    assert "times as fast" in answer.output
    assert to.is_file()


def test_a_wrong_model_leaves_no_file(
    exported: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run's weights change behind the exporter's back: other tags, or other scores."""
    wrong = onnx.load(exported[1])
    for tensor in wrong.graph.initializer:
        if tensor.name.endswith("output.bias"):
            values = onnx.numpy_helper.to_array(tensor).copy()
            tensor.CopyFrom(onnx.numpy_helper.from_array(values[::-1] - 3 * values, tensor.name))
    monkeypatch.setattr("orderless.export.file.export_tagger", lambda *args: wrong)
    to = tmp_path / "model.onnx"
    with pytest.raises(OrderlessError, match="the exported model.*so no file was written"):
        export_run(exported[0], to)
    assert not to.exists()


def test_wrong_use(write_run: Callable[..., Path], tmp_path: Path) -> None:
    run = write_run("bce")
    with pytest.raises(UsageError, match="ends in .onnx"):
        export_run(run, tmp_path / "model.pt")
    with pytest.raises(UsageError, match="--opset 7: choose one from 18"):
        export_run(run, tmp_path / "model.onnx", opset=7)
    with pytest.raises(UsageError, match="no run folder"):
        export_run(tmp_path / "nothing", tmp_path / "model.onnx")
    (tmp_path / "model.onnx").touch()
    with pytest.raises(UsageError, match="exported file, not a run: orderless.OnnxTagger"):
        export_run(tmp_path / "model.onnx", tmp_path / "again.onnx")
