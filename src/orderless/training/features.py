"""The feature cache: what a frozen encoder, or its frozen trunk, says of an image is computed once and never again.

A store belongs to one encoder or trunk, its weights and its preprocessing. Inside, features lie in shards of half
floats that are memory-mapped; an image is found by the hash of its bytes, so renamed, moved or shared photos
are not encoded twice. A shard becomes visible when its index file is renamed into place: a killed process
leaves nothing but a temporary file. Deleting the whole folder costs nothing but time.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import compress
from operator import not_
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.utils.data import Dataset

from orderless.config import StageConfig
from orderless.data.dataset import Batch, BatchMemory, ImageDataset, LabelTable, make_loader
from orderless.data.images import PIXEL_LIMIT
from orderless.data.sample import Sample
from orderless.data.transforms import Preprocessing
from orderless.errors import OrderlessError, UnreadableImage
from orderless.files import cache_limit, cache_root, write_bytes, write_text
from orderless.model.encoder import Encoder, in_portions
from orderless.model.folding import fold_batchnorm

VIEWS = 2  # the image and its mirror image; only training needs the second
SHARD_IMAGES = 512  # what a kill can cost at most
ENCODED_TOGETHER = 32  # always so many: the last bits of features depend on it, and must not on what is stored already

Progress = Callable[[int], None]  # called with the number of images done


Part = Literal["encoder", "trunk"]  # whose output is stored


def stored_part(encoder: Encoder, stage: StageConfig) -> Part:
    """A stage on stored features that trains the encoder trains its tail."""
    return "trunk" if stage.learning == "tail" and encoder.has_tail else "encoder"


def encoder_key(encoder: Encoder, preprocessing: Preprocessing, views: int, part: Part = "encoder") -> str:
    """What features depend on besides the image: architecture, every weight, preprocessing."""
    digest = hashlib.sha256(f"{encoder.backbone_name}|{preprocessing}|views={views}".encode())
    layers = nn.ModuleList(encoder.trunk_layers) if part == "trunk" else encoder  # whose weights have other names
    for name, tensor in layers.state_dict().items():
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()[:24]


class FeatureStore:
    """All stored features of one encoder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rows: dict[str, tuple[int, int]] = {}  # image hash -> shard, row
        self.shards: list[NDArray[np.float16]] = []
        if folder.is_dir():
            for index in sorted(folder.glob("*.json")):
                self._add_shard(index)

    def _add_shard(self, index: Path) -> None:
        data = index.with_suffix(".f16")
        try:
            described = json.loads(index.read_text())
            shape = (len(described["images"]), *described["shape"])
            shard = np.memmap(data, dtype=np.float16, mode="r", shape=shape)
        except (OSError, ValueError, KeyError):
            return  # a damaged shard is as good as none: its images are encoded again
        for row, image in enumerate(described["images"]):
            self.rows.setdefault(image, (len(self.shards), row))
        self.shards.append(shard)

    def write_shard(self, images: list[str], features: NDArray[np.float16]) -> None:
        """Store features [images, views, cells, C] so that they are there wholly or not at all."""
        self.folder.mkdir(parents=True, exist_ok=True)
        name = hashlib.sha256("".join(images).encode()).hexdigest()[:16]
        write_bytes(self.folder / f"{name}.f16", features.tobytes())
        write_text(self.folder / f"{name}.json", json.dumps({"images": images, "shape": features.shape[1:]}))
        self._add_shard(self.folder / f"{name}.json")

    def gather(
        self, places: Sequence[tuple[int, int]], views: Sequence[int], out: NDArray[np.float16] | None = None
    ) -> NDArray[np.float16]:
        """Features [B, cells, C] of (shard, row) places, one view of each; in `out`, if there is one."""
        return np.stack([self.shards[s][r, v] for (s, r), v in zip(places, views, strict=True)], out=out)


class CachedDataset(Dataset[Any]):
    """Stored features of a split; in training each image shows its mirror image every other time, by chance.

    Within a batch, images with many labels come first: the decoder wants them so, and need not copy the features.
    """

    def __init__(
        self, store: FeatureStore, places: list[tuple[int, int] | None], table: LabelTable, *, mirror: bool, seed: int
    ) -> None:
        self.store, self.table, self.mirror, self.seed = store, table, mirror, seed
        self.present = [(row, place) for row, place in enumerate(places) if place is not None]
        self._counts = table.labels.sum(1).tolist()
        self._stored, self._features = BatchMemory(np.float16), BatchMemory()

    def __len__(self) -> int:
        return len(self.present)

    def __getitems__(self, keys: list[tuple[int, int]]) -> list[Batch]:
        keys = sorted(keys, key=lambda key: -self._counts[self.present[key[1]][0]])
        rows = [self.present[index][0] for _, index in keys]
        places = [self.present[index][1] for _, index in keys]
        views = [0] * len(keys)
        shape = (len(keys), *self.store.shards[0].shape[2:])
        if not keys:  # a process's share of a small last batch
            return [self.table.batch(torch.zeros(shape), rows)]
        if self.mirror:
            chance = np.random.default_rng((self.seed, keys[0][0])).integers(0, VIEWS, len(self.present))
            views = [int(chance[index]) for _, index in keys]
        stored = torch.from_numpy(self.store.gather(places, views, out=self._stored.take(*shape)))
        features = torch.from_numpy(self._features.take(*shape)).copy_(stored)  # [B, cells, C]
        return [self.table.batch(features, rows)]

    def collate(self, batches: list[Batch]) -> Batch:
        return batches[0]


