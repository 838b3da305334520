"""Who may ask, and what every answer tells the browser. Wrapped around the whole app, so nothing slips past."""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import time
from collections.abc import Collection
from ipaddress import ip_address

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from orderless.service.metrics import Metrics

HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), microphone=(), geolocation=()",
}


class Guard:
    """Token, host, cross-site requests; security headers; a count of every answer."""

    def __init__(
        self, app: ASGIApp, metrics: Metrics, *, token: str | None, open_paths: Collection[str], local_only: bool
    ) -> None:
        self._app, self._metrics, self._token = app, metrics, token
        self._open_paths, self._local_only = frozenset(open_paths), local_only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.monotonic(), 500

        async def send_guarded(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                headers.setdefault("cache-control", "no-store")
            await send(message)

        try:
            refusal = self._refusal(scope)
            if refusal is None:
                await self._app(scope, receive, send_guarded)
            else:
                await _refuse(send_guarded, *refusal)
        finally:
            route = getattr(scope.get("route"), "path", "other")  # a template, not what strangers type
            self._metrics.requests.labels(route, str(status)).inc()
            self._metrics.latency.labels(route).observe(time.monotonic() - started)

    def _refusal(self, scope: Scope) -> tuple[int, str] | None:
        headers = Headers(scope=scope)
        if self._local_only and not is_loopback(_host(headers.get("host", ""))):
            # A name that some site lets point here: its page would read our answers as its own (DNS rebinding).
            return 403, "this service answers to localhost only; set a token to serve others"
        if scope["method"] != "GET" and headers.get("sec-fetch-site") in ("cross-site", "same-site"):
            return 403, "requests from another site's page are refused"
        if self._token is None or scope["path"] in self._open_paths:
            return None
        if not hmac.compare_digest(_given_token(headers.get("authorization", "")), self._token.encode()):
            return 401, "the token is missing or wrong; send it as Authorization: Bearer TOKEN"
        return None


def is_loopback(host: str) -> bool:
    """Whether a name or address can only mean this machine."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _host(header: str) -> str:
    """Without the port, and without the brackets of IPv6."""
    return header.partition("]")[0].lstrip("[") if header.startswith("[") else header.partition(":")[0].lower()


def _given_token(header: str) -> bytes:
    """From `Bearer TOKEN`, or as the password of `Basic`, which is all that Label Studio can send."""
    scheme, _, value = header.partition(" ")
    if scheme.lower() == "bearer":
        return value.strip(" \t").encode("latin-1")  # as headers are decoded: the client's own bytes
    if scheme.lower() == "basic":
        try:
            return base64.b64decode(value, validate=True).partition(b":")[2]
        except (binascii.Error, ValueError):
            return b""
    return b""


async def _refuse(send: Send, status: int, detail: str) -> None:
    headers = [(b"content-type", b"application/json")]
    if status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="orderless"'))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps({"detail": detail}).encode()})
