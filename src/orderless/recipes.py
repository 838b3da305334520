"""Named recipes: complete sets of stages.

`paper` is the published training, for GPUs. `quick` is for small data and CPUs: all of the encoder but its last block
stays as ImageNet left it, so every image goes through that once, and the rest trains on what was stored, in minutes.
"""

from __future__ import annotations

from typing import Any, Literal

from orderless.config import Config, DataConfig, EncoderPart, ModelConfig, StageConfig
from orderless.errors import UsageError
from orderless.methods import METHODS

RECIPES = ("quick", "paper")
LEAST_STEPS = 400  # of the quick recipe; 6,000 photos have more in 6 epochs
DEFAULT_METHODS = {"quick": "joint", "paper": "pla"}  # what is best there, and what the paper proposes


def recipe(name: str, method: str | None = None, *, learning: EncoderPart | None = None) -> Config:
    """The configuration of a recipe for one method (its default, if none is named).

    `learning` says what of the encoder learns in `quick`: its last block ("tail", the default), all or none of it.
    """
    method = method or DEFAULT_METHODS.get(name, "pla")
    if name not in RECIPES:
        raise UsageError(f"there is no recipe {name!r}; choose one of {', '.join(RECIPES)}")
    if method not in METHODS:
        raise UsageError(f"there is no method {method!r}; choose one of {', '.join(METHODS)}")
    if name == "quick":
        return _quick(method, learning or "tail")
    if learning not in (None, "all"):
        raise UsageError(f"the recipe {name} trains the whole encoder; the recipe quick can leave it as it is")
    return _paper(method)


def _quick(method: str, learning: EncoderPart) -> Config:
    common: dict[str, Any] = {
        "optimizer": "adamw",
        "learning_rate": 1e-3,
        "weight_decay": 0.01,
        "schedule": "cosine",
        "average": "warm-ema",
    }
    stages = [
        StageConfig(
            name="head", epochs=6 if learning == "tail" else 8, least_steps=LEAST_STEPS, batch_size=64, cache=True,
            encoder_share=0.5 if learning == "tail" else 0.0, channel_dropout=0.3, cell_dropout=0.1, **common,
        )
    ]  # fmt: skip
    if learning == "all":
        stages = [StageConfig(name="joint", epochs=8, batch_size=32, encoder_share=0.1, **common)]
        if method != "bce":  # as in the paper, the encoder learns the labels before the method's head joins it
            stages.insert(
                0, StageConfig(name="bce", objective="binary", epochs=4, batch_size=32, encoder_share=0.1, **common)
            )
    # Smaller attention and queries than the papers': as good on small data, and faster.
    model = ModelConfig(
        backbone="lite0", attention_size=128, binary_hidden=512, query_size=256, query_feedforward=512, dropout=0.3,
        **_shape(method),
    )  # fmt: skip
    return Config(method=method, recipe="quick", threshold=_threshold(method), model=model, stages=tuple(stages))


def _paper(method: str) -> Config:
    stages = [
        StageConfig(
            name="bce", objective="binary", epochs=40, batch_size=32, optimizer="sgd", learning_rate=0.01,
            encoder_share=1.0, schedule="plateau", patience=10, gradient_clip=0.0,
        )
    ]  # fmt: skip
    if method != "bce":  # which ends with stage one; all others go on from the encoder it trained
        stages += [
            StageConfig(
                name="joint", epochs=30, batch_size=32, optimizer="adam", learning_rate=1e-3,
                encoder_share=0.1, schedule="sawtooth", average="swa", gradient_clip=5.0,
            ),
            StageConfig(name="decoder", epochs=5, batch_size=32, optimizer="adam", learning_rate=1e-5),
        ]  # fmt: skip
    return Config(
        method=method,
        recipe="paper",
        threshold=_threshold(method),
        data=DataConfig(image_size=288),
        model=ModelConfig(backbone="resnet101", **_shape(method)),
        stages=tuple(stages),
    )


def _shape(method: str) -> dict[str, Any]:
    """What the method says about the model: its head, and attention if it leaves no choice."""
    chosen = METHODS[method]
    return {"head": chosen.head} | ({} if chosen.attention is None else {"attention": chosen.attention})


def _threshold(method: str) -> Literal["fixed", "tuned"]:
    """Chen et al. have no end token: where to stop is chosen on held-out images, as is the joint vote.

    All others keep 0.5.
    """
    return "tuned" if METHODS[method].head in ("stepwise", "joint") else "fixed"
