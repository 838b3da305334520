"""Label Studio's JSON export (and its JSON-MIN form): the choices made for each image.

The images are looked for in the export's folder by the names that the tool wrote, with or without the prefix
that it adds to uploads. Of several annotations of a task the ground truth counts, else the first that was not
cancelled. A task that nobody annotated is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from orderless.data.readers.files import ImageFinder, check_some_exist, head, unique
from orderless.data.readers.jsonstream import stream
from orderless.data.sample import Collection, Sample, split_samples
from orderless.errors import UsageError

FORMAT = "label-studio"

_UPLOAD_PREFIX = re.compile(r"^[0-9a-f]{8}-")


def detect(root: Path) -> bool:
    return _export(root) is not None


def read(root: Path, seed: int, *, predictions: bool = False) -> Collection:
    """Read the export and split by the seed; `predictions` takes a model's choices where nobody annotated."""
    path = _export(root)
    if path is None:
        raise UsageError(f"there is no JSON export of Label Studio in {str(root)!r}")
    folder = root if root.is_dir() else root.parent
    finder = ImageFinder(folder)
    tasks = [(f"{path} task {number}", task) for number, (_, task) in enumerate(stream(path), start=1)]
    for where, task in tasks:
        if not isinstance(task, dict):
            raise UsageError(f"{where} is not an object but {type(task).__name__}")
    controls = _controls(task for _, task in tasks)
    samples: list[Sample] = []
    undone = several = 0
    for where, task in tasks:
        image = _image(task, where)
        annotations = _done(task, where) or (_entries(task, "predictions", where) if predictions else None)
        if not annotations:
            undone += 1
            continue
        several += len(annotations) > 1
        labels = unique(str(choice) for choice in _choices(annotations[0], controls, where))
        samples.append(Sample(_find(finder, image, where), labels))
    if not samples:
        raise UsageError(f"{path} has no annotated task")
    check_some_exist(samples, path)
    notes = []
    if undone:
        notes.append(f"{undone:,} tasks without annotation were left out")
    if several:
        notes.append(f"{several:,} tasks have several annotations: the ground truth or the first was taken")
    return Collection(FORMAT, split_samples(samples, seed, root=folder), root=folder, notes=notes)


def _export(root: Path) -> Path | None:
    for path in [root] if root.is_file() else sorted(root.glob("*.json")):
        if path.suffix.lower() == ".json":
            start = head(path)
            if start.startswith(b"[") and re.search(rb'"(data|annotations|annotation_id|image)"\s*:', start):
                return path
    return None


def _done(task: dict[str, Any], where: str) -> list[dict[str, Any]] | None:
    """The annotations of a task, the one that counts first; None when there is none."""
    if "annotations" not in task and "completions" not in task:
        return [task] if "data" not in task else None  # JSON-MIN has the choices in the task itself
    annotations = _entries(task, "annotations" if "annotations" in task else "completions", where)
    valid = [entry for entry in annotations if not entry.get("was_cancelled")]
    return sorted(valid, key=lambda entry: not entry.get("ground_truth")) or None


def _entries(task: dict[str, Any], name: str, where: str) -> list[dict[str, Any]]:
    entries = task.get(name, [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise UsageError(f"{where}: its {name} are not a list of objects")
    return entries


def _controls(tasks: Iterable[dict[str, Any]]) -> set[str]:
    """JSON-MIN: the fields that hold choices; where one task chose several, another's single text is a choice too."""
    found = {"choice", "choices", "label", "labels", "tag", "tags"}
    for task in tasks:
        found |= {name for name, value in task.items() if isinstance(value, dict) and "choices" in value}
    return found


def _choices(annotation: dict[str, Any], controls: set[str], where: str) -> list[Any]:
    found: list[Any] = []
    try:
        if "result" in annotation:
            for item in annotation["result"]:
                if item.get("type") == "choices":
                    found += item["value"]["choices"]
            return found
        for name in sorted(annotation.keys() & controls):
            value = annotation[name]
            found += value["choices"] if isinstance(value, dict) else [value] if isinstance(value, str) else []
    except (KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{where}: its choices are not of Label Studio's form ({error!r})") from None
    return found


def _image(task: dict[str, Any], where: str) -> str:
    data = task.get("data", task)
    if not isinstance(data, dict):
        raise UsageError(f"{where}: its data is not an object")
    for name in ("image", "img", "photo", "picture", "url", *data):
        value = data.get(name)
        if isinstance(value, str) and re.search(r"\.(jpe?g|png|webp|gif|bmp|tiff?|avif|jfif)(\?|$)", value, re.I):
            return value
    raise UsageError(f"{where} names no image (its data has: {', '.join(data) or 'nothing'})")


def _find(finder: ImageFinder, address: str, where: str) -> Path:
    """The file behind `/data/upload/3/1f2e3d4c-photo.jpg`, `/data/local-files/?d=a/photo.jpg` or an address."""
    parts = urlsplit(address)
    local = parse_qs(parts.query, errors="surrogateescape").get("d", [""])[0]
    place = (local or unquote(parts.path, errors="surrogateescape")).lstrip("/")
    base = place.rpartition("/")[2]
    for name in (place, base, _UPLOAD_PREFIX.sub("", base)):
        path = finder.find(name, where)
        if path.exists():
            return path
    return finder.root / base
