"""The small file beside a photo: what it is called, and where it lies."""

from __future__ import annotations

import os
from collections import Counter
from functools import lru_cache
from pathlib import Path

from orderless.data.images import is_image_file
from orderless.outputs.about import About


def sidecar(photo: str, suffix: str, about: About, out: Path | None) -> Path:
    """`photo.xmp` for `photo.jpg`, beside it or at the same place below `out`.

    It is `photo.jpg.xmp` where such a file is there (digiKam and darktable write those), and where another picture
    has the same name but for the suffix, or the suffix is none of a picture's.
    """
    path = Path(photo)
    place = path if out is None else out / about.below(photo)
    long = place.with_name(place.name + suffix)
    unclear = not is_image_file(path) or _stems(path.parent)[path.stem] > 1
    return long if unclear or long.exists() else place.with_suffix(suffix)


@lru_cache(maxsize=16)
def _stems(folder: Path) -> Counter[str]:
    """How many pictures of a folder have a name, without its suffix."""
    try:
        with os.scandir(folder) as entries:
            return Counter(Path(entry.name).stem for entry in entries if is_image_file(Path(entry.name)))
    except OSError:  # the photo is missing then, which its result says
        return Counter()
