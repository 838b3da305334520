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
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx

# Only clients that are meant to be too slow may be: the machine that runs the tests may be busy.
PATIENT: dict[str, float] = {"head_seconds": 120, "body_seconds": 120, "timeout": 120}


class Gate:
    """Holds the stub's batches until it is opened: two files in a folder, which both processes know."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def open(self) -> None:
        (self.folder / "open").touch()

    def reached(self) -> bool:
        """Whether a batch is in the model."""
        return (self.folder / "reached").exists()


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
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def metric(self, name: str) -> float:
        """The sum of a metric over its labels."""
        text = httpx.get(f"{self.address}/metrics", timeout=60).text
        return sum(float(value) for value in re.findall(rf"^{name}(?:{{.*}})? (\S+)$", text, re.M))

    def memory(self) -> int:
        """Bytes of memory in use."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")


@contextmanager
def serving(*runs: Path, gate: Gate | None = None, **options: float | str) -> Iterator[Service]:
    """Start and stop it; without a run, a stub is served that waits for the gate, if there is one, with every batch."""
    chosen = {**PATIENT, **options}
    flags = [text for name, value in chosen.items() for text in (f"--{name.replace('_', '-')}", str(value))]
    start = (
        ["orderless", "serve", *map(str, runs)] if runs else ["tests.service.stubbed", str(gate.folder if gate else "")]
    )
    process = subprocess.Popen(
        [sys.executable, "-m", *start, "--port", "0", *flags],
        stderr=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    try:
        service = Service(process, _port(process))
        _wait_until_ready(service)
        yield service
    finally:
        with suppress(ProcessLookupError):
            process.kill()
        process.wait()


def _port(process: subprocess.Popen[str]) -> int:
    assert process.stderr is not None
    said = []
    end = threading.Timer(120, process.kill)  # reading has no limit of its own
    end.start()
    try:
        for line in process.stderr:
            if found := re.search(r"http://\S+:(\d+)/", line):
                return int(found[1])
            said.append(line)
    finally:
        end.cancel()
    raise AssertionError(f"the service does not start: {said}")


def _wait_until_ready(service: Service) -> None:
    end = time.monotonic() + 120
    while time.monotonic() < end and service.process.poll() is None:
        with suppress(httpx.TransportError):
            if httpx.get(f"{service.address}/readyz", timeout=60).status_code == 200:
                return
        time.sleep(0.05)
    raise AssertionError(f"the service does not come up: {service.log}")


def until(condition: Callable[[], bool], seconds: float = 120) -> None:
    """Wait for something that is bound to happen, on however slow a machine."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"waited for {seconds:g} s in vain"
        time.sleep(0.02)


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
