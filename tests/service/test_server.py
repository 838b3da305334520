"""The real service on a real socket, treated badly: too many, too large, too slow, gone; told to stop under load."""

from __future__ import annotations

import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import httpx
import pytest
from tests.service.serving import Gate, Service, raw_request, read_all, serving, until

STOP_SECONDS = 100  # less than a service waits that a client could keep from stopping


@pytest.fixture
def gate(tmp_path: Path) -> Gate:
    return Gate(tmp_path)


def post(service: Service, photo: bytes, **options: object) -> httpx.Response:
    return httpx.post(f"{service.address}/v1/tags", content=photo, timeout=150, **options)  # type: ignore[arg-type]


def is_shut(service: Service) -> bool:
    try:
        service.connect().close()
    except ConnectionRefusedError:
        return True
    return False


def test_sigterm_under_load_loses_no_accepted_request(photo: bytes, gate: Gate) -> None:
    """Requests in the model, in the queue, half sent, sent but not read yet: all are answered; then exit code 0."""
    with serving(gate=gate, batch_size=4, queue=64) as service:
        with ThreadPoolExecutor(24) as pool:
            sent = [pool.submit(post, service, photo) for _ in range(24)]
            half, whole, rest = service.connect(), raw_request(photo), len(photo) // 2
            half.sendall(whole[:-rest])
            until(lambda: service.metric("orderless_held_bytes") == 25 * len(photo) - rest)
            until(lambda: service.metric("orderless_queue_images") >= 20)  # the first batch may be a small one
            fresh = [service.connect() for _ in range(5)]
            service.metric("orderless_held_bytes")  # came after them and was answered, so they have been let in
            for connection in fresh:
                connection.sendall(whole)
            service.terminate()
            until(lambda: is_shut(service))
            half.sendall(whole[-rest:])
            gate.open()
            assert [answer.result().status_code for answer in sent] == [200] * 24
        for connection in (half, *fresh):
            answer = read_all(connection)
            assert answer.startswith(b"HTTP/1.1 200"), answer[:200]
        assert service.process.wait(STOP_SECONDS) == 0
        assert is_shut(service)


def test_an_idle_service_stops_at_once_though_clients_stay_connected(photo: bytes) -> None:
    with serving() as service:
        with httpx.Client(timeout=60) as client:
            assert client.post(f"{service.address}/v1/tags", content=photo).status_code == 200
            idle = service.connect()
            service.terminate()
            assert service.process.wait(STOP_SECONDS) == 0
            assert read_all(idle) == b""


def test_past_capacity_429_and_retry_after(photo: bytes, gate: Gate) -> None:
    with serving(gate=gate, batch_size=1, queue=2, max_images=2) as service:
        with ThreadPoolExecutor(12) as pool:
            accepted = [pool.submit(post, service, photo)]
            until(gate.reached)
            accepted += [pool.submit(post, service, photo) for _ in range(2)]
            until(lambda: service.metric("orderless_queue_images") == 2)
            for answer in pool.map(lambda _: post(service, photo), range(9)):
                assert answer.status_code == 429
                assert int(answer.headers["retry-after"]) >= 1
                assert "busy" in answer.json()["detail"]
            gate.open()
            assert [answer.result().status_code for answer in accepted] == [200] * 3
        assert service.metric("orderless_rejected_total") == 9
        assert post(service, photo).status_code == 200


def test_an_answer_that_takes_too_long_is_a_504_and_leaves_the_queue(photo: bytes, gate: Gate) -> None:
    with serving(gate=gate, batch_size=1, batch_wait_ms=0, timeout=1) as service:
        with ThreadPoolExecutor(3) as pool:
            late = [pool.submit(post, service, photo)]
            until(gate.reached)
            late += [pool.submit(post, service, photo) for _ in range(2)]
            assert [answer.result().status_code for answer in late] == [504] * 3
        assert service.metric("orderless_queue_images") == 0
        assert service.metric("orderless_withdrawn_images_total") == 2
        gate.open()
        until(lambda: service.metric("orderless_images_total") == 1)


def test_a_client_that_leaves_costs_nothing(photo: bytes, gate: Gate) -> None:
    with serving(gate=gate, batch_size=1) as service:
        first = service.connect()
        first.sendall(raw_request(photo))
        until(gate.reached)  # it is in the model; the others wait
        others = [service.connect() for _ in range(10)]
        for connection in others:
            connection.sendall(raw_request(photo))
        until(lambda: service.metric("orderless_queue_images") == 10)
        for connection in others:
            connection.close()
        until(lambda: service.metric("orderless_queue_images") == 0)
        assert service.metric("orderless_withdrawn_images_total") == 10
        first.shutdown(socket.SHUT_RDWR)
        until(lambda: service.metric("orderless_held_bytes") == 0)
        gate.open()
        until(lambda: service.metric("orderless_images_total") == 1)
        assert post(service, photo).status_code == 200
        assert service.metric("orderless_images_total") == 2  # those that left were never looked at


