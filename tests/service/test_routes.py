"""The routes, within one process: tags, errors in one sentence, what is watched."""

from __future__ import annotations

import io
from collections.abc import Iterator

import numpy as np
import pytest
from PIL import Image
from starlette.testclient import TestClient
from tests.service.conftest import LABELS, jpeg

from orderless.service.app import create_app
from orderless.service.limits import Limits
from orderless.service.models import Models

TEXT = b"this is no image"


@pytest.fixture
def client(models: Models) -> Iterator[TestClient]:
    limits = Limits(max_images=4, queue=8, max_upload_mb=0.2, max_held_mb=1, max_pixels=100_000)
    with TestClient(create_app(models, limits)) as found:
        yield found


def encoded(format: str, size: tuple[int, int] = (40, 30)) -> bytes:
    memory = io.BytesIO()
    Image.new("RGB", size, "teal").save(memory, format)
    return memory.getvalue()


def test_raw_bytes_are_tagged_as_the_tagger_does(client: TestClient, models: Models, photo: bytes) -> None:
    answer = client.post("/v1/tags", params={"attention": True, "steps": True}, content=photo)
    assert answer.status_code == 200
    expected = models.default.tagger.predict(photo)  # type: ignore[attr-defined]
    image = answer.json()["images"][0]
    assert answer.json()["model"] == "pla"
    assert [tag["label"] for tag in image["tags"]] == expected.labels
    for tag, wanted in zip(image["tags"], expected.tags, strict=True):
        assert tag["score"] == pytest.approx(wanted.score, abs=1e-5)
        np.testing.assert_allclose(tag["attention"], wanted.region, atol=1e-5)
    assert [step["label"] for step in image["steps"]] == [step.label for step in expected.steps]
    assert len(image["steps"][0]["runners_up"]) == 3


def test_attention_and_steps_only_when_asked(client: TestClient, photo: bytes) -> None:
    image = client.post("/v1/tags", content=photo).json()["images"][0]
    assert image["tags"]
    assert image["steps"] is None
    assert all(tag["attention"] is None for tag in image["tags"])


def test_the_name_of_a_form_may_be_written_in_capitals(client: TestClient) -> None:
    body = b"".join(
        b'--x\r\ncontent-disposition: form-data; name="images"; filename="a"\r\n\r\n' + data + b"\r\n"
        for data in (jpeg(1), TEXT)
    )
    head = {"content-type": "Multipart/Form-Data; boundary=x"}
    answer = client.post("/v1/tags", content=body + b"--x--\r\n", headers=head)
    assert answer.status_code == 200
    assert [image["error"] is None for image in answer.json()["images"]] == [True, False]


def test_a_form_accounts_for_every_file(client: TestClient) -> None:
    files = [("images", ("a.jpg", jpeg(1))), ("images", ("b\n.txt", TEXT)), ("other", ("c.png", encoded("PNG")))]
    answer = client.post("/v1/tags?model=bce", files=files)
    assert answer.status_code == 200
    first, second, third = answer.json()["images"]
    assert first["name"] == "a.jpg"
    assert first["tags"]
    assert first["error"] is None
    assert second["tags"] == []
    assert "not an image" in second["error"]
    assert third["error"] is None


def test_a_batch_is_tagged_as_each_alone(client: TestClient) -> None:
    photos = [jpeg(seed) for seed in range(4)]
    together = client.post("/v1/tags", files=[("images", (f"{i}.jpg", p)) for i, p in enumerate(photos)]).json()
    for photo, image in zip(photos, together["images"], strict=True):
        alone = client.post("/v1/tags", content=photo).json()["images"][0]
        assert [tag["label"] for tag in alone["tags"]] == [tag["label"] for tag in image["tags"]]


@pytest.mark.parametrize("format", ["JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF"])
def test_accepted_formats(client: TestClient, format: str) -> None:
    assert client.post("/v1/tags", content=encoded(format)).status_code == 200


@pytest.mark.parametrize("format", ["PPM", "ICO", "TGA", "JPEG2000"])
def test_other_formats_are_refused(client: TestClient, format: str) -> None:
    answer = client.post("/v1/tags", content=encoded(format))
    assert answer.status_code == 422
    assert "format" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("request_", "status", "word"),
    [
        ({"content": TEXT}, 422, "not an image"),
        ({"content": b""}, 422, "no body"),
        ({"content": jpeg()[:300]}, 422, "damaged"),
        ({"content": encoded("PNG", (1000, 101))}, 422, "pixels"),
        ({"json": {"image": "x"}}, 415, "multipart"),
        ({"content": b"x" * 300_000}, 413, "0.2 MB"),
        ({"files": [("images", (f"{i}.jpg", b"x")) for i in range(5)]}, 413, "4 images"),
        ({"content": b"--x", "headers": {"content-type": "multipart/form-data; boundary=y"}}, 400, "form"),
        ({"data": {"images": "text"}, "files": {}, "headers": {"content-type": "multipart/form-data"}}, 400, "form"),
        ({"content": b"x", "params": {"model": "nobody"}}, 404, "pla, bce"),
        ({"content": b"x", "params": {"attention": "perhaps"}}, 422, "attention"),
    ],
)
def test_every_problem_has_a_status_and_a_sentence(
    client: TestClient, request_: dict[str, object], status: int, word: str
) -> None:
    answer = client.post("/v1/tags", **request_)  # type: ignore[arg-type]
    assert answer.status_code == status
    detail = answer.json()["detail"]
    assert word in detail
    assert "\n" not in detail


