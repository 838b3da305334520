"""The files of the page. They are read once and served from memory, by name: no path of a client reaches the disk."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

_TYPES = {
    "html": "text/html; charset=utf-8",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "jpg": "image/jpeg",
}
_PAGES = {"/": "index.html", "/docs": "docs.html"}
_FOLDERS = (".", "examples")


@cache
def contents() -> dict[str, tuple[bytes, str]]:
    """Path of a request -> its bytes and their type."""
    root = files("orderless.service").joinpath("static")
    found = {}
    for folder in _FOLDERS:
        for file in root.joinpath(folder).iterdir():
            kind = _TYPES.get(file.name.rpartition(".")[2])
            if file.is_file() and kind:
                place = file.name if folder == "." else f"{folder}/{file.name}"
                found[f"/static/{place}"] = (file.read_bytes(), kind)
    return found | {path: found[f"/static/{name}"] for path, name in _PAGES.items()}


def page_routes() -> list[Route]:
    return [Route(path, _answer, methods=["GET"]) for path in contents()]


async def _answer(request: Request) -> Response:
    data, kind = contents()[request.url.path]
    return Response(data, media_type=kind, headers={"cache-control": "no-cache"})
