"""`orderless predict`: tags for photos."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterable, Iterator
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orderless.errors import UsageError

if TYPE_CHECKING:
    from orderless.onnx_tagger import OnnxTagger
    from orderless.outputs.writing import Writing
    from orderless.results import Result
    from orderless.tagger import Tagger


class Format(StrEnum):
    table = "table"
    csv = "csv"
    jsonl = "jsonl"
    parquet = "parquet"
    txt = "txt"
    xmp = "xmp"
    label_studio = "label-studio"
    fiftyone = "fiftyone"


class Engine(StrEnum):
    local = "local"
    ray = "ray"


class Runtime(StrEnum):
    auto = "auto"
    eager = "eager"
    compile = "compile"
    onnx = "onnx"
    openvino = "openvino"


def predict_command(
    run: Annotated[Path, typer.Argument(help="Run folder, or a file that orderless export wrote.")],
    photos: Annotated[list[str], typer.Argument(help="Files, folders or globs.")],
    to: Annotated[Format | None, typer.Option("--to", "--format", help="Form of the tags; without it the suffix of --out says it, or a table is printed.")] = None,
    out: Annotated[str | None, typer.Option(metavar="PATH", help="File to write; for txt and xmp a folder (default: beside the photos).")] = None,
    option: Annotated[list[str] | None, typer.Option("--option", "-O", help="Option of the format as name=value; see docs/outputs.md.")] = None,
    resume: Annotated[bool, typer.Option(help="Go on with a csv, jsonl or txt job that was stopped.")] = False,
    overwrite: Annotated[bool, typer.Option(help="Replace files that are there already.")] = False,
    attention: Annotated[Path | None, typer.Option(help="Folder for a picture per photo with a heat map per tag.")] = None,
    batch_size: Annotated[int, typer.Option(min=1)] = 32,
    workers: Annotated[int, typer.Option(min=0, help="Processes that decode images; with Ray those that tag (0: one per core).")] = 0,
    engine: Annotated[Engine, typer.Option(help="Where to tag: in this process, or on Ray (docs/scale.md).")] = Engine.local,
    runtime: Annotated[Runtime, typer.Option(help="What runs the encoder; auto: what is done first.")] = Runtime.auto,
) -> None:  # fmt: skip
    """Tag photos. Every photo is accounted for: tagged, or named as failed (then the exit code is 1)."""
    out = None if out == "-" else out  # as many commands have it: standard output
    if to is Format.table and out is not None:
        raise UsageError("--to table is printed, not written; choose another form for --out")
    if engine is Engine.ray:
        from orderless.cli.predict_ray import predict_with_ray

        if attention is not None or resume or runtime is not Runtime.auto:
            raise UsageError("--attention, --resume and --runtime do not go with --engine ray")
        predict_with_ray(run, photos, to, out, option or [], batch_size, workers, overwrite)
        return
    from orderless.data.photos import Photos
    from orderless.data.readers.files import is_address
    from orderless.outputs.writing import Tally

    if out is not None and is_address(out):
        raise UsageError(f"--out {out!r} is an address; only --engine ray writes there, a folder of Parquet files")
    stopped_by = signal.SIGINT

    def stop(number: int, _: object) -> None:
        nonlocal stopped_by
        stopped_by = signal.Signals(number)
        raise KeyboardInterrupt  # to be stopped is to be interrupted

    signal.signal(signal.SIGTERM, stop)
    found = Photos(photos)
    total = found.count()
    tagger = load_tagger(run, runtime, total)
    place = Path(out) if out is not None else None
    writing = make_writing(tagger.vocabulary.names, run, found.folder, to, place, option or [], resume, overwrite)
    pending: Iterable[Path] = writing.pending(found) if writing else found
    results: Iterable[Result] = tagger.predict_many(pending, batch_size=batch_size, workers=workers)
    if total > batch_size:
        results = watched(results, total)
    if attention is not None:
        results = _with_pictures(results, tagger, attention, first=_next_number(attention) if resume else 0)
    tally = writing.tally if writing else Tally()
    try:
        if writing:
            writing.write(results, complain)
        else:
            _print_table(tally.count(results))
    except KeyboardInterrupt:
        hint = "; go on with the same command and --resume" if writing and writing.can_resume else ""
        print(f"stopped: {tally}{hint}", file=sys.stderr)
        raise typer.Exit(128 + stopped_by) from None
    where = ""
    if writing and (out is not None or writing.output.kind == "sidecar"):
        where = f", written {f'to {out}' if out is not None else 'beside the photos'}"
    pictures = f", pictures in {attention}" if attention is not None else ""
    print(f"{tally}{where}{pictures}", file=sys.stderr)
    if tally.failed:
        raise typer.Exit(1)


def load_tagger(run: Path, runtime: Runtime, photos: int) -> Tagger | OnnxTagger:
    """An exported file is run by ONNX Runtime, and PyTorch is not even imported."""
    if run.suffix.lower() == ".onnx" and not run.is_dir():
        from orderless.onnx_tagger import OnnxTagger

        if runtime not in (Runtime.auto, Runtime.onnx):
            raise UsageError(f"--runtime {runtime.value} is for run folders; {run} is run by ONNX Runtime")
        return OnnxTagger(run)
    from orderless.tagger import load

    return load(run, runtime=runtime.value, expected_images=photos)


def make_writing(
    labels: tuple[str, ...], run: Path, folder: Path, to: Format | None, out: Path | None, options: list[str],
    resume: bool = False, overwrite: bool = False,
) -> Writing | None:  # fmt: skip
    """Where tags go; None: a table on the screen."""
    from orderless.data import parse_options
    from orderless.files import sha256
    from orderless.outputs import find_output
    from orderless.outputs.about import About, check_options
    from orderless.outputs.writing import Writing

    output = find_output(to.value if to and to is not Format.table else None, out)
    if output is None:
        if options or resume or overwrite:
            raise UsageError("-O, --resume and --overwrite go with --to or --out")
        return None
    known: dict[str, str] = getattr(output.module, "OPTIONS", {})
    checked = check_options(output.name, parse_options(options), known)
    below = out.parent if out is not None and output.kind != "sidecar" else None
    about = About(labels, run.resolve().name, folder, below, checked)
    mark = sha256(run / "model.safetensors" if run.is_dir() else run) if output.resumable and out is not None else ""
    return Writing(output, out, about, resume=resume, overwrite=overwrite, model=mark)


def watched(results: Iterable[Result], total: int) -> Iterable[Result]:
    from orderless.cli.console import track

    return track(results, "tagging", total)


def _print_table(results: Iterable[Result]) -> None:
    from rich.table import Table
    from rich.text import Text

    from orderless.cli.console import out
    from orderless.cli.tables import Flow
    from orderless.text import printable

    rows = list(results)
    folder, names = _common_folder([result.name for result in rows])
    if folder:
        out.print(f"in {printable(folder)}", style="dim", markup=False, soft_wrap=True)
    table = Table(box=None, pad_edge=False)
    table.add_column("photo", style="cyan", overflow="fold")
    table.add_column("tags, in the order the model wrote them")
    for result, name in zip(rows, names, strict=True):
        tags: Text | Flow = Text("no tag", "dim")
        if result.error is not None:
            tags = Text(printable(result.error), "red")
        elif result.tags:
            tags = Flow([Text(printable(tag.label)) + Text(f" {tag.score:.2f}", "dim") for tag in result.tags])
        table.add_row(Text(printable(name)), tags)
    out.print(table)


def _common_folder(paths: list[str]) -> tuple[str, list[str]]:
    """The folder that several photos share, said once, and their paths below it; addresses stay whole."""
    from orderless.data.readers.files import is_address

    if len(paths) < 2 or any(map(is_address, paths)) or len({Path(path).anchor for path in paths}) > 1:
        return "", paths
    folder = os.path.commonpath([Path(path).parent for path in paths])
    return folder, [os.path.relpath(path, folder or ".") for path in paths]


def complain(text: str) -> None:
    """About a photo, on standard error: its name may hold anything."""
    from orderless.text import printable

    print(printable(text), file=sys.stderr)


def _next_number(folder: Path) -> int:
    """The one after those that pictures in a folder have already."""
    numbers = (name.partition("-")[0] for name in (file.name for file in folder.glob("*-*.png")))
    return max((int(number) + 1 for number in numbers if number.isdecimal()), default=0)


def _with_pictures(
    results: Iterable[Result], tagger: Tagger | OnnxTagger, folder: Path, first: int
) -> Iterator[Result]:
    """Pass the results on, and draw where the model looked."""
    from orderless.data.images import open_image
    from orderless.report.attention import save_attention

    for number, result in enumerate(results, start=first):
        if result.error is None:
            image = open_image(result.name, pixel_limit=tagger.config.data.pixel_limit)
            image.thumbnail((512, 512))
            save_attention(image, result, folder / f"{number:05d}-{Path(result.name).stem}.png")
        yield result
