"""Named recipes: complete sets of stages.

`paper` is the published training, for GPUs. `quick` is for small data and CPUs: the encoder stays as
ImageNet left it, every image is encoded once, and the head trains on the stored features in minutes.
"""

from __future__ import annotations

from orderless.config import Config, DataConfig, ModelConfig, StageConfig
from orderless.errors import UsageError
from orderless.methods import METHODS

RECIPES = ("quick", "paper")


def recipe(name: str, method: str = "pla", *, finetune: bool = False) -> Config:
    """The configuration of a recipe for one method; `finetune` makes `quick` train the encoder too."""
    if name not in RECIPES:
        raise UsageError(f"there is no recipe {name!r}; choose one of {', '.join(RECIPES)}")
    if method not in METHODS:
        raise UsageError(f"there is no method {method!r}; choose one of {', '.join(METHODS)}")
    return _quick(method, finetune) if name == "quick" else _paper(method)


def _quick(method: str, finetune: bool) -> Config:
    head = METHODS[method].head
    common = {"optimizer": "adamw", "learning_rate": 1e-3, "weight_decay": 0.01, "schedule": "cosine", "average": "ema"}
    stages = [StageConfig(name="head", epochs=12, batch_size=64, cache=True, **common)]
    if finetune:
        stages = [StageConfig(name="joint", epochs=8, batch_size=32, encoder_share=0.1, **common)]
        if head == "sequence":  # as in the paper, the encoder learns the labels before the decoder joins it
            stages.insert(
                0, StageConfig(name="bce", objective="binary", epochs=4, batch_size=32, encoder_share=0.1, **common)
            )
    model = ModelConfig(backbone="lite0", head=head, binary_hidden=512, dropout=0.3)
    return Config(method=method, recipe="quick", model=model, stages=tuple(stages))


def _paper(method: str) -> Config:
    head = METHODS[method].head
    stages = [
        StageConfig(
            name="bce", objective="binary", epochs=40, batch_size=32, optimizer="sgd", learning_rate=0.01,
            encoder_share=1.0, schedule="plateau", patience=10, gradient_clip=0.0,
        )
    ]  # fmt: skip
    if head == "sequence":  # the binary method ends with stage one
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
        data=DataConfig(image_size=288),
        model=ModelConfig(backbone="resnet101", head=head),
        stages=tuple(stages),
    )
