"""Names of models, and what can be wrong with them; the service itself does without PyTorch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.test_main import within

from orderless.cli.serve import is_loopback, read_token
from orderless.errors import UsageError
from orderless.service.limits import Limits
from orderless.service.models import _names, load_models


def test_names_tell_models_apart() -> None:
    assert _names([Path("runs/pla"), Path("runs/bce")]) == ["pla", "bce"]
    assert _names([Path("a/pla"), Path("b/pla.onnx")]) == ["a/pla", "b/pla"]
    with pytest.raises(UsageError, match="twice"):
        _names([Path("a"), Path("x/../a")])


def test_limits_that_contradict_each_other() -> None:
    with pytest.raises(UsageError, match="--queue"):
        Limits(max_images=5, queue=4)
    with pytest.raises(UsageError, match="--max-held-mb"):
        Limits(max_upload_mb=5, max_held_mb=4)


def test_the_service_does_not_import_pytorch() -> None:
    code = "import sys, orderless.service.app, orderless.service.server; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_wrong_use_is_one_sentence(
    capsys: pytest.CaptureFixture[str], runs: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = tmp_path / "token"
    empty.write_text("\n")
    for arguments, word in [
        (["serve", tmp_path / "no"], "no run folder"),
        (["serve", runs[0], "--host", "0.0.0.0"], "--no-token"),
        (["serve", runs[0], "--token-file", empty], "empty"),
        (["serve", runs[0], "--token-file", tmp_path / "no"], "cannot be read"),
        (["serve", runs[0], "--port", "0", "--label-studio-root", tmp_path / "no"], "not a folder"),
        (["serve", runs[0], "--host", "192.0.2.1", "--no-token"], "cannot listen"),
        (["serve", runs[0], "--queue", "1"], "--queue"),
    ]:
        code, _, err = within(capsys, *arguments)
        assert code == 2
        assert word in err
        assert err.count("\n") == 1
    monkeypatch.setenv("ORDERLESS_TOKEN", " ")
    with pytest.raises(UsageError, match="empty"):
        read_token(None)


@pytest.mark.parametrize(
    ("host", "local"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("example.org", False)],
)
def test_loopback(host: str, local: bool) -> None:
    assert is_loopback(host) is local


def test_a_file_that_is_no_run(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        load_models([tmp_path])


def test_without_the_extra_one_sentence_says_so(
    capsys: pytest.CaptureFixture[str], runs: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "orderless.service.app", raising=False)
    monkeypatch.setitem(sys.modules, "fastapi", None)  # as if it were not installed
    code, _, err = within(capsys, "serve", runs[0])
    assert (code, err) == (2, "orderless: orderless serve needs fastapi; pip install 'orderless[serve]'\n")


@pytest.mark.slow
def test_an_exported_file_is_served_without_pytorch(runs: list[Path], photo: bytes, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")
    from orderless.export.file import export_run
    from orderless.tagger import load

    export_run(runs[0], tmp_path / "exported.onnx")
    (tmp_path / "photo.jpg").write_bytes(photo)
    done = subprocess.run(
        [sys.executable, "-c", _TAG_WITHOUT_PYTORCH], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    answer = json.loads(done.stdout)
    assert answer["model"] == "exported"
    assert [tag["label"] for tag in answer["images"][0]["tags"]] == load(runs[0]).predict(photo).labels


_TAG_WITHOUT_PYTORCH = """
import sys
from pathlib import Path
from starlette.testclient import TestClient
from orderless.service.app import create_app
from orderless.service.models import load_models

with TestClient(create_app(load_models([Path("exported.onnx")]))) as client:
    print(client.post("/v1/tags?attention=true&steps=true", content=Path("photo.jpg").read_bytes()).text)
assert "torch" not in sys.modules
"""
