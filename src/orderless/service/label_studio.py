"""A machine learning backend for Label Studio: the same service under the routes that Label Studio calls.

Connect it in a project with `<Choices name="…" toName="…">` (Settings, Model). An image comes as a data URL, or as the
name of a file below the folder given with --label-studio-root; addresses of other machines are never fetched, as
whoever writes a task could make the service ask for anything.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit
from xml.etree import ElementTree

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.exceptions import HTTPException

from orderless.data.images import check_regular
from orderless.errors import OrderlessError, UnreadableImage
from orderless.outputs.about import About
from orderless.outputs.label_studio import prediction
from orderless.results import Result
from orderless.service.models import Model
from orderless.service.problems import problems
from orderless.service.routes import Desk

_MOST_TASKS = 1000
_MOST_VALUES = 500_000  # in the JSON of a request, of any kind


class Task(BaseModel):
    model_config = ConfigDict(extra="ignore")
    data: dict[str, Any]


class PredictIn(BaseModel):
    """What Label Studio sends; the rest of it is not needed."""

    model_config = ConfigDict(extra="ignore")
    tasks: list[Task] = Field(max_length=_MOST_TASKS)
    label_config: str | None = None


# By hand: pydantic's own would point into the document at places that FastAPI does not fill.
_PREDICT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["tasks"],
    "properties": {
        "tasks": {
            "type": "array",
            "maxItems": _MOST_TASKS,
            "items": {"type": "object", "required": ["data"], "properties": {"data": {"type": "object"}}},
        },
        "label_config": {"type": ["string", "null"]},
    },
}


class PredictOut(BaseModel):
    results: list[dict[str, Any]] = Field(description="One prediction a task; `error` says why one is empty.")
    model_version: str


class SetupOut(BaseModel):
    model_version: str


class HealthOut(BaseModel):
    status: str
    model_class: str


@dataclass(frozen=True)
class Controls:
    """What a project calls things."""

    from_name: str = "labels"
    to_name: str = "image"
    key: str | None = None  # of a task's data
    choices: frozenset[str] = frozenset()  # empty: any


def label_studio_routes(desk: Desk, root: Path | None) -> APIRouter:
    router = APIRouter(tags=["Label Studio"])
    model = desk.models.default

    @router.get("/health", summary="Is the backend up?", responses=problems(403))
    async def health() -> HealthOut:
        return HealthOut(status="UP", model_class="orderless")

    @router.post("/setup", summary="Connect a project", responses=problems(401, 403))
    async def setup() -> SetupOut:
        return SetupOut(model_version=model.name)

    @router.post(
        "/predict",
        summary="Tag a project's tasks",
        openapi_extra={"requestBody": {"required": True, "content": {"application/json": {"schema": _PREDICT_SCHEMA}}}},
        responses=problems(401, 403, 408, 413, 422, 429, 500, 504),
    )
    async def predict(request: Request) -> PredictOut:
        await desk.check_room(request)
        async with desk.uploads.body(request) as pieces:
            body = b"".join([piece async for piece in pieces])
            asked = await asyncio.to_thread(_parse, body)  # others are answered meanwhile
            controls = await asyncio.to_thread(_controls, asked.label_config)
            results: list[dict[str, Any]] = []
            for start in range(0, len(asked.tasks), desk.limits.max_images):
                tasks = asked.tasks[start : start + desk.limits.max_images]
                results += await _predict(desk, request, model, tasks, controls, root)
        return PredictOut(results=results, model_version=model.name)

    return router


async def _predict(
    desk: Desk, request: Request, model: Model, tasks: list[Task], controls: Controls, root: Path | None
) -> list[dict[str, Any]]:
    about = About(
        labels=model.tagger.vocabulary.names,
        model=model.name,
        photos=root or Path(),
        options={"from_name": controls.from_name, "to_name": controls.to_name},
    )
    async with desk.uploads.held() as hold:
        read = [await asyncio.to_thread(_read, task, controls, root, desk.limits.upload_bytes, hold) for task in tasks]
        outcomes = iter(await desk.tag(request, model, [data for data in read if isinstance(data, bytes)]))
    found = []
    for data in read:
        outcome: Result | OrderlessError = next(outcomes) if isinstance(data, bytes) else data
        if isinstance(outcome, OrderlessError):
            reason = outcome.reason if isinstance(outcome, UnreadableImage) else str(outcome)
            found.append({"model_version": model.name, "result": [], "error": reason})
        else:
            found.append(prediction(_chosen(outcome, controls), about))
    return found


def _chosen(result: Result, controls: Controls) -> Result:
    """Without labels that the project does not have: Label Studio would not know where to put them."""
    if not controls.choices:
        return result
    return replace(result, tags=tuple(tag for tag in result.tags if tag.label in controls.choices))


def _parse(body: bytes) -> PredictIn:
    if sum(body.count(mark) for mark in (b"{", b"[", b",")) > _MOST_VALUES:  # each takes far more memory than its text
        raise HTTPException(422, f"the body holds more than {_MOST_VALUES:,} values")
    try:
        return PredictIn.model_validate(json.loads(body))
    except ValidationError as error:
        first = error.errors()[0]
        raise HTTPException(422, f"{'.'.join(map(str, first['loc'])) or 'body'}: {first['msg']}") from None
    except (ValueError, RecursionError):
        raise HTTPException(422, "the body is not JSON") from None


def _controls(config: str | None) -> Controls:
    """From a project's labelling interface."""
    if not config:
        return Controls()
    if "<!" in config.replace("<!--", ""):
        raise HTTPException(422, "label_config: document types and entities are not accepted")
    try:
        root = ElementTree.fromstring(config)
    except (ElementTree.ParseError, ValueError):
        raise HTTPException(422, "label_config: it is not XML") from None
    choices = root.find(".//Choices")
    if choices is None:
        raise HTTPException(422, "label_config: it has no <Choices>")
    to_name = choices.get("toName", "image")
    image = next((element for element in root.iter() if element.get("name") == to_name), None)
    key = None if image is None else image.get("value", "").lstrip("$") or None
    values = frozenset(value for choice in choices.iter("Choice") if (value := choice.get("value")))
    return Controls(choices.get("name", "labels"), to_name, key, values)


