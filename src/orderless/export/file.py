"""`orderless export`: from a run folder to one checked file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orderless.errors import UsageError
from orderless.export.checking import Agreement, compare
from orderless.export.graph import DEFAULT_OPSET, export_tagger, need_onnx
from orderless.export.metadata import InputRule, Metadata
from orderless.export.photos import run_photos
from orderless.export.quantising import Cost, measure_cost, quantise
from orderless.files import write_bytes
from orderless.model.threshold import ThresholdedHead
from orderless.onnx_tagger import OnnxTagger
from orderless.run_folder import RunFolder
from orderless.tagger import Tagger, load

if TYPE_CHECKING:
    import onnx


@dataclass(frozen=True)
class Exported:
    """A file that was written, and how it compares with the run."""

    path: Path
    size: int  # bytes
    agreement: Agreement
    photos: str  # in words, what was compared on
    cost: Cost | None = None  # of int8


def export_run(run: str | Path, to: Path, *, int8: bool = False, opset: int = DEFAULT_OPSET) -> Exported:
    """Write the file, unless it says anything else than the run does.

    With `int8` the encoder's weights and activations are rounded to 8 bits; then some tags may differ, and how many
    is part of the answer.
    """
    need_onnx()
    if to.is_dir() or to.suffix != ".onnx":
        raise UsageError(f"--to {to}: name a file that ends in .onnx")
    tagger = load(run, device="cpu")
    proto = export_tagger(tagger.model, tagger.preprocessing, opset)
    metadata = describe(tagger, RunFolder(run).final_numbers()[1])
    photos = run_photos(tagger, calibrate=int8)
    content = with_metadata(proto, metadata)
    agreement = compare(tagger, OnnxTagger(content), photos.checked)
    agreement.require_identity()
    cost = None
    if int8:
        whole, content = content, with_metadata(quantise(content, photos.calibration), replace(metadata, int8=True))
        agreement = compare(tagger, OnnxTagger(content), photos.checked)
        cost = measure_cost(whole, content, photos)
    write_bytes(to, content)
    return Exported(to, len(content), agreement, photos.source, cost)


def describe(tagger: Tagger, numbers: dict[str, Any]) -> Metadata:
    """What the file says of itself. The place of the training data is nobody's business."""
    settings, rule = tagger.config.model_dump(mode="json"), tagger.preprocessing
    settings["data"] = {name: settings["data"][name] for name in ("image_size", "pixel_limit")}
    settings["model"]["weights"] = "none"
    head = tagger.model.head
    return Metadata(
        vocabulary=tagger.vocabulary,
        preprocessing=InputRule(
            rule.size, rule.mean, rule.std, rule.interpolation, pixel_limit=tagger.config.data.pixel_limit
        ),
        method=tagger.config.method,
        config=settings,
        threshold=float(head.threshold) if isinstance(head, ThresholdedHead) else None,
        metrics=numbers,
    )


def with_metadata(proto: onnx.ModelProto, metadata: Metadata) -> bytes:
    """The file's content: the graph with its description."""
    import onnx.helper

    onnx.helper.set_model_props(proto, metadata.to_props())
    proto.producer_name, proto.producer_version = "orderless", metadata.version
    content: bytes = proto.SerializeToString()
    return content
