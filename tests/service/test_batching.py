"""The queue: batches that fill by themselves, a bound that holds, jobs that can be taken back."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterable
from typing import Any

import pytest
from PIL import Image
from tests.service.conftest import jpeg

from orderless.errors import UnreadableImage
from orderless.labels import Vocabulary
from orderless.results import Result, Tag
from orderless.service.batching import Batcher, QueueFull
from orderless.service.limits import Limits
from orderless.service.metrics import Metrics
from orderless.service.models import Model


class Slow:
    """A tagger that waits until it is let go, and says how wide the image is."""

    def __init__(self) -> None:
        self.vocabulary = Vocabulary(("a",), (1,))
        self.go = threading.Event()
        self.entered = threading.Event()
        self.batches: list[int] = []

    def predict_images(self, images: Iterable[Image.Image]) -> list[Result]:
        self.entered.set()
        assert self.go.wait(20)
        results = [Result("x", tags=(Tag(str(image.width), 1.0),)) for image in images]
        self.batches.append(len(results))
        return results


def model(tagger: Slow, name: str = "m") -> Model:
    return Model(name, "run", tagger, 512)  # so large that JPEGs are decoded at their own size


def run(work: Any) -> Any:
    return asyncio.run(asyncio.wait_for(work, 30))


async def until(condition: Any) -> None:
    while not condition():
        await asyncio.sleep(0.005)


def test_what_waits_is_tagged_together_and_answers_keep_their_place() -> None:
    async def work() -> None:
        tagger, batcher = Slow(), Batcher(Limits(batch_size=3, batch_wait_ms=0, queue=8, max_images=8), Metrics())
        batcher.start()
        one = model(tagger)
        first = batcher.submit(one, [jpeg(size=(40, 20))])
        await until(tagger.entered.is_set)
        others = batcher.submit(one, [jpeg(size=(50 + i, 20)) for i in range(4)])
        tagger.go.set()
        labels = [result.labels[0] for result in await asyncio.gather(*first, *others)]
        assert labels == ["40", "50", "51", "52", "53"]
        assert tagger.batches == [1, 3, 1]
        await batcher.close()

    run(work())


def test_a_bad_image_does_not_shift_the_others() -> None:
    async def work() -> None:
        tagger, batcher = Slow(), Batcher(Limits(batch_wait_ms=20), Metrics())
        tagger.go.set()
        batcher.start()
        answers = batcher.submit(model(tagger), [b"no", jpeg(size=(41, 20)), b"", jpeg(size=(42, 20))])
        outcomes = await asyncio.gather(*answers, return_exceptions=True)
        assert [isinstance(outcome, UnreadableImage) for outcome in outcomes] == [True, False, True, False]
        assert [o.labels[0] for o in outcomes if isinstance(o, Result)] == ["41", "42"]
        await batcher.close()

    run(work())


def test_every_batch_is_for_one_model() -> None:
    async def work() -> None:
        a, b, batcher = Slow(), Slow(), Batcher(Limits(batch_wait_ms=50), Metrics())
        a.go.set()
        b.go.set()
        batcher.start()
        one, two = model(a, "a"), model(b, "b")
        answers = [
            *batcher.submit(one, [jpeg()]),
            *batcher.submit(two, [jpeg(), jpeg()]),
            *batcher.submit(one, [jpeg()]),
        ]
        await asyncio.gather(*answers)
        assert (a.batches, b.batches) == ([2], [2])
        await batcher.close()

    run(work())


def test_full_means_full_and_leaving_makes_room() -> None:
    async def work() -> None:
        tagger, metrics = Slow(), Metrics()
        batcher = Batcher(Limits(queue=4, max_images=4, batch_wait_ms=0), metrics)
        batcher.start()
        one = model(tagger)
        busy = batcher.submit(one, [jpeg()])
        await until(tagger.entered.is_set)
        waiting = batcher.submit(one, [jpeg()] * 3)
        with pytest.raises(QueueFull) as full:
            batcher.submit(one, [jpeg()] * 2)  # all or none
        assert full.value.retry_after >= 1
        assert batcher.room == 1
        waiting[0].cancel()
        await asyncio.sleep(0)
        assert batcher.room == 2
        late = batcher.submit(one, [jpeg()] * 2)
        tagger.go.set()
        await asyncio.gather(*busy, *waiting[1:], *late)
        assert sum(tagger.batches) == 5  # the one that left was never looked at
        assert metrics.withdrawn._value.get() == 1
        await batcher.close()

    run(work())


def test_closing_answers_what_waits() -> None:
    async def work() -> None:
        tagger, batcher = Slow(), Batcher(Limits(batch_size=1), Metrics())
        batcher.start()
        answers = batcher.submit(model(tagger), [jpeg()] * 5)
        closing = asyncio.ensure_future(batcher.close())
        await until(tagger.entered.is_set)
        assert not batcher.ready
        tagger.go.set()
        await closing
        assert all(answer.done() and answer.result().tags for answer in answers)

    run(work())


def test_clients_that_always_leave_do_not_wear_the_queue_out() -> None:
    async def work() -> None:
        tagger, batcher = Slow(), Batcher(Limits(batch_size=4, batch_wait_ms=0, queue=8, max_images=8), Metrics())
        tagger.go.set()
        batcher.start()
        one, photo = model(tagger), jpeg()
        for _ in range(2 * sys.getrecursionlimit()):
            (answer,) = batcher.submit(one, [photo])
            await asyncio.sleep(0)  # the queue wakes up and waits for more
            answer.cancel()
            await asyncio.sleep(0)
        assert batcher.ready
        assert not batcher.broken
        assert (await batcher.submit(one, [photo])[0]).labels
        await batcher.close()

    run(work())


def test_a_broken_queue_is_told_of(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        batcher = Batcher(Limits(), Metrics())

        async def fail() -> list[Any]:
            raise RuntimeError("oh")

        monkeypatch.setattr(batcher, "_gather", fail)
        batcher.start()
        await until(lambda: batcher.broken)
        assert not batcher.ready

    run(work())
    assert "the queue is broken" in caplog.text
