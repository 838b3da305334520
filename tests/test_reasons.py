"""What is said before training follows from what will happen."""

from __future__ import annotations

from typing import Any

import pytest

from orderless.config import Config, override
from orderless.reasons import reasons
from orderless.recipes import DEFAULT_METHODS, recipe

SPLITS = {"train": 4800, "val": 600, "test": 600}


def said(config: Config, **facts: Any) -> dict[str, str]:
    given: dict[str, Any] = {"weights": "ImageNet weights", "gpu": False, "splits": SPLITS, **facts}
    return dict(reasons(config, **given))


def test_the_default_says_that_nobody_asked_for_anything() -> None:
    lines = said(recipe("quick"))
    assert lines["Method"].startswith(f"{DEFAULT_METHODS['quick']}, the default of the recipe quick: ")
    assert lines["Encoder"].startswith("EfficientNet-Lite0, ImageNet weights; its last block learns")
    assert "sees every photo only once" in lines["Encoder"]
    assert "192 x 192 pixels" in lines["Photos"]
    assert "mirrored at random" in lines["Photos"]
    assert lines["Split"].startswith("as the data says: 4,800 to learn from, 600 to choose the best epoch, ")
    assert not any("you asked" in line for line in lines.values())


def test_what_differs_from_the_recipe_was_asked_for() -> None:
    config = override(recipe("quick", "bce"), ["data.image_size=64", "stages.0.epochs=3"])
    lines = said(config)
    assert lines["Method"].startswith("bce, as you asked: ")
    assert "64 x 64 pixels, as you asked" in lines["Photos"]
    assert lines["Epochs"].startswith("3, as you asked")


def test_few_photos_need_more_epochs() -> None:
    few = {"splits": {"train": 640, "val": 80, "test": 80}}
    line = said(recipe("quick").settled(640), **few)["Epochs"]
    assert line.startswith("40, more than the recipe's 6, since the photos are few")
    assert said(override(recipe("quick"), ["stages.0.epochs=3"]).settled(640), **few)["Epochs"].startswith("3, as you")


def test_a_gpu_changes_what_is_said_of_it() -> None:
    assert "no GPU was found" in said(recipe("quick"))["Encoder"]
    assert "GPU" not in said(recipe("quick"), gpu=True)["Encoder"]


def test_an_encoder_that_learns() -> None:
    finetuned, paper = recipe("quick", learning="all"), recipe("paper")
    frozen = recipe("quick", learning="none")
    assert "kept as it is, so every photo is encoded only once." in said(frozen)["Encoder"]
    assert said(frozen)["Epochs"].startswith("8, as the recipe quick says")
    assert "it learns too, as you asked. No GPU was found" in said(finetuned)["Encoder"]
    assert "it learns too, as the recipe paper says." in said(paper, gpu=True)["Encoder"]
    assert said(finetuned)["Epochs"].startswith("4 (bce), then 8 (joint), as the recipe quick says")


@pytest.mark.parametrize(
    ("carved", "missing"), [(("train", "val", "test"), "validation or test"), (("val",), "validation")]
)
def test_splits_that_the_data_did_not_bring(carved: tuple[str, ...], missing: str) -> None:
    line = said(recipe("quick"), carved=carved)["Split"]
    assert f"The data has no {missing} split" in line
    assert "(seed 0)" in line


def test_thresholds() -> None:
    assert said(recipe("quick", "pla"))["Threshold"].startswith("none")
    assert "0.5" in said(recipe("quick", "bce"))["Threshold"]
    assert "validation" in said(override(recipe("quick", "bce"), ["threshold=tuned"]))["Threshold"]


def test_a_recipe_of_somebody_else() -> None:
    lines = said(recipe("quick").model_copy(update={"recipe": "mine"}))
    assert "as you asked" in lines["Photos"]
