"""Checkpoints that survive a kill: written aside, flushed, renamed, with a checksum and a predecessor."""

from __future__ import annotations

import orderless.torchvision_ops  # noqa: F401  must come before Lightning

import hashlib  # isort: skip
import warnings
from pathlib import Path
from typing import Any

import torch
from lightning.fabric.plugins import CheckpointIO

from orderless.errors import OrderlessError
from orderless.files import write_atomically


class AtomicCheckpoints(CheckpointIO):
    """A file of two parts: the checkpoint as torch saves it, then its SHA-256. Loading runs no code."""

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Any | None = None) -> None:
        path = Path(path)
        if path.exists():
            path.replace(previous(path))

        def write(temporary: Path) -> None:
            torch.save(checkpoint, temporary)
            digest = _sha256(temporary)
            with temporary.open("ab") as file:
                file.write(digest)

        write_atomically(path, write)

    def load_checkpoint(
        self, path: Any, map_location: Any | None = None, weights_only: bool | None = None
    ) -> dict[str, Any]:
        path = Path(path)
        loaded: dict[str, Any] = torch.load(path, map_location=map_location or "cpu", weights_only=True)
        return loaded

    def remove_checkpoint(self, path: Any) -> None:
        for file in (Path(path), previous(Path(path))):
            file.unlink(missing_ok=True)


def previous(path: Path) -> Path:
    return path.with_name(f"{path.stem}.previous{path.suffix}")


def intact_checkpoint(path: Path) -> Path | None:
    """The checkpoint, or the one before it if this one is torn; None if there never was one."""
    torn: list[Path] = []
    for candidate in (path, previous(path)):
        if not candidate.exists():
            continue
        if _is_whole(candidate):
            if torn:
                warnings.warn(f"{path} is damaged; going on from the checkpoint before it", stacklevel=2)
            return candidate
        torn.append(candidate)
    if torn:
        raise OrderlessError(f"{torn[0]} is damaged and there is no earlier checkpoint; start the run again")
    return None


def _is_whole(path: Path) -> bool:
    size = path.stat().st_size - hashlib.sha256().digest_size
    if size <= 0:
        return False
    with path.open("rb") as file:
        file.seek(size)
        stored = file.read()
    return _sha256(path, size) == stored


def _sha256(path: Path, size: int | None = None) -> bytes:
    digest, left = hashlib.sha256(), path.stat().st_size if size is None else size
    with path.open("rb") as file:
        while left and (block := file.read(min(left, 1 << 20))):
            digest.update(block)
            left -= len(block)
    return digest.digest()
