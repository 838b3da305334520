"""The tagger: load a run, tag images.

tagger = orderless.load("runs/x")
result = tagger.predict("photo.jpg")
result.labels            # ['person', 'dog', 'frisbee'], in the order the model wrote them
result.tags[1].score     # 0.93
result.tags[1].region    # where the model looked, rows x columns, sums to one
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from PIL import Image

from orderless.config import Config
from orderless.data.dataset import ImageDataset, LabelledImages, LabelTable, make_loader
from orderless.data.images import open_image, upright_rgb
from orderless.data.sample import Sample
from orderless.data.transforms import Preprocessing
from orderless.errors import OrderlessError, UsageError
from orderless.labels import Vocabulary
from orderless.model.folding import fold_batchnorm
from orderless.model.network import TaggingModel, build_model
from orderless.model.prediction import Prediction
from orderless.results import ImageSource, Outputs, Result, Step, Tag, check_many, make_results
from orderless.run_folder import RunFolder, load_weights
from orderless.runtimes import make_runtime
from orderless.text import counted

if TYPE_CHECKING:
    from orderless.evaluation.judge import Judgement

__all__ = ["ImageSource", "Result", "Step", "Tag", "Tagger", "load"]

PORTION = 128  # batches that one loader is made for


class Tagger:
    """A trained model with its vocabulary and its way of reading images."""

    def __init__(
        self,
        model: TaggingModel,
        vocabulary: Vocabulary,
        config: Config,
        device: str | None = None,
        runtime: str = "eager",
        expected_images: int = 1,
    ) -> None:
        self.device = _device(device)
        self.model = TaggingModel(fold_batchnorm(model.encoder), model.head).to(self.device).eval()
        self.vocabulary, self.config = vocabulary, config
        encoder = model.encoder
        self.preprocessing = Preprocessing(config.data.image_size, encoder.mean, encoder.std, encoder.interpolation)
        self._transform = self.preprocessing.test_transform()
        self._runtime, self._expected_images = runtime, expected_images
        self._encode = make_runtime(runtime, self.model.encoder, expected_images)

    def __getstate__(self) -> dict[str, Any]:
        """For other processes, and copies: what runs the encoder is made anew there."""
        return {name: value for name, value in vars(self).items() if name != "_encode"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._encode = make_runtime(self._runtime, self.model.encoder, self._expected_images)

    def predict(self, image: ImageSource) -> Result:
        """Tag one image: a path, encoded bytes, an open file or a Pillow image; else raises `UnreadableImage`."""
        name = str(image) if isinstance(image, str | Path) else "<image>"
        if not isinstance(image, Image.Image):
            image = open_image(image, size=self.preprocessing.size, pixel_limit=self.config.data.pixel_limit)
        return replace(self.predict_images([image])[0], name=name)

    def predict_images(self, images: Iterable[Image.Image]) -> list[Result]:
        """Tag decoded images as one batch. They are taken one by one, so a generator need not hold them all at once."""
        inputs = [self._transform(upright_rgb(image, self.preprocessing.size)) for image in images]
        if not inputs:
            return []
        return self._results(self._predict_tensor(torch.stack(inputs)), ["<image>"] * len(inputs))  # [B, 3, S, S]

    def predict_many(self, images: Iterable[str | Path], *, batch_size: int = 32, workers: int = 0) -> Iterator[Result]:
        """Tag files in batches, in their order; one that cannot be read gives a result with `error` set.

        `images` may be endless: it is taken in portions, with `workers` of 128 batches, else small at first.
        """
        return self._predict_many(check_many(images, batch_size, workers), batch_size, workers)

    def _predict_many(self, paths: Iterator[str | Path], batch_size: int, workers: int) -> Iterator[Result]:
        portion = PORTION if workers else 1  # processes must be worth starting
        while samples := [Sample(Path(image), ()) for image in islice(paths, portion * batch_size)]:
            yield from self._predict_samples(samples, batch_size, workers)
            portion = min(2 * portion, PORTION)

    def _predict_samples(self, samples: list[Sample], batch_size: int, workers: int) -> Iterator[Result]:
        dataset = ImageDataset(
            samples, self._transform, self.preprocessing.size, pixel_limit=self.config.data.pixel_limit
        )
        for batch in make_loader(dataset, batch_size, shuffle=False, workers=workers):
            found = {i: Result(samples[i].name, error=reason) for i, reason in batch.unreadable}
            if len(batch.inputs):
                names = [samples[i].name for i in batch.rows]
                found |= dict(zip(batch.rows, self._results(self._predict_tensor(batch.inputs), names), strict=True))
            yield from (found[i] for i in sorted(found))

    def evaluate(
        self,
        samples: Sequence[Sample],
        *,
        batch_size: int = 32,
        workers: int = 0,
        skip_unreadable: bool = False,
        ignore_unknown: bool = False,
    ) -> Judgement:
        """Metrics on labelled samples; an unreadable image is an error unless it is to be skipped (and counted)."""
        from orderless.evaluation.judge import judge  # not above: metrics take longer to import than a photo to tag

        table = LabelTable(samples, self.vocabulary, ignore_unknown=ignore_unknown)
        dataset = LabelledImages(
            table, samples, self._transform, self.preprocessing.size, pixel_limit=self.config.data.pixel_limit
        )
        loader = make_loader(dataset, batch_size, shuffle=False, workers=workers)
        judged = judge(self._predict_tensor, loader)
        if judged.unreadable and not skip_unreadable:
            index, reason = next(iter(judged.unreadable.items()))
            raise OrderlessError(
                f"{len(judged.unreadable):,} of {counted(len(samples), 'image')} cannot be read, the first is "
                f"{samples[index].name!r} ({reason}); pass --skip-unreadable to judge the others"
            )
        return judged

    @torch.inference_mode()
    def _predict_tensor(self, inputs: torch.Tensor) -> Prediction:
        prediction = self.model.predict_features(self._encode(inputs.to(self.device)))
        return prediction if self.device.type == "cpu" else prediction.to("cpu")

    def _results(self, prediction: Prediction, names: list[str]) -> list[Result]:
        return make_results(_arrays(prediction), names, self.vocabulary.names)


def _device(name: str | None) -> torch.device:
    chosen = name or ("cuda" if torch.cuda.is_available() else "cpu")
    try:
        return torch.empty(0, device=chosen).device
    except (RuntimeError, AssertionError) as error:
        raise UsageError(f"there is no device {chosen!r} here ({str(error).splitlines()[0]})") from None


def _arrays(prediction: Prediction) -> Outputs:
    return Outputs(*(v.numpy() if isinstance(v, torch.Tensor) else v for v in vars(prediction).values()))


def load(path: str | Path, device: str | None = None, runtime: str = "eager", expected_images: int = 1) -> Tagger:
    """Load a run folder. Nothing in it can run code.

    `runtime` runs the encoder: see `runtimes`. "auto" weighs how many images are expected.
    """
    run = RunFolder.open(path)
    config, vocabulary = run.config(), run.vocabulary()
    model = build_model(config.model, len(vocabulary))
    load_weights(model, run.weights_file)
    return Tagger(model, vocabulary, config, device, runtime, expected_images)
