"""Files from strangers: loading them runs no code, and what they say is shown as text."""

from __future__ import annotations

import ast
import hashlib
import json
import pickle
import shutil
import struct
import sys
from pathlib import Path

import pytest
import torch
import yaml

import orderless
from orderless.cli.main import main
from orderless.config import FORMAT_VERSION, load_config
from orderless.errors import OrderlessError, UsageError
from orderless.run_folder import RunFolder
from orderless.training.checkpoint import AtomicCheckpoints

SOURCE = Path(orderless.__file__).parent


class Trap:
    """Whoever unpickles it creates a file."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return (open, (str(self.file), "w"))


@pytest.fixture
def copy(tiny_run: Path, tmp_path: Path) -> Path:
    """A run to tamper with."""
    shutil.copytree(tiny_run, tmp_path / "run")
    return tmp_path / "run"


def command(*arguments: str | Path) -> int:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["orderless", *map(str, arguments)])
        with pytest.raises(SystemExit) as caught:
            main()
    return int(caught.value.code or 0)


def test_no_file_of_the_package_can_run_code_from_files() -> None:
    """`torch.load` only with weights_only=True; nothing of pickle but the name of its error; no eval, no yaml.load."""
    forbidden = {"eval", "exec", "compile", "__import__"}
    for file in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            where = f"{file.relative_to(SOURCE)}:{getattr(node, 'lineno', 0)}"
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                name = f"{node.value.id}.{node.attr}"
                assert node.value.id not in ("pickle", "marshal", "shelve", "dill", "joblib") or (
                    name == "pickle.UnpicklingError"
                ), where
                assert name not in ("yaml.load", "yaml.unsafe_load", "yaml.full_load", "os.system"), where
            if isinstance(node, ast.ImportFrom):
                assert node.module not in ("pickle", "marshal", "shelve"), where
            if isinstance(node, ast.Call):
                words = {word.arg: getattr(word.value, "value", None) for word in node.keywords}
                called = ast.unparse(node.func)
                assert called not in forbidden, where
                assert words.get("shell") is not True, where
                assert words.get("allow_pickle") is not True, where
                if called == "torch.load":
                    assert words.get("weights_only") is True, where


def test_a_malicious_pickle_as_checkpoint(copy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With a right checksum, so that only the loader stands between it and us; in both of PyTorch's formats."""
    trap = tmp_path / "trapped"
    checkpoint = copy / "last" / "stage-0.ckpt"
    (copy / "last" / "stage-0.safetensors").unlink()
    plain = pickle.dumps(Trap(trap))
    torch.save({"state_dict": Trap(trap)}, tmp_path / "zip")
    for content in (plain, (tmp_path / "zip").read_bytes()):
        checkpoint.write_bytes(content + hashlib.sha256(content).digest())
        assert command("train", "--resume", "--out", copy) == 1
        err = capsys.readouterr().err
        assert "is not a checkpoint that orderless wrote" in err
        assert "Traceback" not in err
    assert not trap.exists()


