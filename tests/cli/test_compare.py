"""`orderless compare` and `orderless report` as a user types them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.report.made_up import make_comparison
from typer.testing import CliRunner

from orderless.cli.app import app
from orderless.errors import UsageError


def test_compare_trains_and_prints_the_main_table(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    command = [
        "compare", str(photos), "--out", str(out), "--methods", "bce,pla", "--seeds", "0", "--attention", "on",
        "--json", "--epochs", "1", "--limit", "16", "--image-size", "64", "--backbone", "test_resnet",
        "--weights", "none", "--workers", "0", "--ignore-unknown",
    ]  # fmt: skip
    monkeypatch.setattr("orderless.report.comparison.write_report", lambda folder: folder)  # tested elsewhere
    result = CliRunner().invoke(app, command, catch_exceptions=False)
    assert result.exit_code == 0
    printed = json.loads(result.stdout)
    assert set(printed["percent"]) == {"BCE at 0.5", "BCE, tuned threshold", "PLA"}
    assert printed["percent"]["PLA"]["OF1"]["seeds"] == 1


def test_wrong_use_is_one_sentence(tmp_path: Path) -> None:
    for command, words in (
        (["compare", "scenes", "--seeds", "0,x"], "whole numbers"),
        (["compare", "scenes", "--methods", "plo"], "no method 'plo'"),
        (["report", str(tmp_path / "none")], "no folder"),
        (["report", str(tmp_path)], "neither a run nor a comparison"),
    ):
        result = CliRunner().invoke(app, command)
        assert isinstance(result.exception, UsageError)
        assert words in str(result.exception)


def test_report_writes_the_page_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orderless.report.comparison.sections", lambda comparison: [])  # drawing is tested elsewhere
    folder = make_comparison(tmp_path / "made", ("frequent", "pla"), seeds=1)
    for place in (folder / "pla" / "seed-0", folder):
        result = CliRunner().invoke(app, ["report", str(place)], catch_exceptions=False)
        assert result.exit_code == 0
        assert (place / "report.html").is_file()
