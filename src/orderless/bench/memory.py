"""One job, in a process of its own, that reports its peak of private memory: `python -m orderless.bench.memory`.

Private memory is what the process cannot give back: pages of the memory-mapped feature store are not counted,
because the system drops them when it needs room.
"""

from __future__ import annotations

import resource
import sys
import tempfile
from collections.abc import Iterable
from itertools import cycle, islice
from pathlib import Path

import numpy as np
import torch

from orderless.kept_memory import keep_freed_memory


def peak_of(work: Iterable[object]) -> float:
    """Megabytes: the most that was held after any item of work."""
    return max(_private() for _ in work)


def _private() -> float:
    status = Path("/proc/self/status")
    if not status.exists():  # no Linux: the peak of everything
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    line = next(line for line in status.read_text().splitlines() if line.startswith("RssAnon"))
    return int(line.split()[1]) / 1024


def predict(run: str, photos: str, images: int) -> float:
    """Tag so many images; the files of the folder are taken again and again."""
    from orderless.tagger import load

    files = sorted(Path(photos).glob("*.jpg"))
    return peak_of(load(run, device="cpu").predict_many(islice(cycle(files), images)))


def train(images: int) -> float:
    """An epoch of a decoder on the stored features of so many images."""
    from orderless.data.dataset import LabelTable, make_loader
    from orderless.data.sample import Sample
    from orderless.labels import Vocabulary
    from orderless.loss import sequence_loss
    from orderless.model.decoder import SequenceDecoder
    from orderless.order import pla
    from orderless.training.features import CachedDataset, FeatureStore

    names = tuple(f"label {number:02d}" for number in range(80))
    samples = [Sample(Path(str(i)), (names[i % 80], names[(i + 7) % 80])) for i in range(images)]
    table = LabelTable(samples, Vocabulary(names, (1,) * 80))
    decoder = SequenceDecoder(64, 80, hidden_size=64, embedding_size=32, attention_size=32)
    optimizer = torch.optim.AdamW(decoder.parameters(), fused=True)
    with tempfile.TemporaryDirectory() as folder:
        store = FeatureStore(Path(folder))
        shard = np.random.default_rng(0).random((500, 2, 16, 64), np.float32).astype(np.float16)
        for first in range(0, images, len(shard)):
            count = min(len(shard), images - first)
            store.write_shard([f"{first}/{row}" for row in range(count)], shard[:count])
        dataset = CachedDataset(store, list(store.rows.values()), table, mirror=True, seed=0)

        def steps() -> Iterable[None]:
            for batch in make_loader(dataset, 64, shuffle=True):
                optimizer.zero_grad()
                logits, _ = decoder(batch.inputs, [count + 1 for count in batch.counts])
                torch.autograd.backward(sequence_loss(logits, pla(logits, batch.labels)))
                optimizer.step()
                yield

        return peak_of(steps())


if __name__ == "__main__":
    keep_freed_memory()  # as the commands do
    match sys.argv[1:]:
        case ["predict", run, photos, images]:
            print(predict(run, photos, int(images)))
        case ["train", images]:
            print(train(int(images)))
