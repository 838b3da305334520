"""Writing files so that they are there wholly or not at all; and where what can be made again is kept."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from orderless.errors import OrderlessError, UsageError


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Let `write` fill a temporary file beside `path`, flush it to the disk, then rename it into place."""
    temporary = temporary_name(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(temporary)
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise OrderlessError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        with suppress(OSError):  # never was there, or cannot be removed: the reason was told above
            temporary.unlink()


def temporary_name(path: Path) -> Path:
    """Beside the file, hidden, short however long the file's name is, and of no other process.

    Not even of one in another container, which may have the same number.
    """
    mark = zlib.crc32(os.fsencode(path.name))
    return path.with_name(f".{path.name[:40]}.{mark:08x}.{os.getpid()}-{os.urandom(3).hex()}.tmp")


_held: set[int] = set()  # handles of what this process has locked


@contextmanager
def alone_with(path: Path) -> Iterator[bool]:
    """Whether no other process is within this for the same file or folder, which must be there.

    Nobody can tell on Windows and on some network drives: then it is taken to be so.
    """
    try:
        import fcntl
    except ImportError:
        yield True
        return
    handle = os.open(path, os.O_RDONLY)
    _held.add(handle)
    try:
        alone = True
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            alone = path.exists() and os.path.samestat(os.fstat(handle), path.stat())  # not renamed meanwhile
        except BlockingIOError:
            alone = False
        except OSError:
            pass
        yield alone
    finally:
        if handle in _held:  # else this is a forked process, which has closed it
            _held.discard(handle)
            os.close(handle)


def _let_go() -> None:
    """In a process that was forked: it may outlive this one for a moment, and must not hold what this one had."""
    while _held:
        os.close(_held.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


def write_text(path: Path, text: str) -> None:
    write_atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def write_bytes(path: Path, content: bytes) -> None:
    write_atomically(path, lambda temporary: temporary.write_bytes(content))


def sha256(path: Path) -> str:
    """The checksum of a file, however large."""
    import hashlib  # not above: the help page needs no checksums

    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def cache_root() -> Path:
    """$ORDERLESS_CACHE, or the user's cache folder."""
    if "ORDERLESS_CACHE" in os.environ:
        return Path(os.environ["ORDERLESS_CACHE"])
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "orderless"


def cache_limit() -> int:
    """$ORDERLESS_CACHE_GB (default 20) in bytes."""
    text = os.environ.get("ORDERLESS_CACHE_GB", "20")
    try:
        return int(float(text) * 1e9)
    except (ValueError, OverflowError):
        raise UsageError(f"ORDERLESS_CACHE_GB is {text!r}, not a number of gigabytes") from None
