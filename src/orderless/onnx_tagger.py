"""Tag with an exported file: ONNX Runtime, NumPy and Pillow, no PyTorch.

tagger = OnnxTagger("model.onnx")
result = tagger.predict("photo.jpg")   # as `orderless.tagger.Tagger`
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from orderless.data.images import open_image, upright_rgb
from orderless.data.resizing import resize
from orderless.errors import UnreadableImage, UsageError
from orderless.export.metadata import INPUT, OUTPUTS, Metadata
from orderless.onnx_session import open_session
from orderless.results import ImageSource, Outputs, Result, check_many, make_results

if TYPE_CHECKING:
    from orderless.config import Config

Pixels = NDArray[np.uint8]


class OnnxTagger:
    """An exported model with its vocabulary and its way of reading images. Safe to call from several threads."""

    def __init__(self, source: str | Path | bytes, *, threads: int | None = None) -> None:
        """`source` is a file or its content; `threads` as many as $OMP_NUM_THREADS says, else as there are cores."""
        self._made_of = source if isinstance(source, bytes) else Path(source).absolute(), threads
        name = "the model" if isinstance(source, bytes) else str(source)
        self._session = open_session(source if isinstance(source, bytes) else Path(source), threads)
        self.metadata = Metadata.from_props(self._session.get_modelmeta().custom_metadata_map, name)
        self.vocabulary, self.preprocessing = self.metadata.vocabulary, self.metadata.preprocessing
        self._names = [output.name for output in self._session.get_outputs()]
        if not set(OUTPUTS[:3]) <= set(self._names):
            raise UsageError(f"{name} does not have the outputs of a tagger; export the run again")
        self._check_shapes(name)

    def __reduce__(self) -> tuple[Any, ...]:
        """For other processes, which open the file again."""
        return _open_again, self._made_of

    def _check_shapes(self, name: str) -> None:
        """The graph must be of the size and the labels that its metadata tell of."""
        side, labels = self.preprocessing.size, len(self.vocabulary)
        asks = [(given.name, given.type, given.shape[1:]) for given in self._session.get_inputs()]
        answers = {given.name: given.shape[1:] for given in self._session.get_outputs()}
        if asks != [(INPUT, "tensor(uint8)", [side, side, 3])] or answers["scores"] != [labels]:
            raise UsageError(f"{name} does not fit its own metadata (size or labels); export the run again")

    @cached_property
    def config(self) -> Config:
        """The settings of the run that was exported."""
        from orderless.config import parse_config  # not above: tagging needs neither pydantic nor YAML

        return parse_config(self.metadata.config, "the exported file")

    def predict(self, image: ImageSource) -> Result:
        """Tag one image: a path, encoded bytes, an open file or a Pillow image; else raises `UnreadableImage`."""
        name = str(image) if isinstance(image, str | Path) else "<image>"
        if not isinstance(image, Image.Image):
            image = self._open(image)
        return replace(self.predict_images([image])[0], name=name)

    def predict_images(self, images: Iterable[Image.Image]) -> list[Result]:
        """Tag decoded images as one batch. They are taken one by one, so a generator need not hold them all at once."""
        pixels = [self.resized(image) for image in images]
        return self._results(pixels, ["<image>"] * len(pixels))

    def predict_many(self, images: Iterable[str | Path], *, batch_size: int = 32, workers: int = 0) -> Iterator[Result]:
        """Tag files in batches, in their order; one that cannot be read gives a result with `error` set.

        `images` may be endless. `workers` are threads that decode: Pillow and NumPy let them run side by side.
        """
        return self._predict_many(check_many(images, batch_size, workers), batch_size, workers)

    def _predict_many(self, paths: Iterator[str | Path], batch_size: int, workers: int) -> Iterator[Result]:
        with ThreadPoolExecutor(max(workers, 1)) as pool:
            while batch := [Path(image) for image in islice(paths, batch_size)]:
                read = list(pool.map(self._read, batch)) if workers else [self._read(path) for path in batch]
                names = [str(path) for path, pixels in zip(batch, read, strict=True) if not isinstance(pixels, str)]
                tagged = iter(self._results([pixels for pixels in read if not isinstance(pixels, str)], names))
                for path, pixels in zip(batch, read, strict=True):
                    yield Result(str(path), error=pixels) if isinstance(pixels, str) else next(tagged)

    def run(self, pixels: Sequence[Pixels]) -> Outputs:
        """Resized images [S, S, 3] -> what the model says, its steps cut to those that some image needed."""
        found = dict(zip(self._names, self._session.run(None, {INPUT: np.stack(pixels)}), strict=True))
        # One step after the last label: the one that wrote the end.
        steps = min(int((found["sequence"] >= 0).sum(axis=1).max()) + 1, found["sequence"].shape[1])
        for name in {"sequence", "probabilities", "attention"} & set(found):
            found[name] = found[name][:, :steps]
        return Outputs(*(found.get(name) for name in OUTPUTS))  # type: ignore[arg-type]

    def _results(self, pixels: Sequence[Pixels], names: Sequence[str]) -> list[Result]:
        return make_results(self.run(pixels), names, self.vocabulary.names) if pixels else []

    def resized(self, image: Image.Image) -> Pixels:
        """An image as the graph wants it, [S, S, 3]."""
        size = self.preprocessing.size
        return resize(upright_rgb(image, size), size, self.preprocessing.interpolation)

    def _read(self, path: Path) -> Pixels | str:
        try:
            return self.resized(self._open(path))
        except UnreadableImage as error:
            return error.reason

    def _open(self, source: str | Path | bytes | BinaryIO) -> Image.Image:
        return open_image(source, size=self.preprocessing.size, pixel_limit=self.preprocessing.pixel_limit)


def _open_again(source: Path | bytes, threads: int | None) -> OnnxTagger:
    return OnnxTagger(source, threads=threads)
