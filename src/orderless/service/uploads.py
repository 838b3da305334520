"""Reading what a client sends, within limits that hold while it is read and not after.

Size: a request has a limit, announced in its head or not; all requests together have one. Time: a body that does
not come in time is given up.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from threading import Lock

from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request

from orderless.service.limits import Limits
from orderless.service.metrics import Metrics
from orderless.service.problems import CLIENT_LEFT
from orderless.text import counted, printable

_DRAIN_SECONDS, _DRAIN_BYTES = 1.0, 64_000_000
_NAME_LENGTH = 200
# What curl's --data-binary says unless told otherwise is as good as nothing said.
RAW_TYPES = ("", "application/octet-stream", "application/x-www-form-urlencoded")


@dataclass(frozen=True)
class Upload:
    """An encoded image and what its client calls it."""

    name: str
    data: bytes


class _InMemory(MultiPartParser):
    spool_max_size = max_file_size = 2**40  # the total is limited already; nothing is written to a disk (two versions)


class Uploads:
    """The bytes that all requests hold together."""

    def __init__(self, limits: Limits, metrics: Metrics) -> None:
        self._limits, self._metrics = limits, metrics
        self._held = 0
        self._lock = Lock()

    @asynccontextmanager
    async def body(self, request: Request) -> AsyncIterator[AsyncGenerator[bytes, None]]:
        """The body in pieces; what it holds is given back when the request is over."""
        mine = [0]
        try:
            yield self._pieces(request, mine)
        finally:
            self._hold(-mine[0])

    @asynccontextmanager
    async def held(self) -> AsyncIterator[Callable[[int], None]]:
        """To be told of bytes that a request takes beyond its body, before it does; 429 if they are too many."""
        mine = 0

        def hold(count: int) -> None:
            nonlocal mine
            with self._lock:  # a thread may read files
                if self._held + count > self._limits.held_bytes:
                    self._metrics.rejected.labels("memory").inc()
                    raise _too_much_held()
                self._held += count
            mine += count

        try:
            yield hold
        finally:
            self._hold(-mine)

    def _hold(self, count: int) -> None:
        with self._lock:
            self._held += count
        self._metrics.held_bytes.set(self._held)

    async def _pieces(self, request: Request, mine: list[int]) -> AsyncGenerator[bytes, None]:
        limit = self._limits.upload_bytes
        announced = request.headers.get("content-length", "")
        if announced.isdigit() and int(announced) > limit:
            await self._too_large(request)
        until = asyncio.get_running_loop().time() + self._limits.body_seconds
        more = True
        while more:
            piece, more = await self._next(request, until)
            mine[0] += len(piece)
            self._hold(len(piece))
            if mine[0] > limit:
                await self._too_large(request)
            if self._held > self._limits.held_bytes:
                await self.turn_away(request, "memory")
                raise _too_much_held()
            yield piece

    async def _next(self, request: Request, until: float) -> tuple[bytes, bool]:
        try:
            message = await asyncio.wait_for(request.receive(), until - asyncio.get_running_loop().time())
        except TimeoutError:
            self._metrics.rejected.labels("slow").inc()
            raise HTTPException(
                408, f"the upload took longer than {self._limits.body_seconds:g} s", {"connection": "close"}
            ) from None
        if message["type"] == "http.disconnect":
            raise HTTPException(CLIENT_LEFT, "the client left")
        return message.get("body", b""), message.get("more_body", False)

    async def _too_large(self, request: Request) -> None:
        await self.turn_away(request, "size")
        raise HTTPException(413, f"the upload is larger than the limit of {self._limits.max_upload_mb:g} MB")

    async def turn_away(self, request: Request, reason: str) -> None:
        """Read on for a moment before saying no: a client that is cut off while it sends never sees the answer."""
        self._metrics.rejected.labels(reason).inc()
        if "expect" in request.headers:
            return  # it waits for our word before it sends
        until, seen, more = asyncio.get_running_loop().time() + _DRAIN_SECONDS, 0, True
        while more and seen < _DRAIN_BYTES:
            left = until - asyncio.get_running_loop().time()
            try:
                message = await asyncio.wait_for(request.receive(), left)
            except TimeoutError:
                return
            more = message.get("more_body", False)
            seen += len(message.get("body", b""))


def _too_much_held() -> HTTPException:
    return HTTPException(429, "the service holds too many uploads; try again in 1 s", {"retry-after": "1"})


async def read_images(request: Request, pieces: AsyncGenerator[bytes, None], max_images: int) -> list[Upload]:
    """The images of a request: the files of a form, or its whole body."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        return await _read_form(request, pieces, max_images)
    if not kind.startswith("image/") and kind not in RAW_TYPES:
        raise HTTPException(415, "send an image as it is (image/jpeg, …), or files in multipart/form-data")
    data = b"".join([piece async for piece in pieces])
    if not data:
        raise HTTPException(422, "the request has no body; send an image")
    return [Upload("image", data)]


async def _read_form(request: Request, pieces: AsyncGenerator[bytes, None], max_images: int) -> list[Upload]:
    parser = _InMemory(request.headers, pieces, max_files=max_images, max_fields=max_images)
    try:
        form = await parser.parse()
    except MultiPartException as error:
        too_many = error.message.startswith("Too many files")
        detail = (
            f"a request may hold {counted(max_images, 'image')}"
            if too_many
            else f"the form is damaged: {error.message}"
        )
        raise HTTPException(413 if too_many else 400, detail) from None
    files = [value for _, value in form.multi_items() if not isinstance(value, str)]
    if not files:
        raise HTTPException(422, "the form holds no file; send images as files, in a field such as images")
    return [Upload(printable(file.filename or "image")[:_NAME_LENGTH], await file.read()) for file in files]