def test_a_malicious_pickle_as_weights(copy: Path, photos: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trapped"
    evil = pickle.dumps(Trap(trap))
    (copy / "model.safetensors").write_bytes(evil)
    with pytest.raises(UsageError, match="not a safetensors file"):
        orderless.load(copy)
    for name in ("weights.safetensors", "weights.pt"):
        (tmp_path / name).write_bytes(evil)
        arguments = ["--weights", str(tmp_path / name), "--backbone", "test_resnet", "--out", str(tmp_path / "out")]
        assert command("train", photos, *arguments) == 2
    assert not trap.exists()


@pytest.mark.parametrize(
    "header",
    [
        b"\xff" * 8,
        struct.pack("<Q", 1 << 62) + b"{}",
        struct.pack("<Q", 2) + b"[]",
        struct.pack("<Q", 100) + b'{"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}}',
        struct.pack("<Q", 63) + b'{"a":{"dtype":"F32","shape":[9999999999],"data_offsets":[0,16]}}',
        b"",
    ],
)
def test_a_safetensors_with_a_false_header(header: bytes, copy: Path) -> None:
    for file in (copy / "model.safetensors", copy / "predictions.safetensors"):
        file.write_bytes(header + b"\0" * 16)
    with pytest.raises(UsageError, match="damaged or not a safetensors file"):
        orderless.load(copy)
    with pytest.raises(UsageError, match="missing or damaged"):
        RunFolder(copy).predictions()


def test_weights_of_another_shape(copy: Path) -> None:
    from safetensors.torch import save_file

    save_file({"encoder.backbone.conv1.weight": torch.zeros(3)}, copy / "model.safetensors")
    with pytest.raises(UsageError, match="does not fit"):
        orderless.load(copy)


@pytest.mark.parametrize(
    "line",
    [
        "seed: !!python/object/apply:os.system ['touch {trap}']",
        "seed: !!python/name:os.system",
        "data: !!python/object/new:pathlib.Path ['{trap}']",
        "a: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a, *a, *a]\nc: [*b, *b, *b, *b]",
    ],
)
def test_a_yaml_with_tags(line: str, copy: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trapped"
    file = copy / "config.yaml"
    file.write_text(file.read_text() + "\n" + line.replace("{trap}", str(trap)) + "\n")
    with pytest.raises(UsageError):
        orderless.load(copy)
    assert not trap.exists()


def test_settings_that_nobody_knows(copy: Path) -> None:
    values = yaml.safe_load((copy / "config.yaml").read_text())
    values["model"]["hook"] = "os.system"
    (copy / "config.yaml").write_text(yaml.safe_dump(values))
    with pytest.raises(UsageError, match=r"there is no setting 'model\.hook'"):
        orderless.load(copy)


def test_settings_that_name_what_is_not_there(copy: Path) -> None:
    """A backbone is a name that timm knows, never a module or a file."""
    original = yaml.safe_load((copy / "config.yaml").read_text())
    for backbone in ("os.system", "../../x", "hf-hub:somebody/model", "local-dir:/tmp"):
        values = original | {"model": original["model"] | {"backbone": backbone}}
        (copy / "config.yaml").write_text(yaml.safe_dump(values))
        with pytest.raises(UsageError, match="backbone"):
            orderless.load(copy)


def test_a_newer_run_says_so_and_an_older_one_loads(copy: Path, tmp_path: Path) -> None:
    file = copy / "config.yaml"
    text = file.read_text()
    file.write_text(text.replace(f"version: {FORMAT_VERSION}", f"version: {FORMAT_VERSION + 1}") + "\nnew_setting: 1\n")
    with pytest.raises(UsageError, match="was written by a newer orderless .*upgrade"):
        orderless.load(copy)
    lines = [line for line in text.splitlines() if not line.startswith(("version", "checkpoint_minutes"))]
    file.write_text("\n".join(lines) + "\n")  # settings that came later take their defaults
    assert orderless.load(copy).config == load_config(file)


def test_an_older_checkpoint_says_what_to_do(tmp_path: Path) -> None:
    file, io = tmp_path / "a.ckpt", AtomicCheckpoints()
    io.save_checkpoint({"state_dict": {}, "epoch": 3}, file)
    with pytest.raises(OrderlessError, match="written by an older orderless; finish that run with it, or start anew"):
        io.load_checkpoint(file)


@pytest.mark.parametrize(
    "content", ["", "{}", "[]", '{"labels": 3}', '{"labels": [{"name": "a"}]}', "{" * 10_000, '{"labels": []}', "\0"]
)
def test_a_label_file_that_is_none(content: str, copy: Path) -> None:
    (copy / "labels.json").write_text(content)
    with pytest.raises(UsageError):
        orderless.load(copy)


HOSTILE = ("<script>alert(1)</script>", "../../x", "[bold]x[/bold]\x1b[2J", "a|b,c;d\ne", "=1+1", "' onload='x")


def test_hostile_labels_are_text_everywhere(copy: Path, photos: Path, tmp_path: Path) -> None:
    """In tables, sidecars, pictures and the report page; and no file appears where none should."""
    labels = json.loads((copy / "labels.json").read_text())
    for number, row in enumerate(labels["labels"]):
        row["name"] = f"{HOSTILE[number % len(HOSTILE)]}{number}"
    (copy / "labels.json").write_text(json.dumps(labels))
    values = yaml.safe_load((copy / "config.yaml").read_text())
    values["data"]["ignore_unknown"] = True
    (copy / "config.yaml").write_text(yaml.safe_dump(values))
    shot = tmp_path / "in" / "a.jpg"
    shot.parent.mkdir()
    shutil.copy(photos / "images" / "test-00000.jpg", shot)
    out = tmp_path / "out"
    out.mkdir()
    for form in ("csv", "jsonl", "txt", "xmp", "label-studio", "fiftyone", "parquet"):
        place = out / form if form in ("txt", "xmp") else out / f"tags.{form}"
        arguments = ["--to", form, "--out", str(place), "--attention", str(out / "maps")]
        assert command("predict", copy, shot, *arguments) == (2 if form == "txt" else 0)  # which cannot hold commas
    assert command("report", copy) == 0
    page = (copy / "report.html").read_text()
    assert "<script>alert" not in page
    assert "' onload='" not in page
    assert {path.name for path in tmp_path.iterdir()} == {"run", "in", "out"}
    assert sorted(path.name for path in (tmp_path / "in").iterdir()) == ["a.jpg"]
