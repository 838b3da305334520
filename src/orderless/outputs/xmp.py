"""XMP sidecars: keywords as Lightroom, Photoshop, Bridge, digiKam and darktable read them.

A sidecar that is there already keeps what it holds; keywords are added. Keywords inside the photo itself (IPTC,
embedded XMP) are left alone: that would mean writing to originals.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from orderless.data.xmp import keyword, new_packet, with_keywords
from orderless.files import write_bytes
from orderless.outputs.about import About

if TYPE_CHECKING:
    from orderless.results import Result

SUFFIX = ".xmp"


def write(result: Result, path: Path, about: About) -> None:
    labels = list(dict.fromkeys(map(keyword, result.labels)))
    try:
        before = path.read_bytes()
    except FileNotFoundError:
        write_bytes(path, new_packet(labels))
        return
    after = with_keywords(before, labels, path)
    if after != before:
        write_bytes(path, after)
