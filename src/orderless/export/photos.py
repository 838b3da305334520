"""Photos to check an export with: those that the run was judged on, or drawn ones if they are gone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice

from PIL import Image

from orderless.data import open_data
from orderless.data.sample import Collection, Sample
from orderless.data.scenes import scenes
from orderless.errors import UnreadableImage, UsageError
from orderless.tagger import Tagger

CHECKED = 64
CALIBRATION = 128  # photos that show int8 the range of its activations


@dataclass(frozen=True)
class Photos:
    """Decoded photos, and labelled samples to judge by: none if the run's data is not there any more."""

    checked: list[Image.Image]  # of the test split, or else the validation split
    calibration: list[Image.Image]  # of the training split; only if asked for
    labelled: list[Sample]  # of the validation split
    source: str  # in words


def run_photos(tagger: Tagger, calibrate: bool = False) -> Photos:
    """Of the run's own data where it still is, generated otherwise."""
    own = _own_data(tagger)
    found = own or scenes(train=CALIBRATION, test=CHECKED, val=0, size=256)
    photos = Photos(
        checked=list(islice(_open(found["test" if "test" in found else "val"], tagger), CHECKED)),
        calibration=list(islice(_open(found["train"], tagger), CALIBRATION)) if calibrate else [],
        labelled=own["val"] if own and "val" in own else [],
        source=f"photos of {tagger.config.data.path}" if own else "generated scenes, as the run's own photos are gone",
    )
    if not photos.checked:
        raise UsageError("not one photo of the run's data can be read, so the export cannot be checked")
    return photos


def _own_data(tagger: Tagger) -> Collection | None:
    settings, seed = tagger.config.data, tagger.config.data_seed
    try:
        return open_data(settings.path, settings.format, seed=seed, **settings.options).limited(settings.limit, seed)
    except UsageError:
        return None


def _open(samples: Iterable[Sample], tagger: Tagger) -> Iterator[Image.Image]:
    for sample in samples:
        try:
            image = sample.load(size=tagger.preprocessing.size, pixel_limit=tagger.config.data.pixel_limit)
        except UnreadableImage:
            continue
        factor = min(image.size) // (2 * tagger.preprocessing.size)
        yield image.reduce(factor) if factor > 1 else image  # many are held at once