def _read(
    task: Task, controls: Controls, root: Path | None, limit: int, hold: Callable[[int], None]
) -> bytes | UnreadableImage:
    """A task's image as it is encoded; `hold` is told how large it is before it is read."""
    value = task.data.get(controls.key) if controls.key else next(iter(task.data.values()), None)
    if not isinstance(value, str):
        return UnreadableImage("task", f"the task has no image under {controls.key or 'its data'}")
    if value.startswith("data:"):
        head, _, encoded = value.partition(",")
        hold(len(encoded))
        try:
            return base64.b64decode(encoded, validate=True) if head.endswith(";base64") else unquote(encoded).encode()
        except (binascii.Error, ValueError):
            return UnreadableImage("task", "its data URL is damaged")
    return _read_file(value, root, limit, hold)


def _read_file(address: str, root: Path | None, limit: int, hold: Callable[[int], None]) -> bytes | UnreadableImage:
    """A file below the root: `/data/local-files/?d=a/photo.jpg`, or a path relative to it."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return UnreadableImage("task", "its address is damaged")
    if parts.scheme or parts.netloc:
        return UnreadableImage("task", "addresses of other machines are not fetched; use local files or data URLs")
    if root is None:
        return UnreadableImage("task", "no folder of photos was given with --label-studio-root")
    place = parse_qs(parts.query).get("d", [""])[0] or unquote(parts.path)
    try:
        path = root.resolve() / place.lstrip("/")
        if not path.resolve().is_relative_to(root.resolve()):
            return UnreadableImage("task", "the file lies outside the folder of photos")
        check_regular(path)
        size = path.stat().st_size
        if size > limit:
            return UnreadableImage("task", "the file is larger than the upload limit")
        hold(size)
        return path.read_bytes()
    except UnreadableImage as error:
        return error
    except (OSError, ValueError):  # ValueError: a null byte
        return UnreadableImage("task", "there is no such file in the folder of photos")
