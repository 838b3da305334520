"""Label Studio: tasks with predictions, to import into a project with `<Choices name="labels" toName="image"/>`.

A photo is named as Label Studio's local storage serves it, relative to the folder of all photos; -O prefix= names
another way, such as the address of a bucket. A photo that failed is a task without prediction, its reason in `meta`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, TextIO
from urllib.parse import quote

from orderless.data.readers.files import is_address
from orderless.outputs.about import About
from orderless.outputs.json_lines import json_text

if TYPE_CHECKING:
    from orderless.results import Result

OPTIONS = {
    "from_name": "labels",
    "to_name": "image",
    "prefix": "/data/local-files/?d=",
    "model_version": "",  # the run's name
}


def write(results: Iterable[Result], file: TextIO, about: About) -> None:
    """One task a line, within one list."""
    before = "[\n"
    for result in results:
        file.write(before + json_text(task(result, about)))
        before = ",\n"
    file.write("[]\n" if before == "[\n" else "\n]\n")


def task(result: Result, about: About) -> dict[str, Any]:
    to_name = about.option("to_name", OPTIONS["to_name"])
    found: dict[str, Any] = {"data": {to_name: address(result.name, about)}}
    if result.error is not None:
        return found | {"meta": {"error": result.error}}
    return found | {"predictions": [prediction(result, about)]}


def address(photo: str, about: About) -> str:
    """Where Label Studio finds the photo; one that has an address already keeps it."""
    if is_address(photo):
        return photo
    return about.option("prefix", OPTIONS["prefix"]) + quote(os.fsencode(about.below(photo).as_posix()))


def prediction(result: Result, about: About) -> dict[str, Any]:
    """The tags as one choice; the score is that of the least certain tag, so that sorting by it finds what to check."""
    found: dict[str, Any] = {"model_version": about.option("model_version", "") or about.model, "result": []}
    if result.tags:
        found["score"] = round(min(tag.score for tag in result.tags), 4)
        found["result"].append(
            {
                "id": "tags",
                "type": "choices",
                "from_name": about.option("from_name", OPTIONS["from_name"]),
                "to_name": about.option("to_name", OPTIONS["to_name"]),
                "value": {"choices": result.labels},
            }
        )
    return found
