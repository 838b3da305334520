"""Running the app: one socket, one process, an end that finishes what was accepted."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from orderless.errors import UsageError
from orderless.service.limits import Limits
from orderless.service.protocol import PatientProtocol


class Server(uvicorn.Server):
    """Ends with exit code 0 on SIGTERM or SIGINT; a second SIGINT does not wait for clients."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self.should_exit and sig == signal.SIGINT:
            self.force_exit = True
        self.should_exit = True


def open_socket(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except (OSError, OverflowError) as error:
        raise UsageError(f"cannot listen on {host} port {port}: {error}; choose another --port") from None


def run(
    app: ASGIApp, listener: socket.socket, limits: Limits, *, access_log: bool, started: Callable[[], None]
) -> None:
    """Serve until told to stop."""

    class Protocol(PatientProtocol):
        head_seconds, write_seconds = limits.head_seconds, limits.body_seconds
        stopping = staticmethod(lambda: server.should_exit)

    config = uvicorn.Config(
        app,
        http=Protocol,
        ws="none",
        log_level="info" if access_log else "warning",
        access_log=access_log,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=15,
        # Longer than any accepted request may take.
        timeout_graceful_shutdown=int(limits.body_seconds + limits.timeout) + 5,
    )
    server = Server(config)
    started()
    server.run(sockets=[listener])
