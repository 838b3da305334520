"""`orderless push` and `orderless pull` against a small Hub on this machine, through the real command line."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
import yaml

from orderless.config import override
from orderless.errors import OrderlessError, UsageError
from orderless.hub.card import model_card
from orderless.hub.sharing import check, pull, push, stage
from orderless.labels import Vocabulary
from orderless.model.network import build_model
from orderless.recipes import recipe
from orderless.run_folder import RunFolder, save_weights
from orderless.tagger import load

from .fake import TOKEN, Hub, fake_hub

pytest.importorskip("huggingface_hub")

LABELS = ("dog", "<script>x</script>", "a|b", "new\nline", "[x](y)", "cat")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run as training leaves it, without the training."""
    folder = RunFolder(tmp_path_factory.mktemp("runs") / "tiny")
    settings = ["data.path=/home/someone/secret/photos", "data.image_size=64", "model.backbone=test_resnet"]
    small = ["model.weights=none", "model.hidden=16", "model.attention_size=8"]
    config = override(recipe("quick", "pla"), settings + small)
    folder.begin(config, Vocabulary(LABELS, (90, 5, 7, 8, 20, 30)))
    save_weights(build_model(config.model, len(LABELS)), folder.weights_file)
    folder.save_metrics({"test": {"images": 4, "OF1": 0.5, "CF1": 0.25, "mAP": 0.75}, "val": {"images": 2, "OF1": 0.5}})
    truth = torch.ones(4, len(LABELS), dtype=torch.bool)
    judged = {"truth": truth, "predicted": truth.clone(), "scores": truth.float(), "ignore": ~truth}
    folder.save_predictions({"test": judged})
    (folder.path / "last").mkdir()
    (folder.path / "last" / "notes").write_text("not for others")
    return folder.path


@pytest.fixture
def hub() -> Iterator[Hub]:
    with fake_hub() as running:
        yield running


def orderless(hub: Hub | str, home: Path, *arguments: str | Path, token: str | None = TOKEN, code: int = 0) -> str:
    """The command with the Hub at another address; large files as Git LFS, which the small Hub speaks."""
    address = hub if isinstance(hub, str) else hub.address
    own = {"HF_ENDPOINT": address, "HF_HOME": str(home), "HF_HUB_DISABLE_XET": "1"}
    env = {name: value for name, value in os.environ.items() if not name.startswith(("HF_", "HUGGING"))} | own
    if token:
        env["HF_TOKEN"] = token
    command = [sys.executable, "-m", "orderless", *map(str, arguments)]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == code, done.stderr
    assert not code or len(done.stderr.strip().splitlines()) == 1, done.stderr
    return done.stdout if not code else done.stderr


def test_there_and_back(run: Path, hub: Hub, tmp_path: Path) -> None:
    assert orderless(hub, tmp_path, "push", run, "me/tiny", "--private").strip() == f"{hub.address}/me/tiny"
    files = hub.repositories["me/tiny"]
    assert hub.private["me/tiny"]
    assert set(files) == {
        "README.md", "checksums.json", "config.yaml", "labels.json", "metrics.json", "model.safetensors",
        "predictions.safetensors",
    }  # fmt: skip
    assert not any(b"someone" in data for data in files.values())  # where photos lay is nobody's business
    assert any(request.endswith("/info/lfs/objects/batch") for request in hub.requests)
    files["setup.py"] = files["deep/model.safetensors"] = files["../x.py"] = b"evil"  # what pull must not fetch
    files["README.md"] += b"\nedited on the Hub\n"
    out = tmp_path / "pulled"
    assert orderless(hub, tmp_path, "pull", "me/tiny", "--out", out, "--revision", "main").strip() == str(out)
    assert {path.name for path in out.iterdir()} == set(files) - {"setup.py", "deep/model.safetensors", "../x.py"}
    assert (out / "model.safetensors").read_bytes() == (run / "model.safetensors").read_bytes()
    assert load(out).vocabulary.names == LABELS
    assert {path.name for path in tmp_path.iterdir() if path.name.startswith(".pull")} == set()


