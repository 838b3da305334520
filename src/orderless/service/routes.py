"""The routes under `/v1`, and those that machines watch."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from starlette.exceptions import HTTPException

from orderless import __version__
from orderless.errors import OrderlessError, UnreadableImage
from orderless.results import Result
from orderless.service.batching import Answer, Batcher, QueueFull
from orderless.service.limits import FORMATS, Limits
from orderless.service.metrics import CONTENT_TYPE, Metrics
from orderless.service.models import Model, Models
from orderless.service.problems import CLIENT_LEFT, busy, problems
from orderless.service.schema import (
    ImageOut,
    LabelOut,
    LabelsOut,
    LimitsOut,
    ModelOut,
    ModelsOut,
    StatusOut,
    TagsOut,
    image_out,
)
from orderless.service.uploads import Uploads, read_images

_BYTES: dict[str, Any] = {"schema": {"type": "string", "format": "binary"}}
_BODY: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "description": "One image as it is, or several as the files of a form.",
        "content": {
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["images"],
                    "properties": {"images": {"type": "array", "minItems": 1, "items": _BYTES["schema"]}},
                }
            },
            "image/jpeg": _BYTES,
            "image/png": _BYTES,
            "application/octet-stream": _BYTES,
        },
    }
}
ModelName = Annotated[str | None, Query(description="One of `/v1/models`; the first if none is named.")]


class Desk:
    """What the routes share: takes requests in, waits for their answers."""

    def __init__(self, models: Models, limits: Limits, batcher: Batcher, metrics: Metrics) -> None:
        self.models, self.limits, self.batcher, self.metrics = models, limits, batcher, metrics
        self.uploads = Uploads(limits, metrics)

    def model(self, name: str | None) -> Model:
        found = self.models.find(name)
        if found is None:
            names = ", ".join(model.name for model in self.models)
            raise HTTPException(404, f"there is no model of that name; served: {names}")
        return found

    async def check_room(self, request: Request) -> None:
        """Turn a request away before its body is read, if it could not be queued anyway."""
        if self.batcher.room < 1:
            await self.uploads.turn_away(request, "queue")
            raise busy(self.batcher.full())

    async def tag(self, request: Request, model: Model, images: Sequence[bytes]) -> list[Result | OrderlessError]:
        """Queue, and wait for all; a client that leaves, or waits too long, takes its images out of the queue."""
        try:
            answers = self.batcher.submit(model, images)
        except QueueFull as full:
            self.metrics.rejected.labels("queue").inc()
            raise busy(full) from None
        outcomes = await self._first(request, answers)
        broken = next(
            (o for o in outcomes if isinstance(o, OrderlessError) and not isinstance(o, UnreadableImage)), None
        )
        if broken is not None:
            raise HTTPException(500, str(broken))
        return outcomes

    async def _first(self, request: Request, answers: Sequence[Answer]) -> list[Result | OrderlessError]:
        everything = asyncio.gather(*answers, return_exceptions=True)
        gone = asyncio.ensure_future(_left(request))
        waiting: set[asyncio.Future[Any]] = {everything, gone}
        try:
            await asyncio.wait(waiting, timeout=self.limits.timeout, return_when=asyncio.FIRST_COMPLETED)
            if everything.done():
                return everything.result()  # type: ignore[return-value]  # only the batcher sets exceptions
            if gone.done():
                raise HTTPException(CLIENT_LEFT, "the client left")
            self.metrics.rejected.labels("timeout").inc()
            raise HTTPException(504, f"the answer took longer than {self.limits.timeout:g} s; try again later")
        finally:
            for answer in answers:  # not `everything`, whose cancelling nobody would hear of but the log
                answer.cancel()
            gone.cancel()


async def _left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def tagging_routes(desk: Desk) -> APIRouter:
    router = APIRouter()

    @router.post(
        "/v1/tags",
        summary="Tag images",
        openapi_extra=_BODY,
        responses=problems(400, 401, 403, 404, 408, 413, 415, 422, 429, 500, 504),
        tags=["tagging"],
    )
    async def tags(
        request: Request,
        model: ModelName = None,
        attention: Annotated[bool, Query(description="With where the model looked for every tag.")] = False,
        steps: Annotated[bool, Query(description="With what the model considered at every step.")] = False,
    ) -> TagsOut:
        """Tags in the order the model wrote them. A file of a form that cannot be read has an `error` instead; an image
        that is the whole body and cannot be read is answered with 422."""
        chosen = desk.model(model)
        await desk.check_room(request)
        async with desk.uploads.body(request) as pieces:
            uploads = await read_images(request, pieces, desk.limits.max_images)
            outcomes = await desk.tag(request, chosen, [upload.data for upload in uploads])
        form = request.headers.get("content-type", "").strip().lower().startswith("multipart/")
        images = []
        for upload, outcome in zip(uploads, outcomes, strict=True):
            if not isinstance(outcome, OrderlessError):
                images.append(image_out(upload.name, outcome, attention=attention, steps=steps))
            elif isinstance(outcome, UnreadableImage) and form:
                images.append(ImageOut(name=upload.name, error=outcome.reason))
            elif isinstance(outcome, UnreadableImage):
                raise HTTPException(422, f"the image cannot be read: {outcome.reason}")
        return TagsOut(model=chosen.name, images=images)

    @router.get("/v1/labels", summary="The labels of a model", responses=problems(401, 403, 404, 422), tags=["tagging"])
    async def labels(model: ModelName = None) -> LabelsOut:
        chosen = desk.model(model)
        words = chosen.tagger.vocabulary
        groups = words.groups or ("",) * len(words)
        rows = zip(words.names, words.frequencies, groups, strict=True)
        return LabelsOut(model=chosen.name, labels=[LabelOut(name=n, frequency=f, group=g or None) for n, f, g in rows])

    @router.get("/v1/models", summary="The models and the limits", responses=problems(401, 403), tags=["tagging"])
    async def models() -> ModelsOut:
        served = [
            ModelOut(name=m.name, kind=m.kind, labels=len(m.tagger.vocabulary), image_size=m.image_size)
            for m in desk.models
        ]
        limits = desk.limits
        return ModelsOut(
            version=__version__,
            models=served,
            limits=LimitsOut(
                max_images=limits.max_images,
                max_upload_mb=limits.max_upload_mb,
                max_pixels=limits.max_pixels,
                formats=list(FORMATS),
            ),
        )

    return router


def watching_routes(desk: Desk) -> APIRouter:
    router = APIRouter(tags=["watching"])

    @router.head("/healthz", include_in_schema=False)
    @router.get("/healthz", summary="Is the process alive?", responses=problems(403, 500))
    async def healthz() -> StatusOut:
        if desk.batcher.broken:
            raise HTTPException(500, "the queue is broken; restart the service")
        return StatusOut(status="ok")

    @router.head("/readyz", include_in_schema=False)
    @router.get("/readyz", summary="Would it tag now?", responses=problems(403, 503))
    async def readyz() -> StatusOut:
        if not desk.batcher.ready:
            raise HTTPException(503, "the service is starting or stopping")
        return StatusOut(status="ready")

    @router.head("/metrics", include_in_schema=False)
    @router.get(
        "/metrics",
        summary="Counts, for Prometheus",
        response_class=Response,
        responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, **problems(401, 403)},
    )
    async def metrics() -> Response:
        return Response(desk.metrics.text(), media_type=CONTENT_TYPE)

    return router
