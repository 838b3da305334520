"""FiftyOne: samples as `fo.Sample.from_dict` takes them, each with `Classifications`; docs/outputs.md loads them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from orderless.data.readers.files import is_address
from orderless.outputs.about import About
from orderless.outputs.json_lines import json_text

if TYPE_CHECKING:
    from orderless.results import Result

OPTIONS = {"field": "predictions"}


def write(results: Iterable[Result], file: TextIO, about: About) -> None:
    """One sample a line, within one object."""
    before = '{"samples": [\n'
    for result in results:
        file.write(before + json_text(sample(result, about)))
        before = ",\n"
    file.write('{"samples": []}\n' if before.startswith("{") else "\n]}\n")


def sample(result: Result, about: About) -> dict[str, Any]:
    """A failed photo has its reason in the field `error`."""
    found: dict[str, Any] = {"filepath": _filepath(result.name), "tags": [], "_media_type": "image"}
    if result.error is not None:
        return found | {"error": result.error}
    classifications = [
        {"_cls": "Classification", "label": tag.label, "confidence": round(tag.score, 4)} for tag in result.tags
    ]
    field = about.option("field", OPTIONS["field"])
    return found | {field: {"_cls": "Classifications", "classifications": classifications}}


def _filepath(photo: str) -> str:
    return photo if is_address(photo) else str(Path(photo).absolute())
