"""Every setting of a run, as data: strict, complete, and the same file starts the run again."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from orderless.data.images import PIXEL_LIMIT
from orderless.errors import UsageError
from orderless.methods import METHODS, HeadName

FORMAT_VERSION = 1  # of the run folder; raised when an older orderless could not read a new run
LARGEST_SEED = 2**32 - 1  # for NumPy and Lightning


class Settings(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class DataConfig(Settings):
    """Where the photos are and how they are read."""

    path: str = "scenes"
    format: str | None = None  # None: found by looking at the folder
    options: dict[str, bool | int | str] = Field(default_factory=dict)  # of the reader, see docs/data.md
    image_size: int = Field(192, ge=32, le=1024)
    limit: int | None = Field(None, ge=1)  # at most so many samples of every split
    # Of splits that the data does not bring, and of limits; None: the run's.
    seed: int | None = Field(None, ge=0, le=LARGEST_SEED)
    ignore_unknown: bool = False  # leave labels out that the training split lacks, as under a limit it may
    pixel_limit: int = Field(PIXEL_LIMIT, ge=1)
    workers: int = Field(2, ge=0)
    cache_images: bool = False  # keep resized images on disk, for stages that decode them every epoch

    @property
    def leaves_out_unknown(self) -> bool:
        return self.ignore_unknown or self.limit is not None


class ModelConfig(Settings):
    """The network. Sizes are the paper's."""

    backbone: str = "lite0"
    weights: str = "auto"  # "auto", "none" or a .safetensors file
    head: HeadName = "sequence"
    attention: bool = True
    hidden: int = Field(512, ge=1)
    embedding: int = Field(256, ge=1)
    attention_size: int = Field(512, ge=1)
    binary_hidden: int = Field(0, ge=0)  # hidden layer of a classifier on pooled features; 0: none
    query_size: int = Field(768, ge=8, multiple_of=8)  # of a query decoder, with 8 attention heads
    query_feedforward: int = Field(2048, ge=1)  # its hidden layer
    query_groups: int = Field(100, ge=1)  # most queries; with more labels than that, a query serves several
    dropout: float = Field(0.0, ge=0.0, lt=1.0)
    max_steps: int = Field(20, ge=1)


Monitor = Literal[
    "OF1", "CF1", "macro-F1", "example-F1", "mAP", "mAP-11point", "OP", "OR", "CP", "CR",
    "example-accuracy", "example-precision", "example-recall", "mA", "subset-accuracy",
]  # fmt: skip
MOST_EPOCHS = 100  # that `least_steps` asks for
EncoderPart = Literal["none", "tail", "all"]  # of the encoder, that learns; the tail is its last block


class StageConfig(Settings):
    """One stage of training. `objective` "binary" trains the encoder under BCE; "method" trains the method."""

    name: str
    objective: Literal["binary", "method"] = "method"
    epochs: int = Field(ge=0)
    least_steps: int = Field(0, ge=0)  # more epochs on small data, until there are so many batches
    batch_size: int = Field(64, ge=1)
    optimizer: Literal["sgd", "adam", "adamw"] = "adam"
    learning_rate: float = Field(gt=0)
    encoder_share: float = Field(0.0, ge=0.0)  # the encoder's learning rate as a share; 0 freezes it
    weight_decay: float = Field(0.0, ge=0.0)
    schedule: Literal["constant", "plateau", "sawtooth", "cosine"] = "constant"
    average: Literal["none", "swa", "ema", "warm-ema"] = "none"
    patience: int = Field(0, ge=0)  # epochs without improvement before stopping; 0: never
    gradient_clip: float = Field(5.0, ge=0.0)  # largest norm; 0: no clipping
    label_smoothing: float = Field(0.0, ge=0.0, lt=1.0)
    augment: bool = True  # mirror images, crops where images are decoded every time, and the two below
    channel_dropout: float = Field(0.0, ge=0.0, lt=1.0)  # share of an image's feature channels that training hides
    cell_dropout: float = Field(0.0, ge=0.0, lt=1.0)  # share of its cells
    cache: bool = False  # encode every image once; of the encoder only the last block can learn then

    @property
    def learning(self) -> EncoderPart:
        """What of the encoder learns in this stage."""
        if not self.encoder_share:
            return "none"
        return "tail" if self.cache else "all"

    def settled(self, photos: int) -> StageConfig:
        """The same with the epochs that so many photos to learn from need."""
        needed = min(MOST_EPOCHS, math.ceil(self.least_steps / math.ceil(photos / self.batch_size)))
        return self.model_copy(update={"epochs": max(self.epochs, needed), "least_steps": 0})