def test_a_body_without_length_is_limited_too(client: TestClient) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(100):
            yield b"x" * 10_000

    assert client.post("/v1/tags", content=pieces()).status_code == 413


def test_labels_and_models(client: TestClient) -> None:
    labels = client.get("/v1/labels?model=bce").json()
    assert labels["model"] == "bce"
    assert [row["name"] for row in labels["labels"]] == list(LABELS)
    assert labels["labels"][0]["frequency"] == len(LABELS)
    served = client.get("/v1/models").json()
    assert [model["name"] for model in served["models"]] == ["pla", "bce"]
    assert served["limits"]["max_images"] == 4


def test_watched(client: TestClient, photo: bytes) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/readyz").json() == {"status": "ready"}
    client.post("/v1/tags", content=photo)
    client.post("/v1/tags", content=TEXT)
    client.get("/no/such/place")
    text = client.get("/metrics").text
    assert 'orderless_requests_total{route="/v1/tags",status="200"} 1.0' in text
    assert 'orderless_requests_total{route="other",status="404"} 1.0' in text
    assert 'orderless_images_total{outcome="tagged"} 1.0' in text
    assert 'orderless_images_total{outcome="failed"} 1.0' in text
    assert "orderless_batch_images_count 2.0" in text
    assert "orderless_queue_images 0.0" in text
    assert "orderless_held_bytes 0.0" in text


def test_not_ready_before_it_starts(models: Models) -> None:
    assert TestClient(create_app(models)).get("/readyz").status_code == 503


def test_a_model_that_fails_is_a_500_and_the_next_request_is_served(
    models: Models, photo: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(images: object) -> list[object]:
        raise RuntimeError("out of memory")

    with TestClient(create_app(models), raise_server_exceptions=False) as client:
        with monkeypatch.context() as patch:
            patch.setattr(models.default.tagger, "predict_images", broken)
            answer = client.post("/v1/tags", content=photo)
            assert (answer.status_code, answer.json()) == (500, {"detail": "the model failed on this image"})
        assert client.post("/v1/tags", content=photo).status_code == 200


def odd_images() -> list[tuple[str, bytes, bool]]:
    """Name, file, can it be tagged."""

    def saved(image: Image.Image, format: str, **options: object) -> bytes:
        memory = io.BytesIO()
        image.save(memory, format, **options)  # type: ignore[arg-type]
        return memory.getvalue()

    grey = Image.effect_noise((40, 30), 60)
    return [
        ("bomb", saved(Image.new("1", (20_000, 20_000)), "PNG"), False),
        ("long bomb", saved(Image.new("L", (65_000, 2_000)), "PNG"), False),
        ("30,000 by 1", saved(Image.new("L", (30_000, 1)), "PNG"), True),
        ("1 by 1", saved(Image.new("L", (1, 1)), "PNG"), True),
        ("CMYK", saved(grey.convert("CMYK"), "JPEG"), True),
        ("16 bits", saved(grey.convert("I;16"), "PNG"), True),
        ("floats", saved(grey.convert("F"), "TIFF"), True),
        ("animation", saved(grey, "GIF", save_all=True, append_images=[grey.rotate(9)]), True),
        ("empty", b"", False),
        ("half", saved(grey, "PNG")[:400], False),
        ("vector", b"<svg xmlns='http://www.w3.org/2000/svg'/>", False),
        ("script", b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n", False),
    ]


def test_hostile_images_are_tagged_or_named_as_failed(models: Models) -> None:
    images = odd_images()
    with TestClient(create_app(models)) as client:
        answer = client.post("/v1/tags", files=[("images", (name, data)) for name, data, _ in images])
    assert answer.status_code == 200
    found = [(entry["name"], entry["error"] is None) for entry in answer.json()["images"]]
    assert found == [(name, readable) for name, _, readable in images]


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_monitors_may_ask_for_the_head_only(client: TestClient, path: str) -> None:
    answer = client.head(path)
    assert answer.status_code == 200
    assert not answer.content
