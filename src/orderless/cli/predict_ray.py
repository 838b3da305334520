"""`orderless predict --engine ray`: many processes or machines."""

from __future__ import annotations

import sys
from pathlib import Path

import typer

from orderless.cli.predict import Format, make_writing, watched
from orderless.errors import UsageError


def predict_with_ray(
    run: Path,
    patterns: list[str],
    to: Format | None,
    out: str | None,
    options: list[str],
    batch_size: int,
    workers: int,
) -> None:
    """Tag on Ray; a folder as `out` is filled with Parquet files by the processes themselves."""
    from orderless.data.readers.files import is_address
    from orderless.engines.ray_data import RayJob, check_new, labels_of
    from orderless.outputs.writing import Tally

    if out is None:
        raise UsageError("--engine ray wants --out: a folder for Parquet files, or one file")
    to_folder = to in (None, Format.parquet) and (is_address(out) or not Path(out).suffix)
    writing = None
    labels = labels_of(run)
    if to_folder and not is_address(out):
        check_new(out)
    if not to_folder:
        writing = make_writing(labels, run, Path.cwd(), to, Path(out), options)
        if writing is None or writing.output.kind == "sidecar":
            raise UsageError("--engine ray does not write beside the photos; choose another --to")
    job = RayJob(run, patterns, batch_size=batch_size, workers=workers)
    print(f"tagging {job.total:,} photos on Ray, up to {job.processes} processes", file=sys.stderr)
    if writing is not None:
        writing.write(watched(job.results(), job.total), lambda complaint: print(complaint, file=sys.stderr))
        tally = writing.tally
    else:
        tally = Tally(*job.write_folder(out))
    print(f"{tally}, written to {out}", file=sys.stderr)
    if tally.failed:
        raise typer.Exit(1)
