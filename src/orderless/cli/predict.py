"""`orderless predict`: tags for photos."""

from __future__ import annotations

import glob
import sys
from collections.abc import Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from orderless.errors import UsageError

if TYPE_CHECKING:
    from orderless.tagger import Result, Tagger


class Format(str, Enum):
    table = "table"
    csv = "csv"
    jsonl = "jsonl"


class Runtime(str, Enum):
    auto = "auto"
    eager = "eager"
    compile = "compile"


def predict_command(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    photos: Annotated[list[str], typer.Argument(help="Files, folders or globs.")],
    format: Annotated[Format, typer.Option(help="What to print.")] = Format.table,
    out: Annotated[Path | None, typer.Option(help="Write to a file instead; .csv and .jsonl say the format.")] = None,
    attention: Annotated[Path | None, typer.Option(help="Folder for a picture per photo with a heat map per tag.")] = None,
    batch_size: Annotated[int, typer.Option(min=1)] = 32,
    workers: Annotated[int, typer.Option(min=0, help="Processes that decode images.")] = 0,
    runtime: Annotated[Runtime, typer.Option(help="What runs the encoder; auto: what is done first.")] = Runtime.auto,
) -> None:  # fmt: skip
    """Tag photos. Every photo is accounted for: tagged, or named as failed (then the exit code is 1)."""
    from orderless.runtimes import choose_runtime
    from orderless.tagger import load

    files = find_photos(photos)
    tagger = load(run, runtime=choose_runtime(runtime.value, len(files)))
    if out is not None and out.suffix in (".csv", ".jsonl"):
        format = Format(out.suffix[1:])
    failed = 0
    results = tagger.predict_many(files, batch_size=batch_size, workers=workers)
    watched = _watched(results, len(files), quiet=len(files) <= batch_size)

    def seen() -> Iterator[Result]:
        nonlocal failed
        for number, result in enumerate(watched):
            failed += result.error is not None
            if attention is not None and result.error is None:
                _write_attention(tagger, result, attention, number)
            yield result

    if out is not None:
        from orderless.files import write_atomically

        def write(temporary: Path) -> None:
            with temporary.open("w", encoding="utf-8", newline="", errors="surrogateescape") as file:
                _write(seen(), format, file)

        write_atomically(out, write)
        print(f"{len(files) - failed} photos tagged, {failed} failed, written to {out}", file=sys.stderr)
    elif format is Format.table:
        _print_table(seen())
    else:
        sys.stdout.reconfigure(errors="surrogateescape")  # type: ignore[union-attr]
        _write(seen(), format, sys.stdout)
    if failed:
        raise typer.Exit(1)


def find_photos(patterns: list[str]) -> list[Path]:
    """Files as given, folders walked, globs matched; sorted within each, no file twice."""
    from orderless.data.images import is_image_file

    found: dict[Path, None] = {}
    for pattern in patterns:
        path = Path(pattern)
        if path.is_dir():
            inside = sorted(file for file in path.rglob("*") if file.is_file() and is_image_file(file))
            if not inside:
                raise UsageError(f"the folder {pattern!r} holds no image")
            found |= dict.fromkeys(inside)
        elif any(sign in pattern for sign in "*?[") and not path.exists():
            matches = sorted(Path(match) for match in glob.glob(pattern, recursive=True))  # noqa: PTH207  absolute patterns too
            if not matches:
                raise UsageError(f"no file matches {pattern!r}")
            found |= dict.fromkeys(match for match in matches if match.is_file())
        else:
            found[path] = None  # a missing file is named as failed, like any other that cannot be read
    return list(found)


def _watched(results: Iterable[Result], total: int, quiet: bool) -> Iterable[Result]:
    if quiet:
        return results
    from orderless.cli.console import track

    return track(results, "tagging", total)


def _write(results: Iterable[Result], format: Format, file: TextIO) -> None:
    import csv
    import json

    if format is Format.csv:
        writer = csv.writer(file)
        writer.writerow(["file_name", "labels", "scores", "error"])
        for result in results:
            scores = "|".join(f"{tag.score:.4f}" for tag in result.tags)
            writer.writerow([result.name, "|".join(result.labels), scores, result.error or ""])
        return
    for result in results:
        row: dict[str, object] = {"file_name": result.name}
        if result.error is not None:
            row["error"] = result.error
        else:
            row["labels"] = result.labels
            row["scores"] = [round(tag.score, 4) for tag in result.tags]
        print(json.dumps(row, ensure_ascii=False), file=file)


def _print_table(results: Iterable[Result]) -> None:
    from rich.markup import escape
    from rich.table import Table

    from orderless.cli.console import out

    table = Table(box=None, pad_edge=False)
    table.add_column("photo", style="cyan", overflow="fold")
    table.add_column("tags, in the order the model wrote them")
    for result in results:
        if result.error is not None:
            tags = f"[red]{escape(result.error)}[/red]"
        else:
            tags = "  ".join(f"{escape(t.label)} [dim]{t.score:.2f}[/dim]" for t in result.tags) or "[dim]no tag[/dim]"
        table.add_row(escape(result.name), tags)
    out.print(table)


def _write_attention(tagger: Tagger, result: Result, folder: Path, number: int) -> None:
    from orderless.data.images import open_image
    from orderless.report.attention import save_attention

    image = open_image(result.name, pixel_limit=tagger.config.data.pixel_limit)
    image.thumbnail((512, 512))
    save_attention(image, result, folder / f"{number:05d}-{Path(result.name).stem}.png")
