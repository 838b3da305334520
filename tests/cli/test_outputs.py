"""`orderless predict --to …` and `orderless explain`, on an untrained model: what they write, not how good it is."""

from __future__ import annotations

import io
import json
import shutil
import sys
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text

from orderless.cli.main import main
from orderless.cli.predict import _common_folder
from orderless.cli.tables import Flow
from orderless.config import override
from orderless.data import open_data
from orderless.labels import Vocabulary
from orderless.model.network import build_model
from orderless.recipes import recipe
from orderless.run_folder import RunFolder, save_weights


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_run(tmp_path_factory.mktemp("runs") / "tiny", "pla")


def make_run(path: Path, method: str) -> Path:
    folder = RunFolder(path)
    settings = ["data.image_size=64", "model.backbone=test_resnet", "model.weights=none", "model.hidden=16"]
    config = override(recipe("quick", method), settings)
    folder.begin(config, Vocabulary(("dog", "traffic light", "$x$"), (3, 2, 1)))
    save_weights(build_model(config.model, 3), folder.weights_file)
    return path


@pytest.fixture
def folder(photos: Path, tmp_path: Path) -> Path:
    out = tmp_path / "in"
    out.mkdir()
    for number in range(3):
        shutil.copy(photos / "images" / f"test-0000{number}.jpg", out)
    (out / "bad.jpg").write_bytes(b"no")
    return out


def orderless(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["orderless", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            main()
    captured = capsys.readouterr()
    return int(caught.value.code or 0), captured.out, captured.err


@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        (["--out", "metadata.csv"], {}),
        (["--out", "metadata.jsonl"], {}),
        (["--out", "metadata.parquet"], {}),
        (["--to", "txt"], {}),
        (["--to", "xmp"], {}),
        (["--to", "label-studio", "--out", "tasks.json"], {"predictions": True}),
    ],
)
def test_what_predict_writes_is_a_data_set(
    run: Path,
    folder: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    options: dict[str, bool],
) -> None:
    there = [str(folder / value) if "." in value else value for value in arguments]
    code, _, err = orderless(capsys, "predict", run, folder, *there)
    assert (code, "3 photos tagged, 1 failed" in err) == (1, True), err
    _, printed, _ = orderless(capsys, "predict", run, folder, "--to", "jsonl")
    rows = [json.loads(line) for line in printed.splitlines()]
    wanted = {Path(row["file_name"]).name: tuple(row["labels"]) for row in rows if "labels" in row}
    found = {sample.path.name: sample.labels for sample in open_data(folder, **options)}
    found.pop("bad.jpg", None)
    assert found == wanted


def test_wrong_use(run: Path, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cases: list[tuple[list[str | Path], str]] = [
        (["predict", run, folder, "--out", "x.json"], "add --to"),
        (["predict", run, folder, "--to", "parquet"], "say where to write"),
        (["predict", run, folder, "--to", "csv", "-O", "colour=red"], "no option 'colour'"),
        (["predict", run, folder, "--resume"], "go with --to"),
        (["predict", run, folder, "--to", "table", "--out", "x.csv"], "is printed"),
        (["predict", run, folder, "--out", "s3://bucket/tags.csv"], "is an address"),
        (
            ["predict", run, folder, "--engine", "ray", "--out", "s3://b/x.csv", "--to", "csv"],
            "a folder of Parquet",
        ),
        (["predict", run, folder, "--engine", "ray", "--out", "x", "-O", "a=1"], "go with one file"),
        (["predict", run, folder, "--engine", "ray"], "wants --out"),
        (["predict", run, folder, "--engine", "ray", "--to", "txt", "--out", tmp_path / "x"], "beside the photos"),
        (["predict", run, folder, "--engine", "ray", "--out", folder], "is there already"),
        (["explain", run, folder / "test-00000.jpg", "--out", "x.bmp"], "is no figure"),
        (["explain", make_run(tmp_path / "bce", "bce"), folder / "test-00000.jpg", "--out", "x.png"], "no steps"),
    ]
    for arguments, message in cases:
        code, _, err = orderless(capsys, *arguments)
        assert (code, message in err) == (2, True), (arguments, err)


@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_explain(
    run: Path, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], suffix: str, start: bytes
) -> None:
    out = tmp_path / "deep" / f"figure.{suffix}"
    code, _, err = orderless(capsys, "explain", run, folder / "test-00000.jpg", "--out", out, "--size", "64")
    assert code == 0, err
    assert out.read_bytes().startswith(start)
    code, _, err = orderless(capsys, "explain", run, folder / "bad.jpg", "--out", tmp_path / "none.png")
    assert (code, "cannot read image" in err) == (1, True)


@pytest.mark.parametrize(
    ("paths", "folder", "names"),
    [
        (["a/b/1.jpg", "a/b/c/2.jpg"], "a/b", ["1.jpg", "c/2.jpg"]),
        (["1.jpg", "2.jpg"], "", ["1.jpg", "2.jpg"]),
        (["a/1.jpg", "b/1.jpg"], "", ["a/1.jpg", "b/1.jpg"]),
        (["a/1.jpg"], "", ["a/1.jpg"]),
        (["a/1.jpg", "/b/1.jpg"], "", ["a/1.jpg", "/b/1.jpg"]),
        (["s3://a/1.jpg", "s3://a/2.jpg"], "", ["s3://a/1.jpg", "s3://a/2.jpg"]),
    ],
)
def test_a_folder_that_photos_share_is_said_once(paths: list[str], folder: str, names: list[str]) -> None:
    assert _common_folder(paths) == (folder, names)


def test_names_cannot_drive_the_terminal(run: Path, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bad.jpg").rename(folder / "\x1b]0;owned\x07\x1b[31m.jpg")
    for arguments in ([], ["--to", "xmp"]):
        code, out, err = orderless(capsys, "predict", run, folder, *arguments)
        assert code == 1
        assert "\x1b" not in out + err
        assert "owned" in out + err


@pytest.mark.parametrize("width", [30, 44, 100])
def test_a_score_stays_beside_its_label(width: int) -> None:
    pieces = [f"{name} 0.50" for name in ("dog", "traffic light", "person", "a very long name indeed")]
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(Flow([Text(piece) for piece in pieces]))
    lines = [line.strip() for line in console.export_text().splitlines()]
    assert [piece for line in lines for piece in line.split("  ")] == pieces
    assert len(lines) == {30: 3, 44: 2, 100: 1}[width]
