"""A photo as a small picture inside a page."""

from __future__ import annotations

import base64
import io

from orderless.data.sample import Sample
from orderless.errors import UnreadableImage
from orderless.report.html import jpeg

SIDE = 300  # pixels of the long side, about twice what a page shows


def thumbnail(sample: Sample, name: str) -> str | None:
    """An image element with the JPEG inside; None if the photo cannot be read."""
    try:
        image = sample.load(size=SIDE)
    except UnreadableImage:
        return None
    image.thumbnail((SIDE, SIDE))
    memory = io.BytesIO()
    image.save(memory, "JPEG", quality=78)
    return jpeg(base64.b64encode(memory.getvalue()).decode("ascii"), name)
