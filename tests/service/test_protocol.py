"""One connection, in this process, where the size of every buffer is ours."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import pytest
from starlette.types import Receive, Scope, Send
from uvicorn import Config
from uvicorn.server import ServerState

from orderless.service.protocol import PatientProtocol

PATIENCE = 600  # seconds: no clock but the one that is looked at may end a connection


class HurriedProtocol(PatientProtocol):
    write_seconds = 0.2


class WatchedProtocol(PatientProtocol):
    """Remembers the clocks that were started because a client did not take its answer at once."""

    write_seconds = PATIENCE

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.clocks: list[asyncio.TimerHandle] = []

    def pause_writing(self) -> None:
        super().pause_writing()
        assert self._write_timer is not None
        self.clocks.append(self._write_timer)


async def _answer(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


async def _come_late(request: bytes) -> bytes:
    """What a client gets whose connection is made when the others have been told to leave."""

    class LeavingProtocol(PatientProtocol):
        stopping = staticmethod(lambda: True)
        head_seconds = PATIENCE

    config, state = Config(_answer, lifespan="off", timeout_keep_alive=PATIENCE), ServerState()
    config.load()
    loop = asyncio.get_running_loop()
    ours, theirs = socket.socketpair()
    with theirs:
        theirs.sendall(request)
        await loop.connect_accepted_socket(lambda: LeavingProtocol(config, state, {}), ours)
        theirs.setblocking(False)
        received = b""
        while piece := await asyncio.wait_for(loop.sock_recv(theirs, 65536), 60):
            received += piece
    return received


P = TypeVar("P", bound=PatientProtocol)


@asynccontextmanager
async def _asking(kind: type[P], answer: bytes) -> AsyncIterator[tuple[P, socket.socket]]:
    """The service's end of a connection, and the end of a client that has asked for `answer`."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        length = str(len(answer)).encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", length)]})
        await send({"type": "http.response.body", "body": answer})

    config, state = Config(app, lifespan="off", timeout_keep_alive=PATIENCE), ServerState()
    config.load()
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    with theirs:
        theirs.sendall(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
        theirs.setblocking(False)
        loop = asyncio.get_running_loop()
        _, protocol = await loop.connect_accepted_socket(lambda: kind(config, state, {}), ours)
        yield protocol, theirs


@pytest.mark.parametrize("size", [30_000, 60_000, 500_000])  # asyncio itself asks to pause from 65,536 on
def test_a_client_that_does_not_take_its_answer_is_dropped_however_small_the_rest(size: int) -> None:
    async def ask_and_wait() -> None:
        async with _asking(HurriedProtocol, b"x" * size) as (protocol, _):
            while protocol in protocol.connections:
                await asyncio.sleep(0.02)

    asyncio.run(asyncio.wait_for(ask_and_wait(), 60))


def test_a_client_that_takes_its_answer_stays() -> None:
    """Slower than the service writes, so clocks are started; with its last byte all of them have been stopped."""

    async def ask_and_read() -> None:
        answer, received = b"x" * 500_000, b""
        async with _asking(WatchedProtocol, answer) as (protocol, client):
            while not received.endswith(answer):
                piece = await asyncio.get_running_loop().sock_recv(client, 65536)
                assert piece, f"dropped after {len(received)} bytes"
                received += piece
            assert protocol.clocks
            assert all(clock.cancelled() for clock in protocol.clocks)
            assert protocol in protocol.connections

    asyncio.run(asyncio.wait_for(ask_and_read(), 60))


def test_a_connection_made_while_the_service_stops_does_not_keep_it() -> None:
    assert asyncio.run(_come_late(b"")) == b""


def test_a_request_on_a_connection_made_while_the_service_stops_is_answered() -> None:
    answer = asyncio.run(_come_late(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n"))
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.endswith(b"ok")
