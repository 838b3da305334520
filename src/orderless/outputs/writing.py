"""From photos to files: what is done already is left out, the rest is written in the format asked for."""

from __future__ import annotations

import csv
import errno
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from orderless.errors import OrderlessError, UsageError
from orderless.files import alone_with, write_atomically
from orderless.outputs import Output
from orderless.outputs.about import About
from orderless.outputs.sidecars import sidecar

if TYPE_CHECKING:
    from orderless.results import Result


_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)  # the next photo would fare no better


@dataclass
class Tally:
    """Every photo is counted once."""

    tagged: int = 0
    failed: int = 0
    kept: int = 0  # done before

    def __str__(self) -> str:
        kept = f", {self.kept:,} were done before" if self.kept else ""
        return f"{self.tagged:,} photo{'s' * (self.tagged != 1)} tagged, {self.failed:,} failed{kept}"

    def count(self, results: Iterable[Result]) -> Iterator[Result]:
        for result in results:
            self.failed += result.error is not None
            self.tagged += result.error is None
            yield result


@dataclass
class Writing:
    """One job: where the tags of many photos go."""

    output: Output
    out: Path | None  # file or folder; None: standard output, or beside the photos
    about: About
    resume: bool = False
    overwrite: bool = False
    model: str = ""  # a mark of the model, so that a job is not finished by another

    def __post_init__(self) -> None:
        kind, name = self.output.kind, self.output.name
        if kind == "file" and self.out is None:
            raise UsageError(f"{name} cannot be printed; say where to write it with --out FILE")
        if kind == "sidecar" and self.out is not None and self.out.is_file():
            raise UsageError(f"--out {str(self.out)!r} is a file; {name} wants a folder, or none: beside the photos")
        if self.overwrite and (name == "xmp" or (self.out is None and kind != "sidecar")):
            raise UsageError(f"--overwrite has no meaning here: {name} replaces nothing")
        if kind != "sidecar" and self.out is not None:
            self.out = self._checked(self.out)
        if self.resume and not self.can_resume:
            raise UsageError(f"--resume does not work with {name}; it does with csv and jsonl files, and txt")
        if hasattr(self.output.module, "check"):
            self.output.module.check(self.about)
        self.tally = Tally()
        self._kept_bytes = 0  # of the part that is there already

    def _checked(self, out: Path) -> Path:
        """Where a link leads; a file that is there already is not replaced unless that is asked for."""
        try:
            place = out.resolve()
        except (OSError, RuntimeError):
            raise UsageError(f"--out {str(out)!r} is a link that leads nowhere") from None
        if place.exists() and not place.is_file():
            raise UsageError(f"--out {str(out)!r} is there already, and is not a file")
        part = _part(place)
        finished = self.resume and self.output.resumable and not part.is_file()
        if place.exists() and not self.overwrite and not finished:
            raise UsageError(f"--out {str(out)!r} is there already; --overwrite replaces it")
        if self.output.resumable and part.is_file() and not self.overwrite and not self.resume:
            raise UsageError(f"{str(part)!r} is of a job that was stopped: --resume goes on, --overwrite begins again")
        return place

    @property
    def can_resume(self) -> bool:
        """Whether a job that was stopped can go on where it was."""
        return self.output.name == "txt" or (self.output.resumable and self.out is not None)

    @property
    def finished(self) -> bool:
        """Whether there is nothing to resume, because all is done."""
        resumed = self.resume and self.output.resumable and not self.overwrite
        return resumed and self.out is not None and self.out.is_file() and not self.part.is_file()

    @property
    def part(self) -> Path:
        """The file while it is not whole."""
        assert self.out is not None
        return _part(self.out)

    @property
    def part_model(self) -> Path:
        """Beside the part: which model it is of."""
        return self.part.with_name(self.part.name + ".model")

    def pending(self, photos: Iterable[Path]) -> Iterator[Path]:
        """The photos that are to be tagged."""
        if self.resume and self.output.resumable:
            if self.part.is_file():
                return self._after_part(iter(photos))
            if self.finished:
                return self._none_of(photos)
        if self.output.name == "txt" and not self.overwrite:
            return self._without_text(photos)
        return iter(photos)

    def write(self, results: Iterable[Result], complain: Callable[[str], None]) -> None:
        """Write them all; what a format cannot say of a failed photo is complained about."""
        module, counted = self.output.module, self.tally.count(results)
        if self.output.kind == "sidecar":
            self._write_sidecars(counted, complain)
        elif self.finished:
            return  # `pending` gave no photo
        elif self.out is None:
            if sys.stdout is None:
                raise UsageError("standard output is closed; say where to write with --out FILE")
            sys.stdout.reconfigure(errors="surrogateescape")  # type: ignore[union-attr]
            module.write(counted, sys.stdout, self.about)
        elif self.output.resumable:
            self._write_part(counted)
        elif self.output.kind == "text":
            write_atomically(self.out, lambda path: self._write_text(path, counted))
        else:
            write_atomically(self.out, lambda path: module.write(counted, path, self.about))

    def _write_sidecars(self, results: Iterable[Result], complain: Callable[[str], None]) -> None:
        module = self.output.module
        if self.out is not None:  # what is wrong with the folder is wrong for every photo
            self.out.mkdir(parents=True, exist_ok=True)
            if not os.access(self.out, os.W_OK):
                raise UsageError(f"--out {str(self.out)!r} cannot be written")
        for result in results:
            reason = result.error
            if reason is None:
                try:
                    module.write(result, sidecar(result.name, module.SUFFIX, self.about, self.out), self.about)
                except (OrderlessError, OSError) as error:  # a sidecar that is damaged stays as it is
                    cause = error.__cause__ if isinstance(error, OrderlessError) else error
                    if isinstance(cause, OSError) and cause.errno in _NO_ROOM:
                        raise
                    reason = str(error)
                    self.tally.failed += 1
                    self.tally.tagged -= 1
            if reason is not None:
                complain(f"{result.name}: {reason}")

    def _write_text(self, path: Path, results: Iterable[Result]) -> None:
        with path.open("w", encoding="utf-8", newline="") as file:
            self.output.module.write(results, file, self.about)

    def _write_part(self, results: Iterable[Result]) -> None:
        """Row by row into the part, which stays if the work is stopped, and becomes the file at the end."""
        assert self.out is not None
        begun = self._kept_bytes > 0
        try:
            self.part.parent.mkdir(parents=True, exist_ok=True)
            self.part.touch()
            # Bytes of a file name that are not UTF-8 are kept as they are.
            with (
                alone_with(self.part) as alone,
                self.part.open("r+", encoding="utf-8", errors="surrogateescape", newline="") as file,
            ):
                if not alone:
                    raise UsageError(f"another job is writing {str(self.part)!r}; wait for it, or choose another --out")
                if self.model:
                    self.part_model.write_text(self.model, encoding="utf-8")
                file.seek(self._kept_bytes)
                file.truncate()
                self.output.module.write(results, file, self.about, begun=begun)
                file.flush()
                os.fsync(file.fileno())
            self.part.replace(self.out)
            self.part_model.unlink(missing_ok=True)
        except OSError as error:
            raise OrderlessError(f"cannot write {self.out}: {error.strerror or error}") from error

    def _without_text(self, photos: Iterable[Path]) -> Iterator[Path]:
        for photo in photos:
            if sidecar(str(photo), self.output.module.SUFFIX, self.about, self.out).exists():
                self.tally.kept += 1
            else:
                yield photo

    def _none_of(self, photos: Iterable[Path]) -> Iterator[Path]:
        """A finished file must be of these photos."""
        assert self.out is not None
        if next(self._after(self.out, iter(photos)), None) is not None:
            raise UsageError(f"{str(self.out)!r} is finished, and of fewer photos; --overwrite begins again")
        return iter(())

    def _after_part(self, photos: Iterator[Path]) -> Iterator[Path]:
        if self.part_model.is_file() and self.part_model.read_text(encoding="utf-8") != self.model:
            raise UsageError(f"{str(self.part)!r} was begun with another model; --overwrite begins again")
        return self._after(self.part, photos)

    def _after(self, written: Path, photos: Iterator[Path]) -> Iterator[Path]:
        """Go through a file and the photos side by side: they must be the same, in the same order."""
        with written.open("rb") as file:
            lines = _Lines(file)
            rows = self.output.module.done_rows(lines)
            while True:
                try:
                    name, failed = next(rows)
                except (StopIteration, ValueError, LookupError, csv.Error):  # the end, or a row that was cut off
                    break
                if not lines.whole:
                    break
                if name is not None:
                    photo = next(photos, None)
                    if photo is None or self.about.name(str(photo)) != name:
                        raise UsageError(
                            f"{str(written)!r} is of other photos (it names {name!r}); --overwrite begins again"
                        )
                    self.tally.failed += failed
                    self.tally.kept += not failed
                self._kept_bytes = lines.position
        return photos


def _part(out: Path) -> Path:
    return out.with_name(out.name + ".part")


class _Lines:
    """Lines of a file as text; knows how many bytes were read, and whether the last line was whole."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.position, self.whole = file, 0, False

    def __iter__(self) -> Iterator[str]:
        for line in self.file:
            self.position += len(line)
            self.whole = line.endswith(b"\n")
            yield line.decode("utf-8", "surrogateescape")
