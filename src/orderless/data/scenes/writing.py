"""Generated scenes as an ordinary folder of photos with a table, for tools that want files."""

from __future__ import annotations

import csv
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from orderless.data.sample import SPLITS, Collection, Sample
from orderless.errors import UsageError

Row = tuple[str, Sample]
JPEG_QUALITY = 90


def _silent(rows: Iterable[Row]) -> Iterable[Row]:
    return rows


def write_scenes(
    out: Path, collection: Collection, progress: Callable[[Iterable[Row]], Iterable[Row]] = _silent
) -> None:
    """Write `images/<split>-00000.jpg` and `metadata.csv` (`file_name,labels,split`) into the new folder `out`.

    The folder appears under its name only when it is whole. `progress` may wrap the iteration in a bar.
    """
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{str(out)!r} exists already; choose a new folder")
    out.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        (work / "images").mkdir()
        with (work / "metadata.csv").open("w", newline="", encoding="utf-8") as handle:
            table = csv.writer(handle, lineterminator="\n")
            table.writerow(("file_name", "labels", "split"))
            for split, name, sample in _named(progress(_rows(collection))):
                sample.load().save(work / name, quality=JPEG_QUALITY)
                table.writerow((name, "|".join(sample.labels), split))
        work.chmod(0o755)  # temporary folders are private; this one becomes the user's
        if out.exists():
            out.rmdir()  # it is empty; some systems rename onto nothing only
        work.replace(out)
    except BaseException:
        shutil.rmtree(work, ignore_errors=True)
        raise


def _rows(collection: Collection) -> Iterator[Row]:
    for split in SPLITS:
        for sample in collection.splits.get(split, ()):
            yield split, sample


def _named(rows: Iterable[Row]) -> Iterator[tuple[str, str, Sample]]:
    counts = dict.fromkeys(SPLITS, 0)
    for split, sample in rows:
        yield split, f"images/{split}-{counts[split]:05d}.jpg", sample
        counts[split] += 1
