"""Any data set as the plain form: a folder of images with `metadata.csv`."""

from __future__ import annotations

import csv
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path, PurePath

from orderless.data.sample import SPLITS, Collection, Sample
from orderless.errors import OrderlessError, UnreadableImage, UsageError

Row = tuple[str, Sample]
JPEG_QUALITY = 95  # of boxes that are cut out


def convert(
    collection: Collection, out: Path, progress: Callable[[Iterable[Row]], Iterable[Row]] | None = None
) -> list[UnreadableImage]:
    """Write `images/` and `metadata.csv` into the new folder `out`; returns the images that had to be left out.

    Whole images are copied byte for byte, boxes are cut out. The folder appears only when it is whole.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{str(out)!r} exists already; choose a new folder")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    except OSError as error:
        raise UsageError(f"cannot write {str(out)!r}: {error.strerror}") from None
    try:
        left_out = _write(work, collection, progress or iter)
        work.chmod(0o755)  # temporary folders are private; this one becomes the user's
        work.replace(out)
    except OSError as error:
        raise OrderlessError(f"cannot write {str(out)!r}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return left_out


def _write(
    work: Path, collection: Collection, progress: Callable[[Iterable[Row]], Iterable[Row]]
) -> list[UnreadableImage]:
    (work / "images").mkdir()
    left_out: list[UnreadableImage] = []
    taken: dict[str, int] = {}
    ignores = any(sample.ignore for sample in collection)
    with (work / "metadata.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("file_name", "labels", "split", *(("ignore",) if ignores else ())))
        for split, sample in progress(_rows(collection)):
            try:
                name = _write_image(work, sample, taken)
            except UnreadableImage as error:
                left_out.append(error)
                continue
            row = (f"images/{name}", label_cell(sample.labels), split)
            table.writerow((*row, label_cell(sample.ignore)) if ignores else row)
    return left_out


def label_cell(labels: Iterable[str]) -> str:
    """Names with `|` between them, or a JSON list where that would be read back wrongly or taken for a formula."""
    names = list(labels)
    text = "|".join(names)
    odd = any("|" in name or name != name.strip() or not name for name in names) or text.startswith(
        ("[", "=", "+", "-", "@")
    )
    return json.dumps(names, ensure_ascii=False) if odd else text


def _rows(collection: Collection) -> Iterator[Row]:
    for split in SPLITS:
        for sample in collection.splits.get(split, ()):
            yield split, sample


def _write_image(work: Path, sample: Sample, taken: dict[str, int]) -> str:
    if type(sample) is Sample and sample.box is None:
        name = _free_name(sample.path.name, taken)
        try:
            shutil.copyfile(sample.path, work / "images" / name)
        except FileNotFoundError:
            raise UnreadableImage(sample.path, "there is no such file") from None
        return name
    data = sample.source_bytes() if sample.box is None else b""
    suffix = _suffix(data)
    if suffix:  # bytes of a whole image, from inside another file
        name = _free_name(f"{PurePath(sample.path.name).stem}{suffix}", taken)
        (work / "images" / name).write_bytes(data)
        return name
    image = sample.load()
    name = _free_name(f"{sample.path.stem}.jpg", taken)
    image.save(work / "images" / name, quality=JPEG_QUALITY)
    return name


def _suffix(data: bytes) -> str:
    signatures = {b"\xff\xd8\xff": ".jpg", b"\x89PNG": ".png", b"GIF8": ".gif", b"BM": ".bmp", b"II*\0": ".tif"}
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return ".webp"
    return next((suffix for start, suffix in signatures.items() if data.startswith(start)), "")


def _free_name(name: str, taken: dict[str, int]) -> str:
    """The name, or the name with a number when another folder had one like it; upper and lower case are the same."""
    # The table is UTF-8, names of files need not be; and other systems refuse some characters.
    name = re.sub(r'[<>:"|?*\\\x00-\x1f\x7f\ud800-\udfff]', "_", name)
    stem, suffix = PurePath(name).stem, PurePath(name).suffix
    free = name
    while free.lower() in taken:
        taken[name.lower()] += 1
        free = f"{stem}-{taken[name.lower()]}{suffix}"
    taken[free.lower()] = 1
    return free
