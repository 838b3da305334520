"""uvicorn's HTTP protocol with patience that ends, and a shutdown that waits for what is on its way.

uvicorn itself waits for ever for a request's head and for a client that does not read, swallows the body of a request
that was turned away however long it is, and on shutdown closes connections whose request lies unread in the kernel.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

_LATE = b"HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"
_LINGER_SECONDS = 1.0  # for a client to read an answer that came before it had sent everything
_GRACE_SECONDS = 0.5  # for a request that was sent before its client could know of the shutdown


class PatientProtocol(H11Protocol):
    """One connection. `head_seconds`, `write_seconds` and `stopping` are set by the server."""

    head_seconds = 10.0
    write_seconds = 30.0
    stopping: Callable[[], bool] = staticmethod(lambda: False)

    _head_timer: asyncio.TimerHandle | None = None
    _write_timer: asyncio.TimerHandle | None = None
    _leaving = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        # Any byte that the client does not take starts the clock: below the usual 64 kB nobody would watch.
        transport.set_write_buffer_limits(high=0)
        self._head_timer = self.loop.call_later(self.head_seconds, self._head_is_late)
        if self.stopping():  # it was let in while the others were being told
            self.shutdown()

    def data_received(self, data: bytes) -> None:
        before = self.cycle
        if self._head_timer is None and before is not None and before.response_complete:
            self._head_timer = self.loop.call_later(self.head_seconds, self._head_is_late)  # of the next request
        super().data_received(data)
        if self.cycle is not before:
            self._head_arrived()
            if self._leaving:
                self.cycle.keep_alive = False

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY:  # it was turned away; uvicorn would swallow the rest for ever
            self.loop.call_later(_LINGER_SECONDS, self._close_if_sending, self.cycle)

    def _close_if_sending(self, cycle: RequestResponseCycle) -> None:
        if self.cycle is cycle and self.conn.their_state is h11.SEND_BODY and not self.transport.is_closing():
            self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_arrived()
        self._written()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        self._write_timer = self.loop.call_later(self.write_seconds, self.transport.abort)
        super().pause_writing()

    def resume_writing(self) -> None:
        self._written()
        super().resume_writing()

    def shutdown(self) -> None:
        """Called for every open connection when the service is asked to stop."""
        self._leaving = True
        if self._idle():
            self.loop.call_later(_GRACE_SECONDS, self._close_if_idle)
        else:
            self.cycle.keep_alive = False

    def _idle(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _close_if_idle(self) -> None:
        if self._idle() and not self.transport.is_closing():
            self.transport.close()

    def _head_is_late(self) -> None:
        if not self.transport.is_closing():
            if self.conn.our_state is h11.IDLE:
                self.transport.write(_LATE)
            self.transport.close()

    def _head_arrived(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _written(self) -> None:
        if self._write_timer is not None:
            self._write_timer.cancel()
            self._write_timer = None
