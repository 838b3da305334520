"""The data of one training: splits with their labels, stored features or images, loaders, what cannot be read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch.utils.data import DataLoader

from orderless.config import Config, StageConfig
from orderless.data import Collection, open_data
from orderless.data.dataset import LabelledImages, LabelTable, make_loader
from orderless.data.image_cache import ImageCache
from orderless.data.sample import Sample
from orderless.data.transforms import Preprocessing
from orderless.errors import OrderlessError, UsageError
from orderless.files import cache_limit, cache_root
from orderless.labels import Vocabulary
from orderless.model.encoder import Encoder
from orderless.training.features import CachedDataset, Part, encoder_key, store_features, stored_part
from orderless.training.processes import Processes
from orderless.training.progress import Watcher


@dataclass
class Split:
    """A split ready to be read: samples and their labels as tensors."""

    samples: list[Sample]
    table: LabelTable


class TrainingData:
    """What all stages of a run read."""

    def __init__(self, config: Config, collection: Collection | None, processes: Processes, watcher: Watcher) -> None:
        self.config, self.processes, self.watcher = config, processes, watcher
        self.device = processes.device
        self.unreadable: dict[str, str] = {}  # name of every image that could not be read -> reason
        self._datasets: dict[tuple[str, bool, str], Any] = {}
        if collection is None:
            collection = open_data(config.data.path, config.data.format, seed=config.data_seed, **config.data.options)
        for note in collection.notes:
            watcher.note(note)
        self.collection = collection = collection.limited(config.data.limit, config.data_seed)
        self.vocabulary: Vocabulary = collection.vocabulary()
        self.splits = {
            name: Split(samples, LabelTable(samples, self.vocabulary, ignore_unknown=config.data.leaves_out_unknown))
            for name, samples in collection.splits.items()
            if samples
        }
        if "val" not in self.splits:
            raise UsageError("training needs a validation split; give more images, or name one in the split column")

    def prepare(self, encoder: Encoder) -> None:
        """The encoder says how images are to be read."""
        self.encoder = encoder
        size = self.config.data.image_size
        self.preprocessing = Preprocessing(size, encoder.mean, encoder.std, encoder.interpolation)

    def loader(self, name: str, stage: StageConfig, training: bool, *, shared: bool = True) -> DataLoader[Any]:
        """Batches of a split; `shared`: of which every process reads its own part."""
        rank, world = (self.processes.rank, self.processes.world) if shared else (0, 1)
        return make_loader(
            self._dataset(name, stage, training, shared),
            stage.batch_size,
            shuffle=training,
            seed=self.config.seed,
            workers=0 if stage.cache else self.config.data.workers,
            rank=rank,
            world=world,
        )

    def name_unreadable(self, split: str, found: dict[int, str]) -> None:
        """Tell of images of a split that had to be left out, each once."""
        for index, reason in found.items():
            self._unreadable_image(split, self.splits[split].samples[index], reason)

    def _unreadable_image(self, split: str, sample: Sample, reason: str) -> None:
        if sample.name not in self.unreadable:
            self.unreadable[sample.name] = reason
            self.watcher.warn(f"left out of {split}: {sample.name}: {reason}")

    def _dataset(self, name: str, stage: StageConfig, training: bool, shared: bool) -> Any:
        split, data = self.splits[name], self.config.data
        augment = training and stage.augment
        if not stage.cache:
            transform = self.preprocessing.train_transform() if augment else self.preprocessing.test_transform()
            return LabelledImages(
                split.table, split.samples, transform, data.image_size, self.config.seed, data.pixel_limit,
                cache=self._image_cache(),
            )  # fmt: skip
        part = stored_part(self.encoder, stage)
        key = name, augment, encoder_key(self.encoder, self.preprocessing, 1, part)  # a stage may have trained it
        if key not in self._datasets:
            self._datasets[key] = self._encoded(name, split, augment, part, shared)
        return self._datasets[key]

    def _encoded(self, name: str, split: Split, augment: bool, part: Part, shared: bool) -> CachedDataset:
        self.encoder.to(self.device)
        if shared and not self.processes.alone:  # each process encodes its part, then all read what all have stored
            self._store(split.samples[self.processes.rank :: self.processes.world], augment, part)
            self.processes.wait()
        store, places, unreadable = self._store(split.samples, augment, part)
        for sample, reason in unreadable:
            self._unreadable_image(name, sample, reason)
        if len(unreadable) == len(split.samples):
            raise OrderlessError(f"not one image of the {name} split could be read (say, {unreadable[0][0].name})")
        return CachedDataset(store, places, split.table, mirror=augment, seed=self.config.seed)

    def _store(self, samples: Sequence[Sample], mirror: bool, part: Part) -> Any:
        self.watcher.encoding(len(samples))
        return store_features(
            self.encoder,
            self.preprocessing,
            samples,
            mirror=mirror,
            device=self.device,
            part=part,
            workers=self.config.data.workers,
            pixel_limit=self.config.data.pixel_limit,
            progress=self.watcher.encoded,
        )

    def _image_cache(self) -> ImageCache | None:
        if not self.config.data.cache_images:
            return None
        cache = ImageCache(cache_root(), self.preprocessing)
        needed = cache.bytes_needed(sum(len(split.samples) for split in self.splits.values()))
        if needed > cache_limit():
            raise UsageError(
                f"the cache of resized images would take {needed / 1e9:.1f} GB, more than ORDERLESS_CACHE_GB allows; "
                "raise that, or train without --cache-images"
            )
        return cache
