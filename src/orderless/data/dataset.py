"""Samples as batches of tensors, the same whatever the number of workers or processes.

The sampler hands out (epoch, index) pairs, and the randomness of an augmented image follows from them and
the seed alone. So a resumed run sees what an uninterrupted one would have seen, and two processes see
together what one would have seen alone.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache, partial
from itertools import islice
from typing import Any, NamedTuple, TypeVar
from weakref import ref

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import BatchSampler, DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

from orderless.data.image_cache import ImageCache
from orderless.data.images import PIXEL_LIMIT
from orderless.data.sample import Sample
from orderless.data.transforms import Transform
from orderless.errors import UnreadableImage
from orderless.labels import Vocabulary

T = TypeVar("T")


class Batch(NamedTuple):
    """A batch of images (or of their stored features) with their label sets."""

    inputs: Tensor  # [B, 3, S, S] images or [B, cells, C] features
    labels: Tensor  # [B, m] bool
    ignore: Tensor  # [B, m] bool, cells that evaluation leaves out
    rows: Tensor  # [B] place of each sample in its split
    counts: tuple[int, ...]  # labels of each image: known here, so that no device has to be asked
    unreadable: tuple[tuple[int, str], ...] = ()  # index and reason of images that had to be left out


class LabelTable:
    """The label sets of a split as tensors."""

    def __init__(self, samples: Sequence[Sample], vocabulary: Vocabulary, *, ignore_unknown: bool = False) -> None:
        self.labels = torch.zeros(len(samples), len(vocabulary), dtype=torch.bool)  # [n, m]
        self.ignore = torch.zeros(len(samples), len(vocabulary), dtype=torch.bool)  # [n, m]
        for row, sample in enumerate(samples):
            self.labels[row, vocabulary.indices(sample.labels, ignore_unknown=ignore_unknown)] = True
            self.ignore[row, vocabulary.indices(sample.ignore, ignore_unknown=True)] = True

    def batch(self, inputs: Tensor, index: Sequence[int], unreadable: tuple[tuple[int, str], ...] = ()) -> Batch:
        rows = torch.tensor(index, dtype=torch.long)
        labels = self.labels[rows]
        counts = tuple(labels.sum(1).tolist())
        return Batch(inputs, labels, self.ignore[rows], rows, counts, unreadable)


class ImageBatch(NamedTuple):
    """Images without labels."""

    inputs: Tensor  # [B, 3, S, S]
    rows: list[int]  # place of each sample in its list
    unreadable: tuple[tuple[int, str], ...]  # index and reason of images that had to be left out


class BatchMemory:
    """Memory for batches, used again when nobody holds the batch that lay in it.

    New memory is cleared by the system, page by page, before anything can be written there.
    """

    KEPT = 2  # a loop holds its batch while the next one is made

    def __init__(self, dtype: type[Any] = np.float32) -> None:
        self._dtype = dtype
        # Memory, and who has it. What a thread looks at is not in the queue: no other can take it meanwhile.
        self._lent: deque[tuple[NDArray[Any], ref[NDArray[Any]]]] = deque(maxlen=self.KEPT)

    def take(self, *shape: int) -> NDArray[Any]:
        """An array of any values, and of no one else as long as it, or a tensor made of it, lives."""
        view = self._free(shape)
        if view is None:
            view = np.empty(shape, self._dtype)[:]  # by NumPy, which asks the system for large pages
        assert isinstance(view.base, np.ndarray)
        self._lent.append((view.base, ref(view)))
        return view

    def _free(self, shape: tuple[int, ...]) -> NDArray[Any] | None:
        for _ in range(len(self._lent)):
            with suppress(IndexError):  # another thread took the last
                memory, holder = self._lent.popleft()
                if holder() is None and memory.shape[1:] == shape[1:] and len(memory) >= shape[0]:
                    return memory[: shape[0]]
                self._lent.append((memory, holder))
        return None

    def __reduce__(self) -> tuple[type[BatchMemory], tuple[type[Any]]]:
        """A worker process begins with none."""
        return BatchMemory, (self._dtype,)


class ImageDataset(Dataset[Any]):
    """Decoded, transformed images; an unreadable one is passed on by name, never replaced."""

    def __init__(
        self,
        samples: Sequence[Sample],
        transform: Transform,
        size: int,
        seed: int = 0,
        pixel_limit: int = PIXEL_LIMIT,
        cache: ImageCache | None = None,
    ) -> None:
        self.samples, self.transform, self.cache = samples, transform, cache
        self.size, self.seed, self.pixel_limit = size, seed, pixel_limit
        self._memory = BatchMemory()

    def __len__(self) -> int:
        return len(self.samples)

    def __getitems__(self, keys: list[tuple[int, int]]) -> list[ImageBatch]:
        """The images of a batch, each written to its place: new memory for every image takes as long as resizing it."""
        # Colours last, as they come and as the encoder wants.
        inputs = self._memory.take(len(keys), self.size, self.size, 3)  # [B, S, S, 3]
        # What is random draws from the generator of the whole process, so that is done one by one.
        each = map if self.transform.random else side_by_side
        reasons = list(each(partial(self._try, inputs), range(len(keys)), keys))
        good = [place for place, reason in enumerate(reasons) if reason is None]
        if len(good) < len(keys):
            inputs[: len(good)] = inputs[good]
        read = [keys[place][1] for place in good]
        failed = tuple((index, reason) for (_, index), reason in zip(keys, reasons, strict=True) if reason is not None)
        images = torch.from_numpy(inputs)[: len(read)].permute(0, 3, 1, 2)  # [B, 3, S, S]
        return [ImageBatch(images, read, failed)]

    def _try(self, inputs: NDArray[np.float32], place: int, key: tuple[int, int]) -> str | None:
        """Write an image to its place, or say why that cannot be done.

        It has the whole batch, not its place alone: so no one gets that memory while a thread still writes there.
        """
        try:
            self._write(*key, inputs[place])
        except UnreadableImage as error:
            return error.reason
        return None

    def _write(self, epoch: int, index: int, place: NDArray[np.float32]) -> None:
        sample = self.samples[index]
        if self.cache is not None:
            image = self.cache.load(sample, self.pixel_limit)
        else:
            image = sample.load(size=self.size, pixel_limit=self.pixel_limit)
        if not self.transform.random:
            self.transform.write(image, place)
            return
        with torch.random.fork_rng(devices=[]):
            # Not torch.manual_seed: that visits every kind of device, and takes as long as decoding a small image.
            torch.default_generator.manual_seed(_mix(self.seed, epoch, index))
            self.transform.write(image, place)

    def collate(self, batches: list[ImageBatch]) -> Any:
        return batches[0]


class LabelledImages(ImageDataset):
    """Images with their label sets."""

    def __init__(self, table: LabelTable, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.table = table

    def collate(self, batches: list[ImageBatch]) -> Batch:
        return self.table.batch(*batches[0])


class EpochSampler(DistributedSampler[Any]):
    """Shuffles by (seed, epoch) and hands out (epoch, index) pairs."""

    def __init__(self, length: int, seed: int, shuffle: bool) -> None:
        super().__init__(range(length), num_replicas=1, rank=0, shuffle=shuffle, seed=seed)  # type: ignore[arg-type]

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return ((self.epoch, index) for index in super().__iter__())


class SharedBatches(BatchSampler):
    """The batches of an epoch, or one process's share of each: together they are what one process would see.

    No image comes twice, so the last share may be empty. After a resume, `skip` batches were seen before.
    """

    sampler: EpochSampler

    def __init__(self, sampler: EpochSampler, batch_size: int, rank: int = 0, world: int = 1) -> None:
        super().__init__(sampler, batch_size, drop_last=False)
        self.rank, self.world = rank, world
        self.skip = 0

    def __iter__(self) -> Iterator[Any]:
        # A generator: a loader with workers asks for two iterators at its start, and uses only the second.
        seen, self.skip = self.skip, 0
        yield from (batch[self.rank :: self.world] for batch in islice(super().__iter__(), seen, None))


def make_loader(
    dataset: ImageDataset | Any,
    batch_size: int,
    *,
    shuffle: bool,
    seed: int = 0,
    workers: int = 0,
    rank: int = 0,
    world: int = 1,
) -> DataLoader[Any]:
    """A loader over a dataset that has `collate`; workers only where decoding is worth them.

    `batch_size` is that of all processes together.
    """
    return DataLoader(
        dataset,
        batch_sampler=SharedBatches(EpochSampler(len(dataset), seed, shuffle), batch_size, rank, world),
        collate_fn=dataset.collate,
        num_workers=workers,
        pin_memory=torch.cuda.is_available(),
        persistent_workers=workers > 0,
    )


def side_by_side(call: Callable[..., T], *arguments: Iterable[Any]) -> Iterator[T]:
    """`map` in as many threads as PyTorch may use; Python lets them decode images at the same time."""
    threads = torch.get_num_threads()
    return map(call, *arguments) if threads == 1 else _pool(threads).map(call, *arguments)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, "decode")


def _mix(*numbers: int) -> int:
    """One 63-bit seed from several small numbers."""
    mixed = 0
    for number in numbers:
        mixed = (mixed * 6364136223846793005 + number + 1442695040888963407) % (1 << 63)
    return mixed
