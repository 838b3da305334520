"""The Label Studio backend: the routes and forms that Label Studio calls, and no file beyond its folder."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from tests.service.conftest import jpeg

from orderless.service.app import create_app
from orderless.service.limits import Limits
from orderless.service.models import Models

CONFIG = (
    '<View><!-- photos --><Image name="img" value="$photo"/><Choices name="what" toName="img" choice="multiple">'
    '<Choice value="boat"/><Choice value="dog"/></Choices></View>'
)


@pytest.fixture
def root(tmp_path: Path, photo: bytes) -> Path:
    folder = tmp_path / "photos"
    (folder / "a").mkdir(parents=True)
    (folder / "a" / "x y.jpg").write_bytes(photo)
    (tmp_path / "secret.jpg").write_bytes(photo)
    (folder / "link.jpg").symlink_to(tmp_path / "secret.jpg")
    (folder / "text.jpg").write_text("no image")
    return folder


@pytest.fixture
def client(models: Models, root: Path) -> Iterator[TestClient]:
    with TestClient(create_app(models, Limits(max_images=2), label_studio_root=root)) as found:
        yield found


def test_health_and_setup(client: TestClient) -> None:
    assert client.get("/health").json()["status"] == "UP"
    sent = {"project": "1.1", "schema": CONFIG, "hostname": "http://localhost:8080", "access_token": "x"}
    assert client.post("/setup", json=sent).json() == {"model_version": "pla"}


def test_tasks_are_predicted_one_by_one(client: TestClient, photo: bytes) -> None:
    address = "data:image/jpeg;base64," + base64.b64encode(photo).decode()
    photos = [address, "/data/local-files/?d=a/x%20y.jpg", "a/x%20y.jpg", "text.jpg", address]
    tasks = [{"id": i, "data": {"photo": name, "other": 3}} for i, name in enumerate(photos)]
    answer = client.post("/predict", json={"tasks": tasks, "label_config": CONFIG, "project": "1.1", "params": {}})
    assert answer.status_code == 200
    results = answer.json()["results"]
    assert answer.json()["model_version"] == "pla"
    assert len(results) == 5
    assert results[3]["result"] == []
    assert "not an image" in results[3]["error"]
    for prediction in (results[0], results[1], results[2], results[4]):
        (choice,) = prediction["result"]
        assert (choice["from_name"], choice["to_name"], choice["type"]) == ("what", "img", "choices")
        assert choice["value"]["choices"] == ["boat", "dog"]  # not the label that the project lacks
        assert 0 <= prediction["score"] <= 1


@pytest.mark.parametrize(
    ("place", "reason"),
    [
        ("../secret.jpg", "outside"),
        ("link.jpg", "outside"),
        ("/data/local-files/?d=../secret.jpg", "outside"),
        ("%2e%2e/secret.jpg", "outside"),
        ("/etc/passwd", "no such file"),
        ("a", "no such file"),
        ("a\0b", "no such file"),
        ("http://127.0.0.1:1/x.jpg", "not fetched"),
        ("file:///etc/passwd", "not fetched"),
        ("//host/x.jpg", "not fetched"),
        ("data:image/jpeg;base64,?", "damaged"),
        ("http://[", "damaged"),
        (3, "no image"),
    ],
)
def test_nothing_beyond_the_folder(client: TestClient, place: object, reason: str) -> None:
    answer = client.post("/predict", json={"tasks": [{"data": {"image": place}}]}).json()
    assert answer["results"][0]["result"] == []
    assert reason in answer["results"][0]["error"]


def test_without_a_folder_only_data_urls(models: Models) -> None:
    with TestClient(create_app(models)) as client:
        answer = client.post("/predict", json={"tasks": [{"data": {"image": "a/x.jpg"}}]}).json()
    assert "--label-studio-root" in answer["results"][0]["error"]


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b'{"tasks": 3}', b'{"tasks": [{}]}', b"[" * 100_000, b"\xff",
        b'{"tasks": [], "label_config": "<View"}',
        b'{"tasks": [], "label_config": "<View/>"}',
        b'{"tasks": [], "label_config": "<!DOCTYPE x [<!ENTITY a \'b\'>]><View>&a;</View>"}',
    ],
)  # fmt: skip
def test_what_is_not_a_request_is_a_422(client: TestClient, body: bytes) -> None:
    answer = client.post("/predict", content=body)
    assert answer.status_code == 422
    assert answer.json()["detail"]


def test_tasks_do_not_hold_the_queue(client: TestClient) -> None:
    address = "data:image/jpeg;base64," + base64.b64encode(jpeg()).decode()
    answer = client.post("/predict", json={"tasks": [{"data": {"image": address}}] * 100})
    assert len(answer.json()["results"]) == 100


def test_files_count_as_what_the_service_holds(models: Models, root: Path) -> None:
    (root / "large.jpg").write_bytes(b"\0" * 900_000)
    limits = Limits(max_images=4, max_upload_mb=1, max_held_mb=2)
    tasks = [{"data": {"photo": "large.jpg"}}] * 4
    with TestClient(create_app(models, limits, label_studio_root=root)) as client:
        assert client.post("/predict", json={"tasks": tasks[:2]}).status_code == 200
        answer = client.post("/predict", json={"tasks": tasks})
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "1")
        assert "orderless_held_bytes 0.0" in client.get("/metrics").text  # all of it was given back


def test_a_body_of_countless_values_is_refused(models: Models, root: Path) -> None:
    limits = Limits(max_upload_mb=5)
    with TestClient(create_app(models, limits, label_studio_root=root)) as client:
        body = b'{"tasks":[{"data":{"image":"x","y":[' + b"{}," * 600_000 + b"1]}}]}"
        answer = client.post("/predict", content=body)
    assert answer.status_code == 422
    assert "values" in answer.json()["detail"]


def test_a_pipe_in_the_folder_does_not_keep_the_service(client: TestClient, root: Path) -> None:
    os.mkfifo(root / "pipe.jpg")
    answer = client.post("/predict", json={"tasks": [{"data": {"photo": "pipe.jpg"}}]})
    assert "not a file" in answer.json()["results"][0]["error"]
