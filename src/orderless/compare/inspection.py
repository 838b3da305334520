"""What figures need beyond a run's own files, taken from the finished models: times, a closer look at some images."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import torch
from PIL import ImageOps
from safetensors.torch import save
from torch import Tensor

from orderless.compare.plan import CompareSettings
from orderless.data.dataset import LabelTable
from orderless.data.sample import Collection, Sample, by_hash
from orderless.errors import UnreadableImage
from orderless.files import write_atomically, write_bytes, write_text
from orderless.methods import METHODS
from orderless.model.network import TaggingModel, build_model
from orderless.order import Order
from orderless.run_folder import RunFolder, load_weights
from orderless.tagger import Tagger
from orderless.training.objectives import make_objective

EXAMPLES = 40
MOST_LABELS = 6  # more do not fit a figure
THUMBNAIL = 320  # pixels on the long side
TIMED_IMAGES, TIMED_REPEATS = 8, 5


def store_examples(out: Path, settings: CompareSettings, collection: Collection) -> list[int]:
    """Write comparison.json, the sizes of objects, and thumbnails of test images; returns the places of those.

    Half of the images are those with most labels, half are chosen by chance.
    """
    split = "test" if "test" in collection else "val"
    samples = collection[split]
    shuffled = {id(sample): place for place, sample in enumerate(by_hash(samples, 0))}
    by_chance = sorted(range(len(samples)), key=lambda i: shuffled[id(samples[i])])
    fitting = [i for i in by_chance if len(samples[i].labels) <= MOST_LABELS] or by_chance
    rich = sorted(fitting, key=lambda i: -len(samples[i].labels))[: EXAMPLES // 2]
    ordinary = [i for i in fitting if i not in rich and len(samples[i].labels) > 1][: EXAMPLES - len(rich)]
    chosen = [i for i in sorted(rich + ordinary) if _thumbnail(out, i, samples[i])]
    vocabulary = collection.vocabulary()
    areas = _areas(samples, vocabulary.index)
    if areas is not None:
        write_bytes(out / "areas.safetensors", save({"areas": areas}))
    described = {
        "data": settings.data,
        "format": collection.format,
        "recipe": settings.recipe,
        "split": split,
        "images": {name: len(part) for name, part in collection.splits.items()},
        "digests": collection.digests(),
        "examples": chosen,
    }
    write_text(out / "comparison.json", json.dumps(described, indent=1, ensure_ascii=False) + "\n")
    return chosen


def inspect(run: RunFolder, collection: Collection, examples: Sequence[int]) -> None:
    """Add `examples.safetensors` and `times.json` to a run that has none."""
    files = (run.path / "examples.safetensors", run.path / "times.json")
    if all(file.is_file() for file in files):
        return
    config, vocabulary = run.config(), run.vocabulary()
    model = build_model(config.model, len(vocabulary))
    load_weights(model, run.weights_file)
    tagger = Tagger(model, vocabulary, config)
    split = "test" if "test" in collection else "val"
    samples = [collection[split][i] for i in examples]
    table = LabelTable(samples, vocabulary, ignore_unknown=config.data.leaves_out_unknown)
    images = torch.stack([_load(tagger, sample) for sample in samples]).to(tagger.device)  # [K, 3, S, S]
    write_bytes(files[0], save(_closer_look(tagger, images, table.labels) | {"index": torch.tensor(examples)}))
    write_text(files[1], json.dumps(_times(run, model.to(tagger.device), images, table.labels)) + "\n")


@torch.inference_mode()
def _closer_look(tagger: Tagger, images: Tensor, labels: Tensor) -> dict[str, Tensor]:
    """What the model wrote and where it looked; of a sequence decoder also its logits as training sees them."""
    head = tagger.model.head
    features = tagger.model.encoder(images)  # [K, cells, C]
    prediction = tagger.model.predict_features(features)
    found = {"sequence": prediction.sequence}
    if prediction.attention is not None:
        found["attention"] = prediction.attention
    if METHODS[tagger.config.method].head == "sequence":
        found["logits"], _ = head(features, int(labels.sum(1).max()) + 1)  # [K, T, m + 1]
    return {name: tensor.detach().cpu().contiguous() for name, tensor in found.items()}


def _times(run: RunFolder, model: TaggingModel, images: Tensor, labels: Tensor) -> dict[str, Any]:
    """Milliseconds per image: forward, alignment and backward of a training step, and prediction."""
    config = run.config()
    stage = next(s for s in reversed(config.stages))
    images, labels = images[:TIMED_IMAGES], labels[:TIMED_IMAGES].to(images.device)
    counts = labels.sum(1).tolist()
    spent: dict[str, list[float]] = {"forward": [], "alignment": [], "backward": [], "test": []}
    aligning = [0.0]

    def watch(order: Order) -> Order:
        def timed(logits: Tensor, truth: Tensor) -> Tensor:
            seconds, targets = _clocked(lambda: order(logits, truth), images.device)
            aligning[0] += seconds
            assert isinstance(targets, Tensor)
            return targets

        return timed

    objective = make_objective(config.method, stage, run.vocabulary(), watch)
    model.encoder.learn(config.learning)
    for repeat in range(TIMED_REPEATS + 1):  # the first only warms up
        model.train()
        aligning[0] = 0.0

        def forward() -> Tensor:
            with torch.set_grad_enabled(config.learning != "none"):
                features = model.encoder(images)
            return objective(model.head, features, labels, counts)

        ahead, loss = _clocked(forward, images.device)
        back, _ = _clocked(loss.backward, images.device)
        model.zero_grad()
        model.eval()
        test, _ = _clocked(lambda: model.predict(images), images.device)
        if repeat:
            for name, seconds in zip(spent, (ahead - aligning[0], aligning[0], back, test), strict=True):
                spent[name].append(1000 * seconds / len(images))
    return {name: round(median(values), 4) for name, values in spent.items()} | {
        "encoder_trained": config.learning == "all"
    }


def _clocked(work: Callable[[], Any], device: torch.device) -> tuple[float, Any]:
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    begin = time.perf_counter()
    result = work()
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return time.perf_counter() - begin, result


def _load(tagger: Tagger, sample: Sample) -> Tensor:
    image = sample.load(size=tagger.preprocessing.size, pixel_limit=tagger.config.data.pixel_limit)
    return tagger.preprocessing.test_transform()(image)


def _thumbnail(out: Path, index: int, sample: Sample) -> bool:
    file = out / "examples" / f"{index}.jpg"
    if file.is_file():
        return True
    try:
        image = ImageOps.contain(sample.load(size=THUMBNAIL), (THUMBNAIL, THUMBNAIL))
    except UnreadableImage:
        return False
    write_atomically(file, lambda temporary: image.save(temporary, "JPEG", quality=82))
    return True


def _areas(samples: Sequence[Sample], index: dict[str, int]) -> Tensor | None:
    """[images, labels] share of the image that a label's largest object covers, NaN where unknown."""
    if not any(sample.areas for sample in samples):
        return None
    areas = torch.full((len(samples), len(index)), torch.nan)
    for row, sample in enumerate(samples):
        for label, area in zip(sample.labels, sample.areas, strict=False):
            if label in index:
                areas[row, index[label]] = area
    return areas
