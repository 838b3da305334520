"""Training end to end on tiny photos: every stage, resume to the same result, survival of bad images."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

import orderless
from orderless.config import Config, parse_config
from orderless.errors import OrderlessError, UsageError
from orderless.model.encoder import Encoder
from orderless.recipes import recipe
from orderless.run_folder import RunFolder, save_weights
from orderless.training.callbacks import Checkpoints
from orderless.training.history import read_rows
from orderless.training.progress import Watcher
from orderless.training.run import train


def tiny(data: Path | str, method: str = "pla", name: str = "quick", epochs: int = 2, **stage: Any) -> Config:
    """A recipe cut down to seconds."""
    values = recipe(name, method).model_dump(mode="json")
    values["data"] |= {"path": str(data), "image_size": 64, "workers": 0}
    values["model"] |= {
        "backbone": "test_resnet", "weights": "none", "hidden": 16, "embedding": 8, "attention_size": 8,
        "binary_hidden": 16, "max_steps": 8,
    }  # fmt: skip
    values["stages"] = [s | {"epochs": epochs, "least_steps": 0, "batch_size": 16} | stage for s in values["stages"]]
    return parse_config(values, "test")


class Listener(Watcher):
    def __init__(self) -> None:
        self.warnings: list[str] = []

    def warn(self, text: str) -> None:
        self.warnings.append(text)


@pytest.mark.parametrize("method", ["bce", "random", "frequent", "rare", "dictionary", "mla", "pla"])
def test_every_order_trains_and_loads(method: str, photos: Path, tmp_path: Path) -> None:
    metrics = train(tiny(photos, method), RunFolder(tmp_path / "run"))
    assert metrics["test"]["images"] == 16
    assert 0 <= metrics["test"]["OF1"] <= 1
    assert ("order-rigidness" in metrics["test"]) == (method != "bce")
    tagger = orderless.load(tmp_path / "run")
    again = tagger.evaluate(orderless.open_data(photos)["test"])
    assert again.metrics["OF1"] == pytest.approx(metrics["test"]["OF1"], abs=0.02)  # stored features are half floats


def test_the_papers_three_stages(photos: Path, tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run")
    train(tiny(photos, name="paper", epochs=1), run)
    rows = read_rows(run.metrics_csv)
    assert [row["stage"] for row in rows] == ["bce", "joint", "decoder"]
    assert json.loads(run.metrics_file.read_text())["test"]["images"] == 16
    before = load_file(run.last / "stage-0.safetensors")
    after = load_file(run.last / "stage-1.safetensors")
    last = load_file(run.last / "stage-2.safetensors")
    weights = [key for key in after if key.startswith("encoder") and key.endswith("weight")]
    assert any(not torch.equal(before[key], after[key]) for key in weights)  # the joint stage trains the encoder
    assert all(torch.equal(after[key], last[key]) for key in after if key.startswith("encoder"))  # the last does not


@pytest.mark.parametrize(("learning", "parts"), [("none", set()), ("tail", {"layer4"})])
def test_the_last_block_learns_on_stored_features(learning: Any, parts: set[str], photos: Path, tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run")
    share = recipe("quick", "bce", learning=learning).stages[0].encoder_share
    config = tiny(photos, "bce", epochs=1, encoder_share=share)
    train(config, run)
    torch.manual_seed(config.seed)
    before, after = Encoder("test_resnet").state_dict(), load_file(run.weights_file)
    changed = {key.split(".")[1] for key in before if not torch.equal(before[key], after[f"encoder.{key}"])}
    assert changed == parts
    statistics = [key for key in before if "running" in key or "tracked" in key]
    assert all(torch.equal(before[key], after[f"encoder.{key}"]) for key in statistics)


def test_a_backbone_without_a_tail_stays_as_it_is_and_says_so(photos: Path, tmp_path: Path) -> None:
    class Notes(Watcher):
        def note(self, text: str) -> None:
            notes.append(text)

    notes: list[str] = []
    values = tiny(photos, "bce", epochs=1).model_dump(mode="json")
    values["model"]["backbone"] = "vgg11"
    run = RunFolder(tmp_path / "run")
    train(parse_config(values, "test"), run, watcher=Notes())
    assert any("vgg11 cannot be trained by itself" in note for note in notes)
    assert run.config().learning == "none"


def test_stored_features_follow_an_encoder_that_has_learned(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ORDERLESS_CACHE", str(tmp_path / "cache"))
    head = tiny(photos, "bce", epochs=1, encoder_share=0.0).stages[0]
    whole = head.model_copy(update={"name": "whole", "cache": False, "encoder_share": 1.0})
    config = tiny(photos, "bce").model_copy(update={"stages": (head, whole, head.model_copy(update={"name": "last"}))})
    metrics = train(config, RunFolder(tmp_path / "run"))
    again = orderless.load(tmp_path / "run").evaluate(orderless.open_data(photos)["val"])
    assert again.metrics["mAP"] == pytest.approx(metrics["val"]["mAP"], abs=0.01)
    assert len(list((tmp_path / "cache" / "features").iterdir())) == 4  # with mirror images and without, twice


def test_a_classifier_of_stage_one_is_built_as_its_configuration_says(photos: Path, tmp_path: Path) -> None:
    train(tiny(photos, "bce", name="paper", epochs=1), RunFolder(tmp_path / "run"))  # with a hidden layer
    assert orderless.load(tmp_path / "run").model.head.classifier[0].out_features == 16


def test_a_run_does_not_go_on_with_other_labels(photos: Path, tmp_path: Path) -> None:
    data = shutil.copytree(photos, tmp_path / "data")
    train(tiny(data, epochs=1), run := RunFolder(tmp_path / "run"))
    before = run.labels_file.read_text()
    table = data / "metadata.csv"
    table.write_text(table.read_text().replace(run.vocabulary().names[0], "zebra"))
    with pytest.raises(UsageError, match="labels of the data have changed"):
        train(run.config(), run, resume=True)
    assert run.labels_file.read_text() == before


class Interrupted(Exception):
    pass


@pytest.mark.parametrize(("name", "stop_after"), [("quick", 2), ("paper", 3)])
def test_a_stopped_run_resumes_to_the_same_weights_and_the_same_table(
    name: str, stop_after: int, photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny(photos, name=name, epochs=3 if name == "quick" else 2)
    whole, stopped = RunFolder(tmp_path / "whole"), RunFolder(tmp_path / "stopped")
    train(config, whole)

    saved = Checkpoints.on_train_epoch_end
    calls = 0

    def save_then_stop(self: Checkpoints, *args: Any) -> None:
        nonlocal calls
        saved(self, *args)
        calls += 1
        if calls == stop_after:
            raise Interrupted

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoints, "on_train_epoch_end", save_then_stop)
        with pytest.raises(Interrupted):
            train(config, stopped)
    assert not stopped.weights_file.exists()
    train(config, stopped, resume=True)
    assert stopped.metrics_csv.read_text() == whole.metrics_csv.read_text()
    ours, theirs = load_file(stopped.weights_file), load_file(whole.weights_file)
    assert ours.keys() == theirs.keys()
    assert all(torch.equal(ours[key], theirs[key]) for key in ours)


def test_same_seed_same_weights(photos: Path, tmp_path: Path) -> None:
    runs = [RunFolder(tmp_path / name) for name in "ab"]
    for run in runs:
        train(tiny(photos, "random"), run)
    first, second = (load_file(run.weights_file) for run in runs)
    assert all(torch.equal(first[key], second[key]) for key in first)


@pytest.mark.parametrize("cache", [True, False])
def test_a_bad_image_is_named_counted_and_left_out(cache: bool, photos: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(photos, data)
    (data / "images" / "train-00003.jpg").write_bytes(b"not a picture")
    (data / "images" / "train-00007.jpg").unlink()
    listener = Listener()
    run = RunFolder(tmp_path / "run")
    metrics = train(tiny(data, cache=cache), run, watcher=listener)
    assert len(metrics["unreadable"]) == 2
    assert sorted(text.split(": ")[1].rsplit("/", 1)[1] for text in listener.warnings) == [
        "train-00003.jpg",
        "train-00007.jpg",
    ]
    assert len(listener.warnings) == 2  # each is named once, whatever the number of epochs
    if not cache:
        assert read_rows(run.metrics_csv)[-1]["unreadable"] == 2
        assert read_rows(run.metrics_csv)[-1]["images"] == 78


def test_existing_run_is_not_overwritten(photos: Path, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "precious").touch()
    with pytest.raises(UsageError, match="other files"):
        train(tiny(photos), RunFolder(tmp_path / "run"))


def test_a_label_that_training_lacks_is_an_error_unless_ignored(photos: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(photos, data)
    table = (data / "metadata.csv").read_text().splitlines()
    row = next(i for i, line in enumerate(table) if line.endswith(",test"))
    table[row] = table[row].replace(",test", "|unicorn,test")
    (data / "metadata.csv").write_text("\n".join(table) + "\n")
    with pytest.raises(UsageError, match="'unicorn' was never seen in training"):
        train(tiny(data), RunFolder(tmp_path / "run"))
    assert not (tmp_path / "run").exists()
    values = tiny(data).model_dump(mode="json")
    values["data"]["ignore_unknown"] = True
    train(parse_config(values, "test"), RunFolder(tmp_path / "run"))


def test_not_one_readable_image(photos: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(photos, data)
    for file in (data / "images").iterdir():
        file.write_bytes(b"x")
    with pytest.raises(OrderlessError, match="not one image"):
        train(tiny(data), RunFolder(tmp_path / "run"))


def test_resized_images_may_be_kept(photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ORDERLESS_CACHE", str(tmp_path / "cache"))
    values = tiny(photos, "bce", cache=False).model_dump(mode="json")
    train(parse_config(values, "test"), RunFolder(tmp_path / "plain"))
    values["data"]["cache_images"] = True
    train(parse_config(values, "test"), RunFolder(tmp_path / "kept"))
    assert (tmp_path / "kept" / "metrics.csv").read_text() == (tmp_path / "plain" / "metrics.csv").read_text()
    assert sum(file.is_file() for file in (tmp_path / "cache" / "images").rglob("*")) == 112
    monkeypatch.setenv("ORDERLESS_CACHE_GB", "0.0001")
    with pytest.raises(UsageError, match="--cache-images"):
        train(parse_config(values, "test"), RunFolder(tmp_path / "large"))


def test_training_stops_when_nothing_improves(photos: Path, tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run")
    train(tiny(photos, "bce", epochs=9, patience=1, learning_rate=1e-9), run)
    assert len(read_rows(run.metrics_csv)) < 9


def test_tensorboard_on_request(photos: Path, tmp_path: Path) -> None:
    train(tiny(photos, "bce", epochs=1), RunFolder(tmp_path / "run"), tensorboard=True)
    assert list((tmp_path / "run" / "tensorboard").rglob("events.out.tfevents.*"))


@pytest.mark.parametrize(
    "labels", [["cat"] * 8, ["cat", "", "", "dog|cat", "", "", "dog", ""]], ids=["one label", "images without labels"]
)
def test_odd_label_sets_train(labels: list[str], tmp_path: Path, photos: Path) -> None:
    """A vocabulary of one label, images with none, an epoch smaller than a batch."""
    data = tmp_path / "data"
    data.mkdir()
    lines = ["file_name,labels,split"]
    for number, text in enumerate(labels):
        shutil.copy(photos / "images" / f"train-0000{number}.jpg", data / f"{number}.jpg")
        lines.append(f"{number}.jpg,{text},{'val' if number == 7 else 'train'}")
    (data / "metadata.csv").write_text("\n".join(lines) + "\n")
    for method in ("pla", "bce"):
        metrics = train(tiny(data, method), RunFolder(tmp_path / method))
        assert metrics["val"]["images"] == 1


def test_a_batch_of_one_image_of_one_cell_trains_the_encoder(photos: Path, tmp_path: Path) -> None:
    """Batch normalisation has nothing to normalise by there."""
    config = tiny(photos, "pla", name="paper", epochs=1, batch_size=1)
    values = config.model_dump(mode="json")
    values["data"] |= {"image_size": 32, "limit": 3}
    values["data"]["ignore_unknown"] = True
    metrics = train(parse_config(values, "test"), RunFolder(tmp_path / "run"))
    assert metrics["skipped"] == 0


def test_tensorboard_that_is_not_installed(photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orderless.training.run.find_spec", lambda name: None)
    with pytest.raises(UsageError, match="pip install tensorboard"):
        train(tiny(photos, "bce"), RunFolder(tmp_path / "run"), tensorboard=True)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("change", ["labels", "weights"])
def test_a_run_does_not_go_on_with_other_data_or_weights(change: str, photos: Path, tmp_path: Path) -> None:
    data, run = tmp_path / "photos", RunFolder(tmp_path / "run")
    shutil.copytree(photos, data)
    save_weights(Encoder("test_resnet").backbone, tmp_path / "a.safetensors")
    config = tiny(data, "frequent", epochs=1)
    config = config.model_copy(
        update={"model": config.model.model_copy(update={"weights": str(tmp_path / "a.safetensors")})}
    )
    train(config, run)
    train(config, run, resume=True)  # nothing has changed
    if change == "labels":
        table = data / "metadata.csv"
        lines = table.read_text().splitlines()
        place = next(i for i, line in enumerate(lines) if "train" in line and "|" in line)
        lines[place] = re.sub(r"\|[^|,\"]*", "", lines[place], count=1)
        table.write_text("\n".join(lines))
    else:
        torch.manual_seed(5)
        save_weights(Encoder("test_resnet").backbone, tmp_path / "a.safetensors")
    what = "the images or labels of train" if change == "labels" else "the encoder's first weights"
    with pytest.raises(UsageError, match=f"{what} have changed since"):
        train(config, run, resume=True)


def test_two_processes_do_not_train_one_run(photos: Path, tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run")
    with run.in_training(), pytest.raises(UsageError, match="another process is training"):
        train(tiny(photos, epochs=1), run, resume=True)
    train(tiny(photos, epochs=1), run, resume=True)


def test_seeds_have_an_end(photos: Path) -> None:
    with pytest.raises(UsageError, match="4294967295"):
        parse_config(tiny(photos).model_dump(mode="json") | {"seed": 2**32}, "test")


def test_a_limit_may_leave_labels_out(photos: Path, tmp_path: Path) -> None:
    config = tiny(photos, "bce", epochs=1)
    config = config.model_copy(update={"data": config.data.model_copy(update={"limit": 3})})
    assert train(config, RunFolder(tmp_path / "run"))["test"]["images"] == 3
