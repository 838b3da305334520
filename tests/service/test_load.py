"""Sustained load past capacity, from another process: 429 and no time-outs, bounded waits, flat memory.

ORDERLESS_LOAD_SECONDS=600 pytest -m slow -s tests/service/test_load.py   ten minutes of it
"""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from pathlib import Path

import httpx
import numpy as np
import pytest
from tests.service.serving import Service, serving

pytestmark = pytest.mark.slow
SECONDS = float(os.environ.get("ORDERLESS_LOAD_SECONDS", "30"))
CLIENTS, QUEUE, BATCH = 40, 8, 4


class Load:
    """Clients that ask without a pause, and what they saw."""

    def __init__(self, service: Service, photo: bytes) -> None:
        self.service, self.photo = service, photo
        self.latencies: list[float] = []
        self.statuses: Counter[int] = Counter()
        self.memory: list[int] = []
        self.end = time.monotonic() + SECONDS

    async def run(self) -> None:
        limits = httpx.Limits(max_connections=CLIENTS)
        async with httpx.AsyncClient(base_url=self.service.address, timeout=60, limits=limits) as client:
            await asyncio.gather(self._watch(), *(self._ask(client) for _ in range(CLIENTS)))

    async def _ask(self, client: httpx.AsyncClient) -> None:
        while (started := time.monotonic()) < self.end:
            answer = await client.post("/v1/tags?attention=true", content=self.photo)  # a time-out would raise
            self.statuses[answer.status_code] += 1
            if answer.status_code == 200:
                self.latencies.append(time.monotonic() - started)
            else:
                assert int(answer.headers["retry-after"]) >= 1
                await asyncio.sleep(0.1)  # far less than it was told

    async def _watch(self) -> None:
        while time.monotonic() < self.end:
            self.memory.append(self.service.memory())
            await asyncio.sleep(SECONDS / 40)


def test_sustained_load_past_capacity(runs: list[Path], photo: bytes) -> None:
    with serving(runs[0], queue=QUEUE, batch_size=BATCH, max_images=4, timeout=30) as service:
        started = time.monotonic()
        load = Load(service, photo)
        asyncio.run(load.run())
        assert httpx.post(f"{service.address}/v1/tags", content=photo, timeout=60).status_code == 200
        assert service.metric("orderless_queue_images") == 0
        assert service.metric("orderless_held_bytes") == 0
        images = service.metric("orderless_image_seconds_count")
        waited = service.metric("orderless_image_seconds_sum")
        seconds = time.monotonic() - started
    # Besides those in the queue and in the model nobody waits, at no moment. It holds at whatever speed.
    assert waited <= (QUEUE + BATCH) * seconds
    assert images == load.statuses[200] + 1
    assert set(load.statuses) == {200, 429}
    median, slow, slowest = np.percentile(load.latencies, (50, 99, 100))
    print(
        f"\n{SECONDS:g} s, {CLIENTS} clients: {load.statuses[200]} answered, {load.statuses[429]} turned away; "
        f"seconds to an answer: median {median:.3f}, 99 % {slow:.3f}, most {slowest:.3f}; "
        f"memory {load.memory[len(load.memory) // 4] / 1e6:.0f} to {load.memory[-1] / 1e6:.0f} MB"
    )
    assert load.memory[-1] - load.memory[len(load.memory) // 4] < 40_000_000
