"""Strangers' input: mutated images, and requests made up from the service's own OpenAPI. No 5xx, nothing forgotten.

ORDERLESS_MUTATED=10000 pytest -m slow tests/service/test_fuzz.py   the full number of images
"""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis.errors import Unsatisfiable
from tests.service.conftest import jpeg
from tests.service.mutated import mutated_images
from tests.service.serving import serving

pytestmark = pytest.mark.slow
COUNT = int(os.environ.get("ORDERLESS_MUTATED", "1000"))
BATCH = 8


def test_mutated_images_are_tagged_or_named_as_failed(runs: list[Path]) -> None:
    tagged = failed = 0
    memory = []
    with serving(runs[0]) as service, httpx.Client(base_url=service.address, timeout=120) as client:
        images = mutated_images(COUNT)
        while batch := list(islice(images, BATCH)):
            files = [("images", (f"{i}.jpg", image)) for i, image in enumerate(batch)]
            answer = client.post("/v1/tags?attention=true&steps=true", files=files)
            assert answer.status_code == 200, answer.text
            entries = answer.json()["images"]
            assert [entry["name"] for entry in entries] == [name for _, (name, _) in files]  # every one, in its place
            for entry, image in zip(entries, batch, strict=True):
                assert (entry["error"] is None) or (entry["tags"] == [])
                tagged += entry["error"] is None
                failed += entry["error"] is not None
                if image is batch[0]:  # and as a body of its own
                    alone = client.post("/v1/tags", content=image or b"-").status_code
                    assert alone == (200 if entry["error"] is None else 422)
            memory.append(service.memory())
        assert client.post("/v1/tags", content=jpeg()).status_code == 200
        assert service.metric("orderless_held_bytes") == 0
    first, last = (round(size / 1e6) for size in (memory[0], memory[-1]))
    print(f"\n{COUNT} mutated images: {tagged} tagged, {failed} failed; memory {first} to {last} MB")
    assert tagged + failed == COUNT
    assert tagged > COUNT // 20
    assert failed > COUNT // 20
    assert memory[-1] - memory[len(memory) // 4] < 60_000_000


def test_requests_made_up_from_the_openapi() -> None:
    schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")
    from hypothesis import HealthCheck, given, seed, settings
    from schemathesis.specs.openapi import checks

    conformance = [
        checks.status_code_conformance,
        checks.content_type_conformance,
        checks.response_schema_conformance,
        checks.response_headers_conformance,
    ]
    with serving(max_upload_mb=1) as service:
        schema = schemathesis.openapi.from_url(f"{service.address}/openapi.json")
        operations = [result.ok() for result in schema.get_all_operations()]
        assert {operation.path for operation in operations} >= {"/v1/tags", "/v1/labels", "/predict", "/setup"}
        for operation in operations:
            for mode in schemathesis.GenerationMode:
                tried = 0

                @seed(0)
                @settings(max_examples=80, deadline=None, database=None, suppress_health_check=list(HealthCheck))
                @given(case=operation.as_strategy(generation_mode=mode))
                def run(case: Any) -> None:
                    nonlocal tried
                    tried += 1
                    answer = case.call()
                    assert answer.status_code < 500, (case, answer.text)
                    case.validate_response(answer, checks=conformance)

                try:
                    run()
                except Unsatisfiable:
                    # A route without input cannot be asked wrongly.
                    assert mode is schemathesis.GenerationMode.NEGATIVE
                    assert operation.method.upper() == "GET" or operation.path == "/setup"
                print(f"{operation.method.upper()} {operation.path}, {mode.value}: {tried} requests")
