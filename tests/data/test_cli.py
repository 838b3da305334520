"""The commands under `orderless data`, as a user runs them."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from PIL import Image

from data.fixtures import BUILDERS, make_coco, make_folder
from orderless.cli.main import main
from orderless.data import open_data


def run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    """The exit code of `orderless …`."""
    monkeypatch.setattr(sys, "argv", ["orderless", *(str(argument) for argument in arguments)])
    with pytest.raises(SystemExit) as caught:
        main()
    return int(caught.value.code or 0)


@pytest.mark.parametrize("format", list(BUILDERS))
def test_check_every_format(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], format: str
) -> None:
    root = BUILDERS[format](tmp_path)
    assert run(monkeypatch, "data", "check", root, "--json", "--workers", 0) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["format"] == format
    assert found["unreadable"] == []


def test_check_prints_a_summary_and_writes_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = make_folder(tmp_path / "photos")
    (root / "images" / "0003.png").write_bytes(b"broken")
    assert run(monkeypatch, "data", "check", root, "--html", tmp_path / "page.html") == 0
    text = capsys.readouterr().out
    assert "11 images: train 6, val 2, test 3" in text
    assert "images that cannot be read: 1" in text
    assert "images/0003.png" in text
    assert "<title>photos" in (tmp_path / "page.html").read_text()


def test_options_reach_the_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    make_coco(tmp_path)
    assert run(monkeypatch, "data", "check", tmp_path, "--json", "-O", "keep-empty=true", "-O", "val_share=0") == 0
    assert json.loads(capsys.readouterr().out)["splits"] == {"train": 8, "test": 8}


def test_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    root = make_folder(tmp_path / "photos")
    for name in ("sheet.png", "sheet.jpg"):
        assert run(monkeypatch, "data", "show", root, "--split", "train", "--count", 4, "--out", tmp_path / name) == 0
        assert Image.open(tmp_path / name).width > 900
    assert "4 images on" in capsys.readouterr().out


def test_convert(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_coco(tmp_path / "coco" if (tmp_path / "coco").mkdir() is None else tmp_path)
    assert run(monkeypatch, "data", "convert", root, tmp_path / "plain") == 0
    assert len(open_data(tmp_path / "plain")) == len(open_data(root))


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["check", "{}/nothing"], "no file or folder"),
        (["check", "{}/photos", "--format", "cocoa"], "no format 'cocoa'"),
        (["check", "{}/photos", "--html", "{}/photos/metadata.csv"], "is a file of the data"),
        (["check", "{}/photos", "--html", "{}"], "is a folder"),
        (["show", "{}/photos", "--out", "{}/photos/images/0001.png"], "is a file of the data"),
        (["show", "{}/photos", "--out", "{}/sheet.txt"], "not the name of a picture"),
        (["show", "{}/photos", "--split", "holdout"], "'holdout' is unknown"),
        (["convert", "{}/photos", "{}/photos/plain"], "lies inside the data"),
        (["convert", "{}/photos", "{}/full"], "exists already"),
        (["check", "{}/photos", "-O", "oops"], "not an option"),
    ],
)
def test_wrong_use(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    expected: str,
) -> None:
    make_folder(tmp_path / "photos")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    assert run(monkeypatch, "data", *(argument.format(tmp_path) for argument in arguments)) == 2
    errors = capsys.readouterr().err
    assert expected in errors
    assert errors.startswith("orderless: ")
    assert errors.count("\n") == 1
