"""The real service in a process of its own, and raw sockets to treat it badly."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx


class Service:
    """One running `orderless serve`."""

    def __init__(self, process: subprocess.Popen[str], port: int) -> None:
        self.process, self.port = process, port
        self.log: list[str] = []
        threading.Thread(target=self._read, daemon=True).start()  # a full pipe would stop the service
        self.address = f"http://127.0.0.1:{port}"

    def _read(self) -> None:
        assert self.process.stderr is not None
        self.log.extend(self.process.stderr)

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=30)

    def metric(self, name: str) -> float:
        """The sum of a metric over its labels."""
        text = httpx.get(f"{self.address}/metrics", timeout=30).text
        return sum(float(value) for value in re.findall(rf"^{name}(?:{{.*}})? (\S+)$", text, re.M))

    def memory(self) -> int:
        """Bytes of memory in use."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def serving(*runs: Path, slow: float = 0.0, **options: float | str) -> Iterator[Service]:
    """Start and stop it; without a run, a stub is served that takes `slow` seconds for every batch."""
    flags = [text for name, value in options.items() for text in (f"--{name.replace('_', '-')}", str(value))]
    start = ["orderless", "serve", *map(str, runs)] if runs else ["tests.service.stubbed", str(slow)]
    process = subprocess.Popen(
        [sys.executable, "-m", *start, "--port", "0", *flags],
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.search(r":(\d+)/", line)
        assert found, line + process.stderr.read()
        service = Service(process, int(found[1]))
        _wait_until_ready(service)
        yield service
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        process.wait()


def _wait_until_ready(service: Service) -> None:
    for _ in range(600):
        with suppress(httpx.TransportError):
            if httpx.get(f"{service.address}/readyz").status_code == 200:
                return
        time.sleep(0.05)
    raise AssertionError(f"the service does not come up: {service.log}")


def raw_request(body: bytes, *, path: str = "/v1/tags", headers: str = "") -> bytes:
    head = f"POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(body)}\r\n{headers}\r\n"
    return head.encode() + body


def read_all(connection: socket.socket) -> bytes:
    """Until the service closes."""
    received = b""
    with suppress(ConnectionResetError):
        while piece := connection.recv(65536):
            received += piece
    return received
