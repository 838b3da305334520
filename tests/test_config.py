"""Settings: strict, complete, plain."""

from __future__ import annotations

from typing import get_args

import pytest

from orderless.config import MOST_EPOCHS, Monitor, dump_config, load_config, override, parse_config
from orderless.errors import UsageError
from orderless.evaluation import LOWER_IS_BETTER, METRICS
from orderless.recipes import RECIPES, recipe


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("method", ["bce", "pla"])
def test_a_recipe_survives_the_file(name: str, method: str, tmp_path) -> None:
    config = recipe(name, method)
    file = tmp_path / "config.yaml"
    file.write_text(dump_config(config))
    assert load_config(file) == config


def test_the_papers_recipe() -> None:
    bce, joint, decoder = recipe("paper", "pla").stages
    assert (bce.optimizer, bce.learning_rate, bce.epochs, bce.schedule) == ("sgd", 0.01, 40, "plateau")
    assert (joint.optimizer, joint.learning_rate, joint.epochs, joint.schedule) == ("adam", 1e-3, 30, "sawtooth")
    assert (joint.average, joint.encoder_share) == ("swa", 0.1)
    assert (decoder.learning_rate, decoder.epochs, decoder.encoder_share) == (1e-5, 5, 0.0)
    assert [stage.name for stage in recipe("paper", "bce").stages] == ["bce"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("metod: pla", "no setting 'metod'"),
        ("model: {hiden: 3}", "no setting 'model.hiden'"),
        ("model: {hidden: many}", "model.hidden"),
        ("method: best", "no method 'best'"),
        ("version: 99", "newer orderless"),
        ("x: !!python/object/apply:os.system ['true']", "not plain YAML"),
        ("- a", "key: value"),
        ("stages: [{name: a, epochs: 1, learning_rate: 1, encoder_share: -1}]", "stages.0.encoder_share"),
    ],
)
def test_bad_files_are_one_sentence(text: str, message: str, tmp_path) -> None:
    file = tmp_path / "config.yaml"
    file.write_text(text)
    with pytest.raises(UsageError, match=message) as caught:
        load_config(file)
    assert "\n" not in str(caught.value)


def test_only_what_should_grow_can_pick_the_epoch() -> None:
    top3 = {name for name in METRICS if name.startswith("top3")}  # at a number of labels that nobody asks the model for
    assert set(get_args(Monitor)) == set(METRICS) - LOWER_IS_BETTER - {"order-rigidness"} - top3
    with pytest.raises(UsageError, match="monitor"):
        override(recipe("quick", "pla"), ["monitor=hamming-loss"])


def test_some_stage_must_train_the_method() -> None:
    with pytest.raises(UsageError, match="no stage trains"):
        override(recipe("quick", "pla"), ["stages.0.objective=binary"])


def test_override() -> None:
    config = override(recipe("quick", "pla"), ["model.hidden=64", "stages.0.epochs=2", "model.attention=false"])
    assert (config.model.hidden, config.stages[0].epochs, config.model.attention) == (64, 2, False)
    for wrong in ("model.hiden=1", "hidden", "stages.7.epochs=1", "model=3", "seed=[1", "stages.x.epochs=1"):
        with pytest.raises(UsageError):
            override(recipe("quick", "pla"), [wrong])


def test_unknown_recipe_and_method() -> None:
    with pytest.raises(UsageError, match="recipe 'fast'"):
        recipe("fast")
    with pytest.raises(UsageError, match="method 'lstm'"):
        recipe("quick", "lstm")
    with pytest.raises(UsageError, match="model.dropout"):
        parse_config({"model": {"dropout": 1.5}}, "x")


@pytest.mark.parametrize(
    ("cache", "share", "part"), [(True, 0.0, "none"), (False, 0.0, "none"), (True, 0.5, "tail"), (False, 0.1, "all")]
)
def test_what_of_the_encoder_learns(cache: bool, share: float, part: str) -> None:
    stage = {"name": "a", "epochs": 1, "learning_rate": 1, "cache": cache, "encoder_share": share}
    config = parse_config({"stages": [stage]}, "test")
    assert config.stages[0].learning == config.learning == part
    assert config.without_tail().learning == ("none" if part == "tail" else part)


@pytest.mark.parametrize(("photos", "epochs"), [(6000, 2), (70, 3), (64, 5), (1, 5)])
def test_least_steps_ask_for_epochs(photos: int, epochs: int) -> None:
    stage = {"name": "a", "epochs": 2, "least_steps": 5, "learning_rate": 1, "batch_size": 64}
    config = parse_config({"stages": [stage]}, "test")
    assert config.settled(photos).stages[0].epochs == epochs
    assert config.settled(photos).settled(1) == config.settled(photos)
    assert override(config, ["stages.0.epochs=2"]).settled(photos).stages[0].epochs == 2


def test_least_steps_have_an_end() -> None:
    stage = {"name": "a", "epochs": 2, "least_steps": 1_000_000, "learning_rate": 1}
    assert parse_config({"stages": [stage]}, "test").settled(10).stages[0].epochs == MOST_EPOCHS
