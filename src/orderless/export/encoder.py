"""An encoder alone as ONNX, for `predict --runtime onnx` and `openvino`: exported once, then kept in the cache."""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path

import torch
from torch import Tensor, nn

from orderless import __version__
from orderless.errors import OrderlessError
from orderless.export.graph import export_module
from orderless.files import cache_root, write_bytes
from orderless.model.encoder import Encoder

INPUT, OUTPUT = "images", "features"
MOST_KEPT = 8


class _ColoursLast(nn.Module):
    """The encoder for images [B, S, S, 3]: so they lie in memory, and so no copy is made."""

    def __init__(self, encoder: Encoder) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, images: Tensor) -> Tensor:
        features: Tensor = self.encoder(images.permute(0, 3, 1, 2))
        return features


def exported_encoder(encoder: Encoder, size: int) -> bytes:
    """The encoder (batch norms folded) for images of that size, as ONNX: input [B, S, S, 3], output [B, cells, C]."""
    path = cache_root() / "encoders" / f"{_key(encoder, size)}.onnx"
    with suppress(OSError):
        content = _checked(path.read_bytes())
        with suppress(OSError):  # somebody else's, which only counts when room is made
            os.utime(path)
        return content
    proto = export_module(_ColoursLast(encoder), torch.zeros(2, size, size, 3), INPUT, [OUTPUT])
    content = bytes(proto.SerializeToString())
    with suppress(OSError, OrderlessError):  # a cache that cannot be written is done without
        write_bytes(path, content + hashlib.sha256(content).digest())
        _keep_the_latest(path.parent)
    return content


def _checked(kept: bytes) -> bytes:
    """What was kept, without its checksum; a damaged file is as good as none."""
    content, digest = kept[:-32], kept[-32:]
    if hashlib.sha256(content).digest() != digest:
        raise OSError("damaged")
    return content


def _keep_the_latest(folder: Path) -> None:
    """Every run has an encoder of its own: those that were not used for longest are made again when they are."""
    used = {file: file.stat().st_mtime for file in folder.glob("*.onnx")}
    for file in sorted(used, key=used.__getitem__, reverse=True)[MOST_KEPT:]:
        file.unlink(missing_ok=True)


def _key(encoder: Encoder, size: int) -> str:
    digest = hashlib.sha256(f"{__version__}/{torch.__version__}/{encoder.backbone_name}/{size}".encode())
    for name, tensor in encoder.state_dict().items():
        digest.update(name.encode() + tensor.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()[:32]