def test_what_goes_wrong_is_one_sentence(run: Path, hub: Hub, tmp_path: Path) -> None:
    out = tmp_path / "out"
    hub.repositories["me/other"] = {"pytorch_model.bin": b"pickle"}
    assert "HF_TOKEN" in orderless(hub, tmp_path, "push", run, "me/tiny", token=None, code=2)
    assert "check HF_TOKEN" in orderless(hub, tmp_path, "push", run, "me/tiny", token="hf_wrong", code=2)
    assert "no repository" in orderless(hub, tmp_path, "pull", "me/none", "--out", out, code=2)
    assert "it has no config.yaml" in orderless(hub, tmp_path, "pull", "me/other", "--out", out, code=2)
    assert "no revision 'v9'" in orderless(hub, tmp_path, "pull", "me/other", "--out", out, "--revision", "v9", code=2)
    assert "cannot be reached" in orderless("http://127.0.0.1:9", tmp_path, "pull", "me/tiny", "--out", out, code=1)
    orderless(hub, tmp_path, "push", run, "me/tiny")
    weights = hub.repositories["me/tiny"]["model.safetensors"]
    hub.repositories["me/tiny"]["model.safetensors"] = weights[:-1] + b"!"
    message = orderless(hub, tmp_path, "pull", "me/tiny", "--out", out, code=1)
    assert "model.safetensors of 'me/tiny' is not what its checksum says" in message
    assert not out.exists()


def test_names_and_folders(run: Path, tmp_path: Path) -> None:
    for name in ("tiny", "me/../tiny", "me/", "/x", "a b/c", "me/x/y"):
        with pytest.raises(UsageError, match="owner/name"):
            push(run, name)
        with pytest.raises(UsageError, match="owner/name"):
            pull(name, tmp_path / "new")
    with pytest.raises(UsageError, match="is there already"):
        pull("me/tiny", tmp_path)
    with pytest.raises(UsageError, match="not a finished run"):
        push(tmp_path, "me/tiny")


def test_every_file_is_checked(run: Path, tmp_path: Path) -> None:
    stage(RunFolder(run), "me/tiny", tmp_path)
    check(tmp_path, "me/tiny")
    (tmp_path / "metrics.csv").write_text("not listed")
    with pytest.raises(OrderlessError, match="metrics.csv"):
        check(tmp_path, "me/tiny")
    (tmp_path / "checksums.json").write_text("[]")
    with pytest.raises(UsageError, match=re.escape("checksums.json is damaged")):
        check(tmp_path, "me/tiny")


def test_no_path_of_a_photo_is_shared(run: Path, tmp_path: Path) -> None:
    folder = RunFolder(shutil.copytree(run, tmp_path / "run"))
    folder.save_metrics(folder.metrics() | {"unreadable": {"/home/anna/clients/1.jpg": "it is damaged"}})
    place = tmp_path / "place"
    place.mkdir()
    stage(folder, "me/x", place)
    assert "metrics.json" in {file.name for file in place.iterdir()}
    assert not [file.name for file in place.iterdir() if b"anna" in file.read_bytes()]
    folder.metrics_file.write_text('{"unreadable": {"/home/anna/1.jpg": "it is')
    shutil.rmtree(place)
    place.mkdir()
    stage(folder, "me/x", place)
    assert not [file.name for file in place.iterdir() if b"anna" in file.read_bytes()]


def test_the_card(run: Path) -> None:
    card = model_card(RunFolder(run), "me/tiny")
    _, front, text = card.split("---\n", 2)
    facts = yaml.safe_load(front)
    assert (facts["library_name"], facts["pipeline_tag"]) == ("orderless", "image-classification")
    assert facts["model-index"][0]["results"][0]["metrics"][0] == {"type": "OF1", "name": "overall F1", "value": 0.5}
    for part in ("orderless pull me/tiny", "4 test images", "50.0 %", "## Intended use and limits", "photos"):
        assert part in text
    assert "3 labels have fewer than 10 training images" in text
    assert "<script>" not in card
    assert "someone" not in card
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert len({len(re.findall(r"(?<!\\)\|", row)) for row in rows if "a\\|b" in row or "dog" in row}) == 1
    assert json.dumps(facts)


@pytest.mark.parametrize("nonsense", [{"images": "many"}, {"images": 3, "OF1": "good"}, [1, 2], 7, {}])
def test_nonsense_among_the_numbers_is_as_good_as_none(run: Path, tmp_path: Path, nonsense: object) -> None:
    folder = RunFolder(shutil.copytree(run, tmp_path / "run"))
    folder.save_metrics(folder.metrics() | dict.fromkeys(("val", "val-tuned", "test", "test-tuned"), nonsense))
    assert "None were measured." in model_card(folder, "me/x")
    folder.save_metrics({"test": {"images": 3, "OF1": 0.5, "mAP": None}})
    assert "| overall F1 (`OF1`) | 50.0 % |" in model_card(folder, "me/x")