class Config(Settings):
    """A run."""

    version: int = FORMAT_VERSION
    method: str = "pla"
    recipe: str = "quick"
    seed: int = Field(0, ge=0, le=LARGEST_SEED)
    monitor: Monitor = "OF1"  # validation metric that picks the best epoch: the more the better
    checkpoint_minutes: float = Field(10.0, ge=0.0)  # most that a kill costs; also at every epoch's end
    threshold: Literal["fixed", "tuned"] = "fixed"  # of the saved model: 0.5, or best for OF1 on validation
    data: DataConfig = DataConfig()
    model: ModelConfig = ModelConfig()
    stages: tuple[StageConfig, ...] = ()

    @property
    def learning(self) -> EncoderPart:
        """What of the encoder learns in any stage."""
        parts = {stage.learning for stage in self.stages}
        return "all" if "all" in parts else "tail" if "tail" in parts else "none"

    def without_tail(self) -> Config:
        """The same, but for stages that would train the encoder's last block: they leave it as it is."""
        stages = tuple(s.model_copy(update={"encoder_share": 0.0}) if s.learning == "tail" else s for s in self.stages)
        return self.model_copy(update={"stages": stages})

    def settled(self, photos: int) -> Config:
        """The same with the epochs that so many photos to learn from need."""
        return self.model_copy(update={"stages": tuple(stage.settled(photos) for stage in self.stages)})

    @property
    def data_seed(self) -> int:
        """What splits and limits follow from: runs that share it share their images."""
        return self.seed if self.data.seed is None else self.data.seed


def parse_config(values: dict[str, Any], source: str) -> Config:
    """Check a mapping of settings; every error is one sentence that names the key."""
    version = values.get("version", FORMAT_VERSION)
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise UsageError(f"{source} was written by a newer orderless (format {version}); upgrade orderless to read it")
    try:
        config = Config.model_validate(values)
    except ValidationError as error:
        raise UsageError(f"{source}: {_first_error(error)}") from None
    if config.method not in METHODS:
        raise UsageError(f"{source}: there is no method {config.method!r}; choose one of {', '.join(METHODS)}")
    _check_method(config, source)
    return config


def _check_method(config: Config, source: str) -> None:
    """Settings that make no sense for the method are errors, not silently without effect."""
    method = METHODS[config.method]
    if config.model.head != method.head:
        raise UsageError(
            f"{source}: method {method.name!r} needs model.head {method.head!r}, not {config.model.head!r}"
        )
    if method.attention is not None and config.model.attention != method.attention:
        verb, switch = ("is nothing without", "") if method.attention else ("has no room for", "no-")
        raise UsageError(f"{source}: method {method.name!r} {verb} attention; leave it --{switch}attention")
    if config.threshold == "tuned" and not method.thresholded:
        raise UsageError(f"{source}: method {method.name!r} has no threshold to tune: it writes its own end")
    if config.stages and method.name != "bce" and all(stage.objective == "binary" for stage in config.stages):
        raise UsageError(f"{source}: no stage trains the method {method.name!r}: one must have the objective 'method'")


def load_config(path: Path) -> Config:
    """Read a config.yaml (plain YAML: tags that would build objects are refused)."""
    return parse_config(read_yaml(path), str(path))


def read_yaml(path: Path) -> dict[str, Any]:
    try:
        values = yaml.safe_load(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"there is no file {path}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not plain YAML: {' '.join(str(error).split())}") from None
    if not isinstance(values, dict):
        raise UsageError(f"{path} must hold settings as 'key: value' lines")
    return values


def dump_config(config: Config) -> str:
    return yaml.safe_dump(config.model_dump(mode="json"), sort_keys=False, allow_unicode=True)


def override(config: Config, assignments: list[str]) -> Config:
    """Apply `key=value` texts such as `model.hidden=256` or `stages.0.epochs=3`; unknown keys are errors."""
    values = config.model_dump(mode="json")
    for assignment in assignments:
        key, separator, text = assignment.partition("=")
        if not separator:
            raise UsageError(f"--set {assignment!r} must look like key=value")
        place: Any = values
        *parents, last = key.strip().split(".")
        try:
            for part in parents:
                place = place[int(part)] if isinstance(place, list) else place[part]
            if isinstance(place, list):
                place[int(last)]
                last = int(last)  # type: ignore[assignment]
            elif last not in place:
                raise KeyError(last)
            place[last] = yaml.safe_load(text)
            if last == "epochs":
                place["least_steps"] = 0  # whoever names a number of epochs means it
        except (KeyError, IndexError, ValueError, TypeError):
            raise UsageError(f"--set {assignment!r}: there is no setting {key!r}") from None
        except yaml.YAMLError:
            raise UsageError(f"--set {assignment!r}: {text!r} is not a plain value") from None
    return parse_config(values, "--set")


def _first_error(error: ValidationError) -> str:
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return f"there is no setting {key!r}"
    return f"{key}: {first['msg'][0].lower()}{first['msg'][1:]} (got {first['input']!r})"
