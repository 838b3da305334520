"""Micro-batching: a bounded queue of images, one thread that tags them, several at once.

The thread alone touches the models. Images stay encoded while they wait (a photo is a hundred times larger
decoded), and are decoded one by one as the batch is put together. While a batch is tagged the next one gathers by
itself, so under load batches are full and an idle service answers at once.
"""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias

from PIL import Image

from orderless.data.images import open_image
from orderless.errors import OrderlessError, UnreadableImage
from orderless.results import Result
from orderless.service.limits import FORMATS, Limits
from orderless.service.metrics import Metrics
from orderless.service.models import Model

Answer: TypeAlias = "asyncio.Future[Result]"

log = logging.getLogger("orderless.service")


class QueueFull(OrderlessError):
    """More waits than can be answered in time; `retry_after` is in whole seconds."""

    def __init__(self, retry_after: int) -> None:
        super().__init__(f"the service is busy; try again in {retry_after} s")
        self.retry_after = retry_after


class TaggingFailed(OrderlessError):
    """The model failed, not the image."""


@dataclass(eq=False)
class Job:
    """One image that waits; cancelling `answer` takes it out of the queue."""

    model: Model
    data: bytes
    answer: Answer
    since: float = field(default_factory=time.monotonic)


class Batcher:
    """Use it within one event loop: `start`, `submit`, `close`."""

    def __init__(self, limits: Limits, metrics: Metrics) -> None:
        self._limits, self._metrics = limits, metrics
        self._waiting: deque[Job] = deque()
        self._news = asyncio.Event()
        self._closing = False
        self._image_seconds = 0.05  # how long an image takes, a moving average
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="tagger")
        self._task: asyncio.Task[None] | None = None
        metrics.queue_length.set_function(lambda: len(self._waiting))

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run())
        self._task.add_done_callback(_tell_of_failure)

    @property
    def broken(self) -> bool:
        """It will never tag again."""
        return self._task is not None and self._task.done() and not self._closing

    @property
    def ready(self) -> bool:
        return self._task is not None and not self._task.done() and not self._closing

    @property
    def room(self) -> int:
        """How many more images may wait."""
        return self._limits.queue - len(self._waiting)

    def full(self) -> QueueFull:
        return QueueFull(max(1, math.ceil(len(self._waiting) * self._image_seconds)))

    def submit(self, model: Model, images: Sequence[bytes]) -> list[Answer]:
        """Queue all images or none. An answer's exception is `UnreadableImage` or `TaggingFailed`."""
        if len(images) > self.room:
            raise self.full()
        loop = asyncio.get_running_loop()
        jobs = [Job(model, data, loop.create_future()) for data in images]
        for job in jobs:
            job.answer.add_done_callback(partial(self._withdraw, job))
        self._waiting.extend(jobs)
        self._news.set()
        return [job.answer for job in jobs]

    async def close(self) -> None:
        """Tag what is queued, then stop."""
        self._closing = True
        self._news.set()
        if self._task is not None:
            await self._task
        self._thread.shutdown()

    def _withdraw(self, job: Job, answer: Answer) -> None:
        if answer.cancelled() and job in self._waiting:
            self._waiting.remove(job)
            self._metrics.withdrawn.inc()

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while batch := await self._gather():
            started = time.monotonic()
            work = loop.run_in_executor(self._thread, tag, batch, self._limits.max_pixels)
            await asyncio.wait([work])  # does not raise: a batch that fails must not end the service
            error = work.exception()
            if error is not None:
                log.error("tagging failed", exc_info=error)
                outcomes: list[Result | OrderlessError] = [TaggingFailed("the model failed on this image")] * len(batch)
            else:
                outcomes = work.result()
            for job, outcome in zip(batch, outcomes, strict=True):
                self._answer(job, outcome)
            took = (time.monotonic() - started) / len(batch)
            self._image_seconds += 0.2 * (took - self._image_seconds)
            self._metrics.batch_size.observe(len(batch))

    async def _gather(self) -> list[Job]:
        """The jobs for the model of the oldest one, at most a batch; none when the service closes."""
        while True:
            while not self._waiting:
                if self._closing:
                    return []
                self._news.clear()
                await self._news.wait()
            if len(self._waiting) < self._limits.batch_size and not self._closing:
                await asyncio.sleep(self._limits.batch_wait_ms / 1000)
            if self._waiting:  # else all were withdrawn meanwhile
                break
        model = self._waiting[0].model
        batch = [job for job in self._waiting if job.model is model][: self._limits.batch_size]
        chosen = set(batch)
        self._waiting = deque(job for job in self._waiting if job not in chosen)
        return batch

    def _answer(self, job: Job, outcome: Result | OrderlessError) -> None:
        tagged = not isinstance(outcome, OrderlessError)
        self._metrics.images.labels("tagged" if tagged else "failed").inc()
        self._metrics.image_seconds.observe(time.monotonic() - job.since)
        if job.answer.done():  # its client left while it was tagged
            return
        if isinstance(outcome, OrderlessError):
            job.answer.set_exception(outcome)
        else:
            job.answer.set_result(outcome)


def _tell_of_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and task.exception() is not None:
        log.critical("the queue is broken; restart the service", exc_info=task.exception())


def tag(batch: Sequence[Job], max_pixels: int) -> list[Result | OrderlessError]:
    """Decode and tag, in the batch's order; an image that cannot be read has its error instead."""
    outcomes: list[Result | OrderlessError | None] = [None] * len(batch)

    def decoded() -> Iterator[Image.Image]:
        for i, job in enumerate(batch):
            try:
                yield open_image(job.data, size=job.model.image_size, pixel_limit=max_pixels, formats=FORMATS)
            except UnreadableImage as error:
                outcomes[i] = error

    results = iter(batch[0].model.tagger.predict_images(decoded()))
    return [outcome or next(results) for outcome in outcomes]