def test_oversized_bodies_are_cut_off_while_they_are_read(photo: bytes) -> None:
    with serving(max_upload_mb=1) as service:
        before = service.memory()
        assert post(service, b"x" * 5_000_000).status_code == 413
        connection = service.connect()
        connection.sendall(b"POST /v1/tags HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n")
        with pytest.raises(ConnectionError):  # cut off
            _send_for_a_minute(connection, b"186a0\r\n" + b"x" * 100_000 + b"\r\n")
        announced = raw_request(b"", headers="").replace(b"content-length: 0", b"content-length: 99999999999")
        asking = service.connect()
        asking.sendall(announced.replace(b"\r\n\r\n", b"\r\nexpect: 100-continue\r\n\r\n"))
        assert read_all(asking).startswith(b"HTTP/1.1 413")  # and no "100 Continue" before
        assert service.memory() - before < 100_000_000
        assert post(service, photo).status_code == 200


def _send_for_a_minute(connection: socket.socket, piece: bytes) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        connection.sendall(piece)


def test_a_body_for_nobody_is_not_swallowed_for_ever(photo: bytes) -> None:
    with serving() as service:
        connection = service.connect()
        connection.sendall(raw_request(b"x" * 1000, path="/nothing")[:-10])
        answer = read_all(connection)  # ends: the service closes
        assert answer.startswith(b"HTTP/1.1 404")


def test_too_many_bytes_at_once_is_a_429(photo: bytes) -> None:
    with serving(max_upload_mb=1, max_held_mb=1.5) as service:
        holding = service.connect()
        holding.sendall(raw_request(b"x" * 900_000)[:-100])
        until(lambda: service.metric("orderless_held_bytes") == 899_900)
        late = service.connect()
        late.sendall(raw_request(b"x" * 900_000)[:-100])
        assert read_all(late).startswith(b"HTTP/1.1 429")
        holding.close()
        until(lambda: service.metric("orderless_held_bytes") == 0)
        assert post(service, photo).status_code == 200


def _until_body(connection: socket.socket, body: bytes) -> bytes:
    received = b""
    while not received.endswith(body):
        piece = connection.recv(65536)
        assert piece, f"closed after {received[:200]!r}"
        received += piece
    return received


def test_slow_loris(photo: bytes) -> None:
    """Nothing sent, a head in drips, a body in drips, a second head in drips: all are cut off; others are served."""
    with serving(head_seconds=5, body_seconds=5) as service:
        stop = threading.Event()

        def drip(connection: socket.socket, text: bytes) -> None:
            for i in range(len(text)):
                try:
                    connection.sendall(text[i : i + 1])
                except OSError:
                    return
                if stop.wait(0.15):
                    return

        # Each sends, as far as it is quick, right after it has connected.
        again = service.connect()
        again.sendall(b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n")
        assert _until_body(again, b'{"status":"ok"}').startswith(b"HTTP/1.1 200")
        body = service.connect()
        body.sendall(raw_request(photo)[:-400])
        silent, head = service.connect(), service.connect()
        dripping = [
            threading.Thread(target=drip, args=(head, b"GET / HTTP/1.1\r\nx: " + b"y" * 400)),
            threading.Thread(target=drip, args=(again, b"GET / HTTP/1.1\r\nx: " + b"y" * 400)),
            threading.Thread(target=drip, args=(body, photo[-400:])),
        ]
        for thread in dripping:
            thread.start()
        assert post(service, photo).status_code == 200
        for connection in (silent, head, body, again):
            answer = read_all(connection)
            assert answer == b"" or answer.startswith(b"HTTP/1.1 408"), answer
        stop.set()
        for thread in dripping:
            thread.join()
        assert service.metric("orderless_rejected_total") == 1  # the body; heads never became requests


def test_a_client_that_never_reads_is_dropped(photo: bytes) -> None:
    with serving(body_seconds=1) as service:
        connection = socket.socket()
        connection.settimeout(60)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.connect(("127.0.0.1", service.port))
        request = b"GET /static/examples/street.jpg HTTP/1.1\r\nhost: localhost\r\n\r\n"
        with suppress(ConnectionError):  # dropped already
            for _ in range(2000):
                connection.sendall(request)
        service.terminate()
        assert service.process.wait(STOP_SECONDS) == 0


def test_garbage_is_a_400() -> None:
    with serving() as service:
        connection = service.connect()
        connection.sendall(b"\x16\x03\x01 nonsense\r\n\r\n")
        assert read_all(connection).startswith(b"HTTP/1.1 400")
        connection = service.connect()
        with suppress(ConnectionError):  # cut off while it sends
            connection.sendall(b"GET / HTTP/1.1\r\nx: " + b"y" * 200_000)
        assert read_all(connection)[:12] in (b"HTTP/1.1 400", b"")


def test_token_over_the_wire(photo: bytes, tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("s3cret\n")
    with serving(token_file=str(file)) as service:
        assert post(service, photo).status_code == 401
        answer = post(service, photo, headers={"authorization": "Bearer s3cret"})
        assert answer.status_code == 200
        assert json.loads(answer.text)["images"][0]["tags"]
