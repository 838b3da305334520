"""orderless: tag images with sets of labels.

    import orderless
    tagger = orderless.load("runs/x")
    tagger.predict("photo.jpg")

Submodules are imported on first use, so that `import orderless` costs nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from orderless.data import open_data
    from orderless.labels import Vocabulary
    from orderless.onnx_tagger import OnnxTagger
    from orderless.tagger import Tagger, load

__all__ = ["OnnxTagger", "Tagger", "Vocabulary", "__version__", "load", "open_data"]

_HOMES = {
    "load": "orderless.tagger",
    "Tagger": "orderless.tagger",
    "OnnxTagger": "orderless.onnx_tagger",
    "Vocabulary": "orderless.labels",
    "open_data": "orderless.data",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'orderless' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
