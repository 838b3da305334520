"""Results to write, harmless and hostile, without a model."""

from __future__ import annotations

import os
from pathlib import Path

from PIL import Image

from orderless.outputs import OUTPUTS
from orderless.outputs.about import About
from orderless.outputs.writing import Writing
from orderless.results import Result, Tag

LABELS = ("person", "hot dog", "grün")
HOSTILE = ('a, "b"', "x|y", "new\nline", "<script>alert(1)</script>", "=1+1", "../../x", "[brackets]", "&amp;", "日本")
NOT_UTF8 = os.fsdecode(b"na\xefve \xff.jpg")
NAMES = ("plain.jpg", 'com,ma "quoted".jpg', "new\nline.jpg", "<script>.jpg", "=1+1.jpg", "per%20cent.jpg", "日本.jpg")


def photo(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (8, 8)).save(path, "JPEG")
    return path


def tagged(name: str | Path, *labels: str) -> Result:
    return Result(str(name), tuple(Tag(label, 0.9 - i / 10) for i, label in enumerate(labels)))


def writing(
    format: str,
    photos: Path,
    out: Path | None,
    labels: tuple[str, ...] = LABELS,
    resume: bool = False,
    overwrite: bool = False,
    **options: str,
) -> Writing:
    output = OUTPUTS[format]
    folder = out.parent if out is not None and output.kind != "sidecar" else None
    return Writing(output, out, About(labels, "model-1", photos, folder, options), resume, overwrite)
