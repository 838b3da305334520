"""What runs the encoder: time an image with each runtime, and whether `--runtime auto` picks what is done first."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import torch

from orderless.bench.material import write_run
from orderless.bench.measure import Row, in_turns
from orderless.errors import UsageError
from orderless.runtimes import RUNTIMES, choose_runtime
from orderless.tagger import Result, Tagger, load

FEW, MANY = 500, 100_000  # photos of a shop, photos of an archive


def rows(quick: bool) -> Iterator[Row]:
    backbone, size = ("test_resnet", 64) if quick else ("lite0", 192)
    names = ["eager"] if quick else list(RUNTIMES)
    with tempfile.TemporaryDirectory() as folder:
        run = write_run(Path(folder) / "run", backbone, size)
        taggers = {}
        for name in names:
            try:
                taggers[name] = {batch: load(run, device="cpu", runtime=name) for batch in (1, 32)}
            except UsageError:
                continue  # this machine cannot run it
    start: dict[str, float] = {}  # seconds until the first batch of 32 is done
    per_image: dict[str, float] = {}
    for batch in (1, 32):
        images = torch.randn(batch, 3, size, size)
        expected = _tag(taggers["eager"][batch], images)
        for name, tagger in taggers.items():
            before = time.perf_counter()
            if [result.labels for result in _tag(tagger[batch], images)] != [result.labels for result in expected]:
                raise AssertionError(f"the runtime {name} gives other tags than eager")
            start[name] = time.perf_counter() - before
            ours, theirs = in_turns(
                partial(_tag, tagger[batch], images),
                partial(_tag, taggers["eager"][batch], images),
                quick,
            )
            if name == "eager":
                eager = theirs / batch
            per_image[name] = eager * ours / theirs  # the ratio is what was measured well
            yield Row("runtime", f"{name} against eager, {backbone} {size}, batch {batch}", ours, theirs, theirs / ours)
    for images_to_tag in (FEW,) if quick else (FEW, MANY):
        total = {name: start[name] + images_to_tag * per_image[name] for name in taggers}
        picked, best = choose_runtime("auto", images_to_tag), min(total, key=total.__getitem__)
        case = f"auto picks {picked} for {images_to_tag:,} photos, first done: {best}"
        # One percent: where two runtimes are as good as equal, either is the right pick.
        yield Row("runtime", case, total[picked], total[best], total[picked] / total[best], ("<=", 1.01))


def _tag(tagger: Tagger, images: torch.Tensor) -> list[Result]:
    return tagger._results(tagger._predict_tensor(images), [""] * len(images))