def store_features(
    encoder: Encoder,
    preprocessing: Preprocessing,
    samples: Sequence[Sample],
    *,
    mirror: bool,
    device: torch.device,
    part: Part = "encoder",
    workers: int = 0,
    pixel_limit: int = PIXEL_LIMIT,
    progress: Progress | None = None,
) -> tuple[FeatureStore, list[tuple[int, int] | None], list[tuple[Sample, str]]]:
    """Encode what the cache lacks, with `mirror` the mirror images too.

    Returns the store, each sample's place in it, and what cannot be read.
    """
    root, views = cache_root() / "features", VIEWS if mirror else 1
    store = FeatureStore(root / encoder_key(encoder, preprocessing, views, part))
    if store.folder.is_dir():
        os.utime(store.folder)  # recently used: the last to be removed when room is needed
    with ThreadPoolExecutor(8) as pool:
        stamps = list(pool.map(_stamp, samples))  # before the hashes: what changes after this is noticed
        hashes = list(pool.map(_image_hash, samples))
    reasons: dict[str | None, str] = {None: "there is no such file, or no permission to read it"}
    first = {h: row for row, h in reversed(list(enumerate(hashes))) if h is not None}
    missing = sorted(row for h, row in first.items() if h not in store.rows)
    if progress:
        progress(len(samples) - len(missing))
    shard_hashes: list[str] = []
    shard_features: list[NDArray[np.float16]] = []

    def flush() -> None:
        if shard_hashes:  # a batch of nothing but unreadable images brings no features
            _make_room(root, store.folder, sum(f.nbytes for f in shard_features))
            store.write_shard(list(shard_hashes), np.concatenate(shard_features))
            shard_hashes.clear()
            shard_features.clear()

    left = [samples[row] for row in missing]
    batches = _encoded(encoder, part, preprocessing, left, views, device, workers, pixel_limit)
    for kept, features, failed in batches:
        for place, reason in failed:
            reasons[hashes[missing[place]]] = reason  # holds for every copy of the file
        same = [_stamp(left[place]) == stamps[missing[place]] for place in kept]
        for place in compress(kept, map(not_, same)):  # or it would be kept under the name of what was there before
            reasons[hashes[missing[place]]] = "it changed while it was read"
        shard_hashes += [str(hashes[missing[place]]) for place in compress(kept, same)]
        if any(same):
            shard_features.append(features[same])
        if len(shard_hashes) >= SHARD_IMAGES:
            flush()
        if progress:
            progress(len(kept) + len(failed))
    flush()
    places = [store.rows.get(h) if h is not None else None for h in hashes]
    unreadable = [(sample, reasons[h]) for sample, h in zip(samples, hashes, strict=True) if h in reasons]
    return store, places, unreadable


@torch.inference_mode()
def _encoded(
    encoder: Encoder,
    part: Part,
    preprocessing: Preprocessing,
    samples: list[Sample],
    views: int,
    device: torch.device,
    workers: int,
    pixel_limit: int,
) -> Iterator[tuple[list[int], NDArray[np.float16], tuple[tuple[int, str], ...]]]:
    if not samples:
        return
    dataset = ImageDataset(samples, preprocessing.test_transform(), preprocessing.size, pixel_limit=pixel_limit)
    encoder = fold_batchnorm(encoder)
    encode = encoder.trunk if part == "trunk" else encoder
    for batch in make_loader(dataset, ENCODED_TOGETHER, shuffle=False, workers=workers):
        images, found = batch.inputs.to(device), len(batch.inputs)
        features = np.zeros((0,), np.float16)
        if found:
            if found < ENCODED_TOGETHER:
                images = images[torch.arange(ENCODED_TOGETHER) % found].contiguous(memory_format=torch.channels_last)
            encoded = [in_portions(encode, view) for view in (images, images.flip(3))[:views]]
            features = torch.stack(encoded, dim=1)[:found].half().cpu().numpy()  # [B, views, cells, C]
        yield batch.rows, features, batch.unreadable


def _stamp(sample: Sample) -> tuple[int, int] | None:
    """Changes when the file does; None if the image has no file of its own, or none any more."""
    try:
        found = sample.path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _image_hash(sample: Sample) -> str | None:
    try:
        return hashlib.sha256(sample.source_bytes()).hexdigest()[:32]
    except (OSError, UnreadableImage):
        return None


def _remove_abandoned(folder: Path) -> None:
    """What a killed process was writing. No write takes an hour."""
    for file in folder.glob("*.tmp"):
        with suppress(FileNotFoundError):  # renamed meanwhile
            if file.stat().st_mtime < time.time() - 3600:
                file.unlink()


def _make_room(root: Path, keep: Path, needed: int) -> None:
    """Remove the stores that were not used for longest until `needed` bytes more fit under the limit."""
    sizes: dict[Path, int] = {}
    used: dict[Path, float] = {}
    for folder in root.glob("*"):
        with suppress(FileNotFoundError):  # another process may remove it, or rename what it wrote
            used[folder] = folder.stat().st_mtime
            _remove_abandoned(folder)
            sizes[folder] = sum(file.stat().st_size for file in folder.glob("*") if file.suffix != ".tmp")
    limit = cache_limit()
    for folder in sorted(sizes, key=used.__getitem__):
        if sum(sizes.values()) + needed <= limit:
            return
        if folder != keep:
            shutil.rmtree(folder, ignore_errors=True)
            del sizes[folder]
    if sum(sizes.values()) + needed > limit:
        raise OrderlessError(
            f"the feature cache {root} would grow beyond {limit / 1e9:g} GB; set ORDERLESS_CACHE_GB higher, "
            "choose a smaller --image-size, or train without it (--finetune)"
        )
