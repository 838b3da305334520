"""Comparing: the plan, and runs that are never done twice."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from orderless.compare import CompareSettings, compare, plan, running
from orderless.compare.plan import check_settings, variants
from orderless.config import dump_config
from orderless.errors import OrderlessError, UsageError
from orderless.labels import Vocabulary
from orderless.recipes import recipe
from orderless.run_folder import RunFolder


def tiny(data: Path, **changes: Any) -> CompareSettings:
    settings: dict[str, Any] = {
        "data": str(data), "methods": ("bce", "mla"), "seeds": (0,), "attention": "on", "epochs": 1, "image_size": 64,
        "ignore_unknown": True, "limit": 16, "backbone": "test_resnet", "weights": "none", "workers": 0,
    }  # fmt: skip
    return CompareSettings(**settings | changes)


@pytest.fixture(scope="module")
def done(photos: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[CompareSettings, Path]:
    """A small comparison, finished."""
    out = tmp_path_factory.mktemp("compare") / "out"
    settings = tiny(photos)
    os.environ["ORDERLESS_CACHE"] = str(tmp_path_factory.getbasetemp() / "feature-cache")
    compare(settings, out)
    return settings, out


def test_variants_by_attention() -> None:
    assert variants(("bce", "pla", "pla", "sr-cnn-rnn"), "both") == [
        ("bce", None), ("pla", True), ("pla-noattention", False), ("sr-cnn-rnn", None),
    ]  # fmt: skip
    assert variants(("pla", "order-free"), "off") == [("pla-noattention", False), ("order-free-noattention", False)]


def test_runs_share_their_data_and_differ_in_their_seed(tmp_path: Path) -> None:
    tasks = plan(CompareSettings("scenes", options={"photos": 50}, methods=("pla", "bce"), seeds=(3, 4)), tmp_path)
    assert [task.label for task in tasks] == [
        "bce seed 3", "bce seed 4", "pla seed 3", "pla-noattention seed 3", "pla seed 4", "pla-noattention seed 4",
    ]  # fmt: skip
    assert {task.config.data_seed for task in tasks} == {0}
    assert all(task.config.data.options == {"photos": 50} for task in tasks)
    assert all(task.needs is None for task in tasks)


@pytest.mark.parametrize("methods", [("pla", "bce"), ("pla",)])
@pytest.mark.parametrize("from_file", [False, True])
def test_stage_one_is_trained_once_per_seed(methods: tuple[str, ...], from_file: bool, tmp_path: Path) -> None:
    name = "paper"
    if from_file:
        name = str(tmp_path / "mine.yaml")
        Path(name).write_text(dump_config(recipe("paper", "mla")))
    tasks = plan(CompareSettings("scenes", methods=methods, seeds=(0,), recipe=name), tmp_path / "out")
    first, *rest = tasks
    assert first.name == ("bce" if "bce" in methods else "stage-one")
    assert [stage.name for stage in first.config.stages] == ["bce"]
    assert len(rest) == 2
    for task in rest:
        assert task.needs == first.folder
        assert task.config.method == "pla"
        assert [stage.name for stage in task.config.stages] == ["joint", "decoder"]
        assert task.config.model.weights == str(RunFolder(first.folder.resolve()).weights_file)


def test_a_finished_comparison_is_only_reported_again(
    done: tuple[CompareSettings, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, out = done
    for name in ("bce", "mla"):
        files = {path.name for path in (out / name / "seed-0").iterdir()}
        assert {"metrics.json", "predictions.safetensors", "examples.safetensors", "times.json"} <= files
    penalisation = RunFolder(out / "mla" / "seed-0").metrics()["penalisation"]
    assert 0 <= penalisation["rate"] <= 1
    assert (out / "report.html").is_file()

    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("trained what was trained already")

    monkeypatch.setattr(running, "train", never)
    monkeypatch.setattr("orderless.report.comparison.write_report", lambda folder: folder)
    assert all(task.finished for task in compare(settings, out))


def test_an_interrupted_comparison_goes_on_with_what_is_missing(
    done: tuple[CompareSettings, Path], photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, out = tiny(photos, methods=("bce", "mla"), seeds=(0,)), tmp_path / "out"
    trained: list[str] = []

    def stopped(config: Any, run: RunFolder, **options: Any) -> dict[str, Any]:
        trained.append(config.method)
        if config.method == "mla" and trained.count("mla") == 1:
            run.begin(config, options["collection"].vocabulary())  # killed right after it began
            raise KeyboardInterrupt
        return real(config, run, **options)

    real = running.train
    monkeypatch.setattr(running, "train", stopped)
    monkeypatch.setattr("orderless.report.comparison.write_report", lambda folder: folder)
    with pytest.raises(KeyboardInterrupt):
        compare(settings, out)
    compare(settings, out)
    assert trained == ["bce", "mla", "mla"]


def test_a_run_with_other_settings_is_not_mixed_in(done: tuple[CompareSettings, Path], photos: Path) -> None:
    with pytest.raises(UsageError, match=r"trained with stages\.0\.epochs 1, not 2"):
        compare(tiny(photos, epochs=2), done[1])


def test_other_methods_join_only_on_the_same_terms(tmp_path: Path) -> None:
    settings = CompareSettings("scenes", methods=("bce",), seeds=(0,))
    (task,) = plan(settings, tmp_path)
    RunFolder(task.folder).begin(task.config, Vocabulary(("sea",), (1,)))
    others = replace(settings, methods=("pla",), seeds=(1, 2), attention="on", workers=0)
    check_settings(others, tmp_path, plan(others, tmp_path))
    for changes, what in (
        ({"epochs": 2}, r"stage\.epochs 6, not 2"),
        ({"limit": 40}, r"data\.limit None, not 40"),
        ({"image_size": 96}, r"data\.image_size 192, not 96"),
        ({"backbone": "lite2"}, r"model\.backbone lite0, not lite2"),
        ({"weights": "none"}, r"model\.weights auto, not none"),
    ):
        changed = replace(others, **changes)
        with pytest.raises(UsageError, match=what):
            check_settings(changed, tmp_path, plan(changed, tmp_path))


def test_a_run_whose_encoder_had_to_stay_as_it_was_is_the_one_asked_for(tmp_path: Path) -> None:
    settings = CompareSettings("scenes", methods=("bce",), seeds=(0,), backbone="vgg11")
    (task,) = plan(settings, tmp_path)
    done = RunFolder(task.folder)
    done.begin(task.config.without_tail(), Vocabulary(("sea",), (1,)))
    check_settings(settings, tmp_path, [task])
    done.begin(task.config.model_copy(update={"monitor": "CF1"}), Vocabulary(("sea",), (1,)))
    with pytest.raises(UsageError, match="was trained with monitor CF1, not OF1"):
        check_settings(settings, tmp_path, [task])


def test_one_failure_does_not_stop_the_others(photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trained: list[str] = []

    def failing(config: Any, run: RunFolder, **options: Any) -> dict[str, Any]:
        trained.append(config.method)
        if config.method == "frequent":
            raise OrderlessError("the loss is nan")
        return {"test": {"CF1": 0.0, "OF1": 0.0}}

    monkeypatch.setattr(running, "train", failing)
    with pytest.raises(OrderlessError, match=r"1 of 2 runs failed, the first is frequent seed 0: the loss is nan"):
        compare(tiny(photos, methods=("frequent", "pla")), tmp_path / "out")
    assert trained == ["frequent", "pla"]


@pytest.mark.slow
def test_runs_beside_each_other(photos: Path, tmp_path: Path) -> None:
    tasks = compare(tiny(photos, methods=("frequent", "pla")), tmp_path / "out", jobs=2)
    assert all(task.finished for task in tasks)


def test_runs_on_other_data_do_not_stand_side_by_side(photos: Path, tmp_path: Path) -> None:
    data, out = tmp_path / "photos", tmp_path / "out"
    shutil.copytree(photos, data)
    compare(tiny(data, methods=("bce",), limit=None), out)
    table = data / "metadata.csv"
    lines = table.read_text().splitlines()
    table.write_text("\n".join(line for line in lines if "test-00000" not in line))
    with pytest.raises(UsageError, match="the images or labels of test have changed"):
        compare(tiny(data, methods=("bce", "pla"), limit=None), out)
