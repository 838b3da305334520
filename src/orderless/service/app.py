"""The app: routes, page and guard, put together."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.types import ASGIApp

from orderless import __version__
from orderless.service.batching import Batcher
from orderless.service.guard import Guard
from orderless.service.label_studio import label_studio_routes
from orderless.service.limits import Limits
from orderless.service.metrics import Metrics
from orderless.service.models import Models
from orderless.service.page import contents, page_routes
from orderless.service.routes import Desk, tagging_routes, watching_routes

OPEN_PATHS = ("/healthz", "/readyz", "/health", "/openapi.json")  # and the page; the rest asks for the token


def create_app(
    models: Models,
    limits: Limits | None = None,
    *,
    token: str | None = None,
    local_only: bool = False,
    label_studio_root: Path | None = None,
) -> ASGIApp:
    """`local_only` refuses requests under other host names than localhost's."""
    limits = limits or Limits()
    metrics = Metrics()
    batcher = Batcher(limits, metrics)
    desk = Desk(models, limits, batcher, metrics)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        batcher.start()
        yield
        await batcher.close()

    api = FastAPI(
        title="orderless",
        summary="Tags images with sets of labels.",
        version=__version__,
        lifespan=lifespan,
        docs_url=None,  # FastAPI's own load scripts from elsewhere; /docs is a page of ours
        redoc_url=None,
    )
    api.include_router(tagging_routes(desk))
    api.include_router(watching_routes(desk))
    api.include_router(label_studio_routes(desk, label_studio_root))
    api.router.routes.extend(page_routes())
    api.add_exception_handler(RequestValidationError, _invalid)
    api.add_exception_handler(Exception, _failed)
    return Guard(api, metrics, token=token, open_paths={*OPEN_PATHS, *contents()}, local_only=local_only)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    where = ".".join(map(str, first["loc"][1:])) or "request"
    return JSONResponse({"detail": f"{where}: {first['msg']}"}, 422)


async def _failed(request: Request, error: Exception) -> JSONResponse:
    return JSONResponse({"detail": "the service failed; its log says why"}, 500)
