"""The models behind the service: run folders or exported ONNX files, found by their names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from PIL import Image

from orderless.errors import UsageError
from orderless.labels import Vocabulary
from orderless.results import Result
from orderless.text import printable


class AnyTagger(Protocol):
    """What the service needs of a tagger; `orderless.tagger` and `orderless.onnx_tagger` have it."""

    vocabulary: Vocabulary

    def predict_images(self, images: Iterable[Image.Image]) -> list[Result]: ...


@dataclass(frozen=True)
class Model:
    """A tagger under the name that clients call it by."""

    name: str
    kind: str  # "run" or "onnx"
    tagger: AnyTagger
    image_size: int  # what it looks at; JPEGs are decoded no larger than that needs


class Models:
    """The models served, the first of which answers when none is named."""

    def __init__(self, models: Sequence[Model]) -> None:
        if not models:
            raise UsageError("there is no model to serve")
        self._models = {model.name: model for model in models}
        self.default = models[0]

    def __iter__(self) -> Iterator[Model]:
        return iter(self._models.values())

    def __len__(self) -> int:
        return len(self._models)

    def find(self, name: str | None) -> Model | None:
        return self.default if name is None else self._models.get(name)


def load_models(paths: Sequence[Path]) -> Models:
    """Load every path and let each model see one blank image, so that the first client does not wait for it."""
    models = [_load(path, name) for path, name in zip(paths, _names(paths), strict=True)]
    for model in models:
        model.tagger.predict_images([Image.new("RGB", (model.image_size, model.image_size))])
    return Models(models)


def _load(path: Path, name: str) -> Model:
    tagger: AnyTagger
    if path.suffix.lower() == ".onnx":
        from orderless.onnx_tagger import OnnxTagger

        onnx = OnnxTagger(path)
        return Model(name, "onnx", onnx, onnx.preprocessing.size)
    from orderless.tagger import load

    tagger = load(path)
    return Model(name, "run", tagger, tagger.preprocessing.size)


def _names(paths: Sequence[Path]) -> list[str]:
    """The last parts of the paths, as many as tell them apart."""
    whole = [path.resolve().with_suffix("") if path.suffix.lower() == ".onnx" else path.resolve() for path in paths]
    if len(set(whole)) < len(whole):
        raise UsageError("the same model is named twice")
    depth = 1
    while len({path.parts[-depth:] for path in whole}) < len(whole):
        depth += 1
    return [printable("/".join(path.parts[-depth:])) for path in whole]
