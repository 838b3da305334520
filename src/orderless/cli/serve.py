"""`orderless serve`: the tagger over HTTP, with a page."""

from __future__ import annotations

import ipaddress
import os
import signal
import sys
from pathlib import Path
from typing import Annotated

import typer

from orderless.errors import UsageError

TOKEN_VARIABLE = "ORDERLESS_TOKEN"


def serve_command(
    models: Annotated[list[Path], typer.Argument(metavar="RUN…", help="Run folders or exported .onnx files; the first answers unless a request names another.")],
    host: Annotated[str, typer.Option(help="Address to listen on; others than this machine's own need a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: any that is free.")] = 8000,
    token_file: Annotated[Path | None, typer.Option(help=f"File with the token that clients must send (or set {TOKEN_VARIABLE}).")] = None,
    no_token: Annotated[bool, typer.Option("--no-token", help="Serve other machines without a token.")] = False,
    batch_size: Annotated[int, typer.Option(min=1, help="Images tagged together.")] = 16,
    batch_wait_ms: Annotated[float, typer.Option(min=0, help="How long an idle model waits for more images.")] = 5,
    queue: Annotated[int, typer.Option(min=1, help="Images that may wait; beyond that: 429.")] = 64,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds until an answer, else 504.")] = 30,
    max_images: Annotated[int, typer.Option(min=1, help="In one request.")] = 16,
    max_upload_mb: Annotated[float, typer.Option(min=0.001, help="Of one request, else 413.")] = 20,
    max_held_mb: Annotated[float, typer.Option(min=0.001, help="Of all requests at once, else 429.")] = 256,
    max_pixels: Annotated[int, typer.Option(min=1, help="Of one image.")] = 50_000_000,
    head_seconds: Annotated[float, typer.Option(min=0.1, help="For a request's head to arrive, else 408.")] = 10,
    body_seconds: Annotated[float, typer.Option(min=0.1, help="For its body, else 408.")] = 30,
    label_studio_root: Annotated[Path | None, typer.Option(help="Folder whose photos Label Studio's tasks may name.")] = None,
    access_log: Annotated[bool, typer.Option("--access-log", help="Print a line for every request.")] = False,
) -> None:  # fmt: skip
    """Tag photos over HTTP, with a page to try it. Stops on Ctrl+C or SIGTERM, after answering what it accepted."""
    try:
        from orderless.service.app import create_app
        from orderless.service.server import open_socket, run
    except ModuleNotFoundError as error:
        raise UsageError(f"orderless serve needs {error.name}; pip install 'orderless[serve]'") from None
    from orderless.service.limits import Limits
    from orderless.service.models import load_models

    token = read_token(token_file)
    local = is_loopback(host)
    if not local and token is None and not no_token:
        raise UsageError(
            f"{host} can be reached from other machines: give a --token-file, or say --no-token if anybody may use it"
        )
    if label_studio_root is not None and not label_studio_root.is_dir():
        raise UsageError(f"--label-studio-root {str(label_studio_root)!r} is not a folder")
    limits = Limits(
        batch_size, batch_wait_ms, queue, timeout, max_images, max_upload_mb, max_held_mb, max_pixels, head_seconds, body_seconds
    )  # fmt: skip
    listener = open_socket(host, port)
    # While models load: the first process of a container has no handler of its own.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    served = load_models(models)
    app = create_app(
        served, limits, token=token, local_only=local and token is None, label_studio_root=label_studio_root
    )
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listener.getsockname()[1]}/"
    names = ", ".join(model.name for model in served)

    def started() -> None:
        print(f"serving {names} at {address} (Ctrl+C stops)", file=sys.stderr, flush=True)

    run(app, listener, limits, access_log=access_log, started=started)


def read_token(file: Path | None) -> str | None:
    """From the file, else from the environment; an empty one is an error, since it would let everybody in."""
    if file is not None:
        try:
            token = file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"the token file {str(file)!r} cannot be read ({error})") from None
        if not token:
            raise UsageError(f"the token file {str(file)!r} is empty")
        return token
    found = os.environ.get(TOKEN_VARIABLE)
    if found is not None and not found.strip():
        raise UsageError(f"{TOKEN_VARIABLE} is empty; unset it or put a token into it")
    return found.strip() if found else None


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
