"""`orderless predict --engine ray`: many processes or machines."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from orderless.cli.predict import Format, complain, make_writing, watched
from orderless.errors import UsageError
from orderless.text import counted


def predict_with_ray(
    run: Path,
    patterns: list[str],
    to: Format | None,
    out: str | None,
    options: list[str],
    batch_size: int,
    workers: int,
    overwrite: bool,
) -> None:
    """Tag on Ray; a folder as `out` is filled with Parquet files by the processes themselves."""
    from orderless.data.photos import Photos
    from orderless.data.readers.files import is_address
    from orderless.engines.inputs import is_parquet
    from orderless.engines.ray_data import RayJob, check_new, labels_of
    from orderless.outputs.writing import Tally

    if out is None:
        raise UsageError("--engine ray wants --out: a folder for Parquet files, or one file")
    to_folder = to in (None, Format.parquet) and (is_address(out) or not Path(out).suffix)
    if not to_folder and is_address(out):
        raise UsageError(f"--out {out!r}: on an object store, --engine ray writes a folder of Parquet files only")
    if to_folder and (options or overwrite):
        raise UsageError("-O and --overwrite go with one file, not with a folder of Parquet files")
    writing = None
    labels = labels_of(run)
    if to_folder and not is_address(out):
        check_new(out)
    if not to_folder:
        local = not any(is_address(p) or p.endswith(".txt") or is_parquet(p) for p in patterns)
        folder = Photos(patterns).folder if local else Path.cwd()
        writing = make_writing(labels, run, folder, to, Path(out), options, overwrite=overwrite)
        if writing is None or writing.output.kind == "sidecar":
            raise UsageError("--engine ray does not write beside the photos; choose another --to")
    job = RayJob(run, patterns, batch_size=batch_size, workers=workers)
    print(
        f"tagging {counted(job.total, 'photo')} on Ray, up to {counted(job.processes, 'process', 'processes')}",
        file=sys.stderr,
    )
    if writing is not None:
        writing.write(watched(job.results(), job.total), complain)
        tally = writing.tally
    else:
        tally = Tally(*job.write_folder(out))
    print(f"{tally}, written to {out}", file=sys.stderr)
    if tally.failed:
        raise typer.Exit(1)
