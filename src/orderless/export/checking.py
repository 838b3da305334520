"""Both sides on the same photos: does the exported file say what the run says?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PIL import Image

from orderless.errors import OrderlessError
from orderless.onnx_tagger import OnnxTagger
from orderless.results import Result
from orderless.tagger import Tagger

TOLERANCE = 1e-4
_BATCH = 16


@dataclass(frozen=True)
class Agreement:
    """How two taggers agree on photos."""

    photos: int
    same_tags: int  # photos with the same tags in the same order
    same_decisions: float  # share of all yes-or-no decisions on labels
    largest_difference: float  # of any label's score on any photo

    def require_identity(self) -> None:
        if self.same_tags < self.photos:
            raise OrderlessError(
                f"the exported model gives other tags than the run on {self.photos - self.same_tags} of {self.photos} "
                "photos, so no file was written"
            )
        if not self.largest_difference <= TOLERANCE:
            raise OrderlessError(
                f"the exported model's scores differ by up to {self.largest_difference:.1e} from the run's, more than "
                f"{TOLERANCE:g}, so no file was written"
            )


def compare(tagger: Tagger, exported: OnnxTagger, photos: Sequence[Image.Image]) -> Agreement:
    """Tag the photos with both, in batches."""
    pairs: list[tuple[Result, Result]] = []
    for start in range(0, len(photos), _BATCH):
        batch = photos[start : start + _BATCH]
        pairs += zip(tagger.predict_images(batch), exported.predict_images(batch), strict=True)
    decided = len(pairs) * len(tagger.vocabulary)
    return Agreement(
        photos=len(pairs),
        same_tags=sum(ours.labels == theirs.labels for ours, theirs in pairs),
        same_decisions=1 - sum(len(set(a.labels) ^ set(b.labels)) for a, b in pairs) / decided,
        largest_difference=max(abs(a.scores[name] - b.scores[name]) for a, b in pairs for name in a.scores),
    )
