"""Checkpoints that survive a kill: written aside, flushed, renamed, with a checksum and a predecessor."""

from __future__ import annotations

import orderless.torchvision_ops  # noqa: F401  must come before Lightning

import hashlib  # isort: skip
import os
import pickle  # for the name of its error
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from lightning.fabric.plugins import CheckpointIO

from orderless.errors import OrderlessError
from orderless.files import write_atomically

# What torch.load raises on files that are no checkpoint, or that want to run code.
_NOT_OURS = (RuntimeError, pickle.UnpicklingError, EOFError, ValueError, LookupError, TypeError, AttributeError)


class AtomicCheckpoints(CheckpointIO):
    """A file of two parts: the checkpoint as torch saves it, then its SHA-256. Loading runs no code."""

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Any | None = None) -> None:
        path = Path(path)

        def write(temporary: Path) -> None:
            try:
                torch.save(checkpoint, temporary)
            except RuntimeError as error:  # how PyTorch reports a full disk
                raise OSError(f"{str(error).splitlines()[0]} (is the disk full?)") from error
            digest = _sha256(temporary)
            with temporary.open("r+b") as file:
                file.seek(0, os.SEEK_END)
                file.write(digest)
                file.flush()
                os.fsync(file.fileno())
            if path.exists():  # only now: until the new one is whole, nothing is touched
                path.replace(previous(path))

        write_atomically(path, write)

    def load_checkpoint(
        self, path: Any, map_location: Any | None = None, weights_only: bool | None = None
    ) -> dict[str, Any]:
        path = Path(path)
        try:
            loaded: dict[str, Any] = torch.load(path, map_location=map_location or "cpu", weights_only=True)
        except _NOT_OURS as error:
            reason = (str(error) or type(error).__name__).splitlines()[0]
            raise OrderlessError(f"{path} is not a checkpoint that orderless wrote ({reason}); delete it") from None
        if "epoch_so_far" not in loaded:
            raise OrderlessError(f"{path} was written by an older orderless; finish that run with it, or start anew")
        return loaded

    def remove_checkpoint(self, path: Any) -> None:
        for file in (Path(path), previous(Path(path))):
            file.unlink(missing_ok=True)


def previous(path: Path) -> Path:
    return path.with_name(f"{path.stem}.previous{path.suffix}")


def intact_checkpoint(path: Path, warn: Callable[[str], object]) -> Path | None:
    """The checkpoint, or the one before it if this one is torn; None if there never was one."""
    torn: list[Path] = []
    for candidate in (path, previous(path)):
        if not candidate.exists():
            continue
        if _is_whole(candidate):
            for file in torn:
                warn(f"{file} is damaged; going on from the checkpoint before it")
                file.unlink()  # or it would become the predecessor of the next one
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
