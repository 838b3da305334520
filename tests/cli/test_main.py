"""The real command line on tiny photos, and one clear sentence for everything that can be wrong."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from orderless.cli.main import main

TINY = [
    "--backbone", "test_resnet", "--weights", "none", "--image-size", "64", "--epochs", "1", "--workers", "0",
    "--set", "model.hidden=16", "--set", "model.attention_size=8",
]  # fmt: skip


def orderless(*arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run the command as a user would; assert its exit code."""
    done = subprocess.run([sys.executable, "-m", "orderless", *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode == code, done.stderr or done.stdout
    return done


def within(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    """The same within this process, which saves importing torch again: exit code, stdout, stderr."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["orderless", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as caught:
            main()
    captured = capsys.readouterr()
    return int(caught.value.code or 0), captured.out, captured.err


@pytest.fixture(scope="module")
def run(photos: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("runs") / "tiny"
    done = orderless("train", photos, "--out", out, *TINY)
    assert "orderless predict" in done.stdout
    return out


def test_a_run_explains_itself(run: Path) -> None:
    for name in ("config.yaml", "labels.json", "model.safetensors", "metrics.csv", "metrics.json"):
        assert (run / name).is_file(), name
    assert json.loads((run / "metrics.json").read_text())["test"]["images"] == 16


def test_the_config_of_a_run_starts_it_again(run: Path, tmp_path: Path) -> None:
    orderless("train", "--config", run / "config.yaml", "--out", tmp_path / "again")
    assert (tmp_path / "again" / "metrics.csv").read_text() == (run / "metrics.csv").read_text()


def test_predict_files_folders_and_globs(
    run: Path, photos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = orderless("predict", run, photos / "images" / "test-00000.jpg", "--format", "jsonl")
    assert set(json.loads(one.stdout)) == {"file_name", "labels", "scores"}
    _, many, _ = within(capsys, "predict", run, photos / "images" / "test-*.jpg", "--format", "csv")
    assert len(many.splitlines()) == 17
    folder = tmp_path / "folder"
    folder.mkdir()
    for name in ("test-00001.jpg", "test-00002.jpg"):
        shutil.copy(photos / "images" / name, folder)
    _, table, _ = within(capsys, "predict", run, folder)
    assert "tags, in the order" in table
    out = tmp_path / "tags.jsonl"
    within(capsys, "predict", run, folder, "--out", out, "--attention", tmp_path / "where")
    assert len(out.read_text().splitlines()) == 2
    assert len(list((tmp_path / "where").glob("*.png"))) == 2


def test_predict_accounts_for_every_photo(run: Path, photos: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jpg"
    bad.write_bytes(b"\xff\xd8 no")
    good = photos / "images" / "test-00001.jpg"
    done = orderless("predict", run, bad, good, tmp_path / "gone.jpg", "--format", "jsonl", code=1)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert ["error" in row for row in rows] == [True, False, True]


def test_evaluate(run: Path, photos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    metrics = json.loads(within(capsys, "evaluate", run, "--json", "--workers", "0")[1])
    assert metrics["images"] == 16
    assert "OF1" in metrics
    shown = orderless("evaluate", run, photos, "--split", "val").stdout
    assert "overall F1" in shown
    assert "16 of 112 images" in " ".join(shown.split())
    assert json.loads(within(capsys, "evaluate", run, "--split", "all", "--json", "--workers", "0")[1])["images"] == 112
    broken = tmp_path / "broken"
    shutil.copytree(photos, broken)
    (broken / "images" / "test-00002.jpg").write_bytes(b"")
    code, _, err = within(capsys, "evaluate", run, broken, "--workers", "0")
    assert (code, "1 of 16 images cannot be read" in err) == (1, True)
    judged = json.loads(within(capsys, "evaluate", run, broken, "--skip-unreadable", "--json", "--workers", "0")[1])
    assert (judged["images"], judged["unreadable"]) == (15, 1)


def test_wrong_use_is_one_sentence(
    run: Path, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    empty, table = tmp_path / "empty", tmp_path / "table"
    empty.mkdir()
    table.mkdir()
    (table / "metadata.csv").write_text("file_name,colour\na.jpg,red\n")
    strange = tmp_path / "strange.yaml"
    strange.write_text((run / "config.yaml").read_text() + "\nspeed: 9\n")
    cases: list[tuple[list[str | Path], str]] = [
        (["train", empty], "empty"),
        (["train", tmp_path / "nowhere"], "nowhere"),
        (["train", table], "colour"),
        (["train"], "say what to train on"),
        (["train", photos, "--method", "best"], "no method 'best'"),
        (["train", photos, "--recipe", "slow"], "no recipe 'slow'"),
        (["train", photos, "--backbone", "resnet5000"], "no backbone 'resnet5000'"),
        (["train", photos, "--set", "model.hiden=3"], "no setting 'model.hiden'"),
        (["train", "--config", strange], "no setting 'speed'"),
        (["train", photos, "--out", run], "already holds a run"),
        (["train", photos, "--out", photos], "already holds other files"),
        (["train", photos, "--config", run / "config.yaml", "--recipe", "paper"], "give one of them"),
        (["train", "--resume", "--out", empty], "no config.yaml"),
        (["train", photos, "--resume", "--out", run, "--epochs", "5"], "leave out PHOTOS, --epochs"),
        (["predict", empty, photos], "not a finished run"),
        (["predict", tmp_path / "nowhere", photos], "no run folder"),
        (["predict", run, empty], "holds no image"),
        (["predict", run, str(tmp_path / "*.png")], "no file matches"),
        (["predict", run, tmp_path / "nwe"], "no file or folder"),
        (["predict", run, "s3://photos/2026"], "is an address"),
        (["evaluate", run, photos, "--split", "dev"], "'dev'"),
    ]
    for arguments, message in cases:
        code, _, err = within(capsys, *arguments)
        assert code == 2, (arguments, err)
        assert message in err, (arguments, err)
        assert len(err.strip().splitlines()) == 1, err
    assert not (tmp_path / "runs").exists()  # nothing half-written


def test_a_place_that_cannot_be_written_is_one_sentence(
    run: Path, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    photo, file = photos / "images" / "test-00000.jpg", tmp_path / "file"
    file.touch()
    cases: list[list[str | Path]] = [
        ["predict", run, photo, "--attention", file],
        ["explain", run, photo, "--out", file / "x.png"],
        ["data", "scenes", file / "x", "--train", "1", "--val", "1", "--test", "1"],
    ]
    for arguments in cases:
        code, _, err = within(capsys, *arguments)
        assert (code, str(file) in err, len(err.strip().splitlines())) == (1, True, 1), (arguments, err)
    monkeypatch.setenv("ORDERLESS_CACHE_GB", "much")
    monkeypatch.setenv("ORDERLESS_CACHE", str(tmp_path / "cache"))
    code, _, err = within(capsys, "train", photos, "--out", tmp_path / "out", *TINY)
    assert (code, "ORDERLESS_CACHE_GB is 'much'" in err) == (2, True)


def test_a_traceback_only_with_debug(tmp_path: Path) -> None:
    assert "Traceback" in orderless("train", tmp_path / "nowhere", "--debug", code=1).stderr
