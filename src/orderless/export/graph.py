"""A tagger as one ONNX graph: bytes of images in, labels out."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from orderless.data.transforms import Preprocessing
from orderless.errors import OrderlessError, UsageError
from orderless.export.decoding import predict
from orderless.export.metadata import INPUT, OUTPUTS
from orderless.model.network import TaggingModel

if TYPE_CHECKING:
    import onnx

DEFAULT_OPSET = 20
OPSETS = range(18, 24)  # what the exporter writes


class TaggingGraph(nn.Module):
    """images [B, S, S, 3] uint8 -> the outputs by name, those left out that the head does not have."""

    scale: Tensor
    shift: Tensor

    def __init__(self, model: TaggingModel, preprocessing: Preprocessing) -> None:
        super().__init__()
        self.model = model
        std = torch.tensor(preprocessing.std)
        self.register_buffer("scale", (1 / (255 * std)).view(3, 1, 1))
        self.register_buffer("shift", (torch.tensor(preprocessing.mean) / std).view(3, 1, 1))

    def forward(self, images: Tensor) -> dict[str, Tensor]:
        inputs = images.permute(0, 3, 1, 2).float() * self.scale - self.shift  # [B, 3, S, S]
        prediction = predict(self.model.head, self.model.encoder(inputs))
        outputs = {name: getattr(prediction, name) for name in OUTPUTS}
        return {name: value for name, value in outputs.items() if value is not None}


def export_tagger(model: TaggingModel, preprocessing: Preprocessing, opset: int = DEFAULT_OPSET) -> onnx.ModelProto:
    """The model (its batch norms folded) with normalisation before it and decoding behind it."""
    if opset not in OPSETS:
        raise UsageError(f"--opset {opset}: choose one from {OPSETS[0]} to {OPSETS[-1]}")
    graph = TaggingGraph(model.cpu(), preprocessing).eval()
    images = torch.zeros(2, preprocessing.size, preprocessing.size, 3, dtype=torch.uint8)
    with torch.no_grad():
        names = list(graph(images))
    return export_module(graph, images, INPUT, names, opset)


def export_module(
    module: nn.Module, example: Tensor, name: str, outputs: list[str], opset: int = DEFAULT_OPSET
) -> onnx.ModelProto:
    """PyTorch's exporter with a free batch size, and without its chatter. An example has two rows: one is special."""
    need_onnx()
    with _quiet(), torch.no_grad():
        try:
            program = torch.onnx.export(
                module,
                (example,),
                dynamo=True,
                opset_version=opset,
                input_names=[name],
                output_names=outputs,
                dynamic_shapes=({0: torch.export.Dim("batch")},),
                verbose=False,
            )
        except (RuntimeError, torch.onnx.OnnxExporterError) as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[-1]
            raise OrderlessError(f"this model cannot be exported to ONNX: {reason}") from error
    assert program is not None
    proto: Any = program.model_proto
    return proto


def need_onnx() -> None:
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
        import onnxscript  # noqa: F401
    except ImportError as error:
        raise UsageError(f"{error.name} is not installed; pip install 'orderless[onnx]' brings it") from None


@contextmanager
def _quiet() -> Iterator[None]:
    loggers = [logging.getLogger(name) for name in ("onnxscript", "onnx_ir", "torch.onnx", "torch.fx")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
