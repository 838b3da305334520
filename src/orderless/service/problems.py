"""Answers to what cannot be done: a status and one sentence."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel
from starlette.exceptions import HTTPException

from orderless.service.batching import QueueFull

CLIENT_LEFT = 499  # nobody reads it; it stands in the metrics


class Problem(BaseModel):
    """What went wrong."""

    detail: str


_WORDS = {
    400: "The request is not well-formed.",
    401: "The token is missing or wrong.",
    403: "Another site's page sent this.",
    404: "There is no such model.",
    408: "The upload took too long.",
    413: "The upload is too large.",
    415: "The content type is not one of images.",
    422: "The request or its image cannot be read.",
    429: "The service is busy; `Retry-After` says for how long.",
    500: "The model failed.",
    503: "The service is not ready.",
    504: "The answer took too long.",
}


def problems(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For a route's documentation."""
    return {status: {"model": Problem, "description": _WORDS[status]} for status in statuses}


def busy(full: QueueFull) -> HTTPException:
    return HTTPException(429, str(full), headers={"retry-after": str(full.retry_after)})
