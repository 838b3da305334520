"""The tagger on Ray Data: many processes, many machines, the same tags.

Every process loads the run once and tags batch after batch. A batch whose process dies is tagged again by another;
an image that cannot be read is named with the reason, as everywhere.
"""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orderless.data.readers.files import is_address
from orderless.engines.inputs import is_parquet, name_tables, parquet_rows, read_image
from orderless.errors import OrderlessError, UnreadableImage, UsageError
from orderless.results import Result, Tag
from orderless.run_folder import RunFolder

if TYPE_CHECKING:
    from orderless.onnx_tagger import OnnxTagger
    from orderless.tagger import Tagger


class RayTagger:
    """What each of Ray's processes runs: takes a table of names (or images), gives a table of tags."""

    def __init__(self, run: str, folder: str | None) -> None:
        self.tagger, self.folder = _load(run), folder

    def __call__(self, table: Any) -> Any:
        import pyarrow as pa

        from orderless.outputs.parquet import row, schema

        if self.folder is None:
            rows: list[tuple[str, bytes | None]] = [(os.fsdecode(name), None) for name in table["name"].to_pylist()]
        else:
            rows = parquet_rows(table, self.folder)
        return pa.Table.from_pylist([row(result, result.name) for result in self.results(rows)], schema=schema())

    def results(self, rows: list[tuple[str, bytes | None]]) -> list[Result]:
        """One for every row, in their order."""
        from dataclasses import replace

        from orderless.data.images import open_image

        tagger = self.tagger
        found: list[Result] = []
        images = []
        for name, data in rows:
            try:
                data = read_image(name) if data is None else data
                image = open_image(data, size=tagger.preprocessing.size, pixel_limit=tagger.config.data.pixel_limit)
            except UnreadableImage as error:
                found.append(Result(name, error=error.reason))
            except FileNotFoundError:
                found.append(Result(name, error="there is no such file"))
            except (OSError, ValueError, ImportError) as error:  # the latter two: no such kind of address
                found.append(Result(name, error=f"it cannot be fetched ({str(error).splitlines()[0]})"))
            else:
                images.append(image)
                found.append(Result(name))
        tagged = iter(tagger.predict_images(images))
        return [result if result.error is not None else replace(next(tagged), name=result.name) for result in found]


def _load(run: str) -> Tagger | OnnxTagger:
    """A run folder or an exported file, on one core: there is a process for each."""
    if run.lower().endswith(".onnx"):
        from orderless.onnx_tagger import OnnxTagger

        return OnnxTagger(run, threads=1)
    import torch

    from orderless.tagger import load

    torch.set_num_threads(1)
    return load(run)


def labels_of(run: Path) -> tuple[str, ...]:
    """The vocabulary; a path that is no run is told at once, not by a process far away."""
    if run.suffix.lower() == ".onnx":
        return _load(str(run)).vocabulary.names
    return RunFolder.open(run).vocabulary().names


def start_ray() -> Any:
    """Ray, quiet and without outside requests: a cluster if RAY_ADDRESS names one, else this machine."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    try:
        import ray
        import ray.data
    except ImportError:
        raise UsageError("--engine ray needs Ray, which is not installed: pip install 'orderless[ray]'") from None
    if not ray.is_initialized():
        local: dict[str, Any] = {}
        if "RAY_ADDRESS" not in os.environ:
            # One core to tag and one to read at least, or neither could begin.
            local = {"include_dashboard": False, "num_cpus": max(2, os.cpu_count() or 2)}
        with _silence():
            ray.init(log_to_driver=False, logging_level=logging.ERROR, **local)
    logging.getLogger("ray.data").setLevel(logging.ERROR)
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    context.print_on_execution_start = False
    context.execution_options.preserve_order = True
    return ray


@contextmanager
def _silence() -> Iterator[None]:
    """Ray's C++ parts announce on stderr that they were told to be silent."""
    kept = os.dup(2)
    try:
        with open(os.devnull, "w") as nowhere:  # noqa: PTH123
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


class RayJob:
    """One job: the run, what it is given, how many processes."""

    def __init__(self, run: Path, patterns: list[str], *, batch_size: int = 32, workers: int = 0) -> None:
        for pattern in patterns:
            if is_address(pattern) and pattern.lower().endswith(".parquet"):
                raise UsageError(f"{pattern!r}: Parquet is read from disks only; fetch it first, or give the images")
        tables = [pattern for pattern in patterns if is_parquet(pattern)]
        if tables and len(patterns) > 1:
            raise UsageError("a Parquet file or folder must be given alone")
        names = None if tables else name_tables(patterns)
        self.ray = start_ray()
        if names is None:
            place = Path(tables[0]).absolute()
            folder: str | None = str(place if place.is_dir() else place.parent)
            images = self.ray.data.read_parquet(str(place))
            parquet_rows(images.schema().base_schema.empty_table(), "")  # its columns are right, or it says so
            self.total: int = images.count()
        else:
            folder = None
            images = self.ray.data.from_arrow(names)
            self.total = sum(table.num_rows for table in names)
        resources = self.ray.cluster_resources()
        gpus = int(resources.get("GPU", 0))
        self.processes = workers or gpus or max(1, int(resources.get("CPU", 1)))
        self.tags = images.map_batches(
            RayTagger,
            fn_constructor_args=(str(run.absolute()), folder),
            batch_size=batch_size,
            batch_format="pyarrow",
            num_cpus=1,
            num_gpus=1 if gpus else None,
            concurrency=(1, self.processes),
        )

    def results(self) -> Iterator[Result]:
        """As they come, in the order of the input."""
        with self._failing():
            for table in self.tags.iter_batches(batch_format="pyarrow", batch_size=1024):
                yield from map(_result, table.to_pylist())

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """What went wrong on Ray as one sentence."""
        try:
            yield
        except self.ray.exceptions.RayError as error:
            last = str(error).strip().splitlines()[-1].strip()
            raise OrderlessError(f"the job on Ray failed: {last}") from error

    def write_folder(self, out: str) -> tuple[int, int]:
        """Parquet files that the processes write themselves; returns how many were tagged and how many failed."""
        from pyarrow import dataset

        place = out
        if not is_address(out):
            check_new(out)
            place = str(Path(out).absolute()) + ".part"
            shutil.rmtree(place, ignore_errors=True)  # of a job that was stopped
        with self._failing():
            self.tags.write_parquet(place)
        written = dataset.dataset(place, format="parquet")
        failed = written.count_rows(filter=dataset.field("error").is_valid())
        if written.count_rows() != self.total:
            raise OrderlessError(f"{place} holds {written.count_rows()} rows for {self.total} images; tag them again")
        if place != out:
            Path(place).rename(out)
        return self.total - failed, failed


def check_new(out: str) -> None:
    if Path(out).exists():
        raise UsageError(f"{out!r} is there already; choose another --out")


def _result(found: dict[str, Any]) -> Result:
    if found["error"] is not None:
        return Result(found["file_name"], error=found["error"])
    pairs = zip(found["labels"], found["scores"], strict=True)
    return Result(found["file_name"], tuple(Tag(label, score) for label, score in pairs))
