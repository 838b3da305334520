"""Who may ask; what every answer tells the browser; no way to files that are not the page's."""

from __future__ import annotations

import base64
import hmac

import pytest
from starlette.testclient import TestClient

from orderless.service import guard
from orderless.service.app import create_app
from orderless.service.models import Models

TOKEN = "correct horse ☂"


def basic(password: str) -> str:
    return "Basic " + base64.b64encode(f"label-studio:{password}".encode()).decode()


@pytest.mark.parametrize("path", ["/v1/tags", "/v1/labels", "/v1/models", "/metrics", "/predict", "/setup", "/nothing"])
def test_everything_else_asks_for_the_token(models: Models, path: str) -> None:
    with TestClient(create_app(models, token="secret")) as client:
        send = client.post if path in ("/v1/tags", "/predict", "/setup") else client.get
        for header in (
            "",
            "Bearer wrong",
            "Bearer",
            "secret",
            "Basic !",
            basic("wrong"),
            "Bearer secretx",
            "Bearer secre",
        ):
            answer = send(path, headers={"authorization": header})
            assert answer.status_code == 401
            assert "Bearer" in answer.headers["www-authenticate"]
        for header in ("Bearer secret", "bearer secret", basic("secret")):
            assert send(path, headers={"authorization": header}).status_code != 401


@pytest.mark.parametrize("path", ["/", "/docs", "/healthz", "/readyz", "/health", "/openapi.json", "/static/page.js"])
def test_page_and_health_stay_open(models: Models, path: str) -> None:
    with TestClient(create_app(models, token="secret")) as client:
        assert client.get(path).status_code == 200


def test_tokens_are_compared_in_constant_time(models: Models, monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[tuple[bytes, bytes]] = []

    def compare(a: bytes, b: bytes) -> bool:
        compared.append((a, b))
        return original(a, b)

    original = hmac.compare_digest
    monkeypatch.setattr(guard.hmac, "compare_digest", compare)
    with TestClient(create_app(models, token=TOKEN)) as client:
        sent = {"authorization": f"Bearer {TOKEN}".encode()}
        assert client.get("/v1/models", headers=sent).status_code == 200  # type: ignore[arg-type]
    assert compared == [(TOKEN.encode(), TOKEN.encode())]


@pytest.mark.parametrize("token", ["voilà", "Å", "correct horse"])
def test_a_token_may_end_in_any_letter(models: Models, token: str) -> None:
    """Some of their last bytes are white space to those who take them for Latin-1."""
    with TestClient(create_app(models, token=token)) as client:
        sent = {"authorization": f"Bearer {token}".encode()}
        assert client.get("/v1/models", headers=sent).status_code == 200  # type: ignore[arg-type]


@pytest.mark.parametrize("path", ["/", "/docs", "/v1/models", "/v1/tags", "/nothing", "/static/page.css"])
def test_security_headers_on_every_answer(models: Models, path: str) -> None:
    with TestClient(create_app(models)) as client:
        headers = client.get(path).headers
    assert "script-src 'self';" in headers["content-security-policy"]
    assert "unsafe" not in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:8000", 200),
        ("127.0.0.1", 200),
        ("[::1]:8000", 200),
        ("127.0.0.2:8000", 200),
        ("128.0.0.1", 403),
        ("evil.example", 403),
        ("localhost.evil.example", 403),
    ],
)
def test_a_name_that_points_here_is_not_answered(models: Models, host: str, status: int) -> None:
    with TestClient(create_app(models, local_only=True)) as client:
        assert client.get("/v1/models", headers={"host": host}).status_code == status


def test_another_sites_page_cannot_send_photos(models: Models, photo: bytes) -> None:
    with TestClient(create_app(models)) as client:
        assert client.post("/v1/tags", content=photo, headers={"sec-fetch-site": "cross-site"}).status_code == 403
        assert client.post("/v1/tags", content=photo, headers={"sec-fetch-site": "same-origin"}).status_code == 200


@pytest.mark.parametrize(
    "path",
    ["/static", "/static/", "/static/examples", "/static/examples/", "/static/../app.py", "/static/%2e%2e/app.py",
     "/static/..%2fapp.py", "/static//etc/passwd", "/static/page.js/", "/.git/config"],
)  # fmt: skip
def test_no_listing_and_no_way_out(models: Models, path: str) -> None:
    with TestClient(create_app(models)) as client:
        answer = client.get(path, follow_redirects=True)
    assert answer.status_code == 404 or answer.text.startswith("//")  # a trailing slash leads back to the file itself
    assert "import" not in answer.text or path == "/static/page.js/"
