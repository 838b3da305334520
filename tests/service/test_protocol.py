"""One connection, in this process, where the size of every buffer is ours."""

from __future__ import annotations

import asyncio
import socket

import pytest
from starlette.types import Receive, Scope, Send
from uvicorn import Config
from uvicorn.server import ServerState

from orderless.service.protocol import PatientProtocol


class HurriedProtocol(PatientProtocol):
    write_seconds = 0.2


async def _answer(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


async def _come_late(request: bytes) -> bytes:
    """What a client gets whose connection is made when the others have been told to leave."""

    class LeavingProtocol(PatientProtocol):
        stopping = staticmethod(lambda: True)

    config, state = Config(_answer, lifespan="off"), ServerState()
    config.load()
    loop = asyncio.get_running_loop()
    ours, theirs = socket.socketpair()
    with theirs:
        await loop.connect_accepted_socket(lambda: LeavingProtocol(config, state, {}), ours)
        theirs.sendall(request)
        theirs.setblocking(False)
        received = b""
        # A head may take 10 seconds, an idle connection stays for 15.
        while piece := await asyncio.wait_for(loop.sock_recv(theirs, 65536), 5):
            received += piece
    return received


async def _ask(answer: bytes, *, read: bool) -> bool:
    """Whether a client that asks for `answer`, and reads it or not, is still connected after a while."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        length = str(len(answer)).encode()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", length)]})
        await send({"type": "http.response.body", "body": answer})

    config, state = Config(app, lifespan="off"), ServerState()
    config.load()
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    with theirs:
        await asyncio.get_running_loop().connect_accepted_socket(lambda: HurriedProtocol(config, state, {}), ours)
        theirs.sendall(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n")
        if read:
            theirs.setblocking(False)
            received = b""
            while not received.endswith(answer):
                received += await asyncio.get_running_loop().sock_recv(theirs, 65536)
        for _ in range(40):
            await asyncio.sleep(0.02)
            if not state.connections:
                return False
        return True


@pytest.mark.parametrize("size", [30_000, 60_000, 500_000])  # asyncio itself asks to pause from 65,536 on
def test_a_client_that_does_not_take_its_answer_is_dropped_however_small_the_rest(size: int) -> None:
    assert not asyncio.run(_ask(b"x" * size, read=False))


def test_a_client_that_takes_its_answer_stays() -> None:
    assert asyncio.run(_ask(b"x" * 500_000, read=True))


def test_a_connection_made_while_the_service_stops_does_not_keep_it() -> None:
    assert asyncio.run(_come_late(b"")) == b""


def test_a_request_on_a_connection_made_while_the_service_stops_is_answered() -> None:
    answer = asyncio.run(_come_late(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n"))
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.endswith(b"ok")
