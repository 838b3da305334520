"""Names of models, and what can be wrong with them; the service itself does without PyTorch."""

from __future__ import annotations

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
