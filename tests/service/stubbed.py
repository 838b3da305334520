"""`orderless serve` with a model that needs no PyTorch and takes a given number of seconds a batch.

Everything but the model is the real thing; it starts in a second, and its queue fills on any machine.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from pathlib import Path

from PIL import Image

from orderless.cli.main import main
from orderless.labels import Vocabulary
from orderless.results import Result, Tag
from orderless.service import models


class Stub:
    """Says "wide" or "high"."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.vocabulary = Vocabulary(("high", "wide"), (1, 1))

    def predict_images(self, images: Iterable[Image.Image]) -> list[Result]:
        time.sleep(self.seconds)
        return [Result("x", (Tag("wide" if image.width > image.height else "high", 0.5),)) for image in images]


if __name__ == "__main__":
    stub = Stub(float(sys.argv.pop(1)))
    models._load = lambda path, name: models.Model(name, "run", stub, 64)
    sys.argv = ["orderless", "serve", str(Path("stub")), *sys.argv[1:]]
    main()
