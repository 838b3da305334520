"""What a training is going to do and why, in lines for the person who started it.

Every line is read off the configuration that will run, and off what was found (weights, splits, a GPU), so that it
cannot say anything else than what happens. What differs from the recipe was asked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from orderless.config import Config, EncoderPart
from orderless.methods import METHODS
from orderless.recipes import DEFAULT_METHODS, RECIPES, recipe


def reasons(
    config: Config, *, weights: str, gpu: bool, splits: Mapping[str, int], carved: Sequence[str] = ()
) -> list[tuple[str, str]]:
    """Pairs of a word and a sentence.

    config: as it will run (`settled`); weights: where the encoder's weights came from; splits: images by split;
    carved: splits that the data did not bring.
    """
    return [
        ("Method", _method(config)),
        ("Encoder", _encoder(config, weights, gpu)),
        ("Photos", _photos(config)),
        ("Split", _split(config, splits, carved)),
        ("Epochs", _epochs(config, splits["train"])),
        ("Threshold", _threshold(config)),
    ]


def _usual(config: Config) -> Config | None:
    """The recipe that the configuration started from, None if it is none of ours."""
    if config.recipe not in RECIPES:
        return None
    if config.recipe == "paper":
        return recipe(config.recipe, config.method)
    return recipe(config.recipe, config.method, learning=config.learning)


def _method(config: Config) -> str:
    default = DEFAULT_METHODS.get(config.recipe) == config.method
    why = f"the default of the recipe {config.recipe}" if default else "as you asked"
    return f"{config.method}, {why}: {METHODS[config.method].summary}."


def _encoder(config: Config, weights: str, gpu: bool) -> str:
    name = re.sub(r"^(?:tf_efficientnet_)?lite(\d)$", r"EfficientNet-Lite\1", config.model.backbone)
    if config.learning == "all":
        slow = "" if gpu else " No GPU was found, so this takes long."
        return f"{name}, {weights}; it learns too, as {_who_asked(config)}.{slow}"
    if not any(stage.cache for stage in config.stages):
        return f"{name}, {weights}; kept as it is, and every photo is encoded in every epoch."
    if config.learning == "none":
        return f"{name}, {weights}; kept as it is, so every photo is encoded only once."
    finetune = "--finetune would train all of it" + ("." if gpu else ", which is slow here: no GPU was found.")
    return f"{name}, {weights}; its last block learns, the rest sees every photo only once. {finetune}"


def _who_asked(config: Config) -> str:
    default = recipe(config.recipe, config.method) if config.recipe in RECIPES else None
    if default and default.learning == config.learning:
        return f"the recipe {config.recipe} says"
    return "you asked"


def _photos(config: Config) -> str:
    size, usual = config.data.image_size, _usual(config)
    why = f"the size of the recipe {config.recipe}" if usual and usual.data.image_size == size else "as you asked"
    changes = [
        "mirrored" if stage.cache else "mirrored, shifted and changed in contrast"
        for stage in config.stages
        if stage.augment
    ]
    return f"{size} x {size} pixels, {why}{f'; {max(changes, key=len)} at random while learning' if changes else ''}."


def _split(config: Config, splits: Mapping[str, int], carved: Sequence[str]) -> str:
    names = {"train": "to learn from", "val": "to choose the best epoch", "test": "to judge the result"}
    counts = ", ".join(f"{count:,} {names.get(name, name)}" for name, count in splits.items())
    limit = f", at most {config.data.limit:,} each as you asked" if config.data.limit else ""
    if not carved:
        return f"as the data says: {counts}{limit}."
    missing = " or ".join(words for name, words in (("val", "validation"), ("test", "test")) if name in carved)
    return (
        f"{counts}{limit}. The data has no {missing} split, so these photos were set aside "
        f"by a hash of their names (seed {config.data_seed})."
    )


def _epochs(config: Config, photos: int) -> str:
    stages = ", then ".join(f"{stage.epochs} ({stage.name})" for stage in config.stages)
    if len(config.stages) == 1:
        stages = str(config.stages[0].epochs)
    epochs, why = [stage.epochs for stage in config.stages], "as you asked"
    for usual in _usuals(config):
        if epochs == [stage.epochs for stage in usual.stages]:
            why = f"as the recipe {config.recipe} says"
            break
        if epochs == [stage.epochs for stage in usual.settled(photos).stages]:
            why = f"more than the recipe's {usual.stages[-1].epochs}, since the photos are few"
    return f"{stages}, {why}; the best one by {config.monitor} on the validation photos is kept."


def _usuals(config: Config) -> list[Config]:
    """The recipe, whatever of the encoder learns."""
    if config.recipe not in RECIPES:
        return []
    parts: tuple[EncoderPart, ...] = ("all",) if config.recipe == "paper" else ("none", "tail", "all")
    return [recipe(config.recipe, config.method, learning=part) for part in parts]


def _threshold(config: Config) -> str:
    if not METHODS[config.method].thresholded:
        return "none: the model itself says when it has written all tags."
    if config.threshold == "tuned":
        return "a tag is written from the score that gives the best overall F1 on the validation photos."
    return "a tag is written from a score of 0.5."
