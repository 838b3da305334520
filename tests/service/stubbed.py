"""`orderless serve` with a model that needs no PyTorch and works only while its gate is open.

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

    def __init__(self, gate: Path | None) -> None:
        self.gate = gate
        self.served = False  # the first call is the service's own, to warm up
        self.vocabulary = Vocabulary(("high", "wide"), (1, 1))

    def predict_images(self, images: Iterable[Image.Image]) -> list[Result]:
        if self.gate is not None and self.served:
            (self.gate / "reached").touch()
            while not (self.gate / "open").exists():
                time.sleep(0.01)
        self.served = True
        return [Result("x", (Tag("wide" if image.width > image.height else "high", 0.5),)) for image in images]


if __name__ == "__main__":
    folder = sys.argv.pop(1)
    stub = Stub(Path(folder) if folder else None)
    models._load = lambda path, name: models.Model(name, "run", stub, 64)
    sys.argv = ["orderless", "serve", str(Path("stub")), *sys.argv[1:]]
    main()
