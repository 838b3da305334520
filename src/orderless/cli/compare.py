"""`orderless compare`: every method on the same data, and a report."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orderless.errors import UsageError

if TYPE_CHECKING:
    from rich.table import Table as RichTable

    from orderless.report.spread import Spread
    from orderless.report.tables import Table


class AttentionChoice(StrEnum):
    both = "both"
    on = "on"
    off = "off"


def compare_command(
    data: Annotated[str, typer.Argument(help="Folder with tagged photos, or 'scenes' for generated ones.")],
    methods: Annotated[str, typer.Option(help="Names with commas between, 'paper' or 'all'.")] = "paper",
    seeds: Annotated[str, typer.Option(help="Separated by commas.")] = "0,1,2",
    out: Annotated[Path, typer.Option(help="Folder to write, or to go on with.")] = Path("runs/compare"),
    attention: Annotated[AttentionChoice, typer.Option(help="For methods that can do without.")] = AttentionChoice.both,
    recipe: Annotated[str, typer.Option(help="quick, paper, or a config.yaml such as those in recipes/.")] = "quick",
    epochs: Annotated[int | None, typer.Option(min=0, help="Epochs of every stage.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Use at most so many images of every split.")] = None,
    image_size: Annotated[int | None, typer.Option(help="Side of the square that images are resized to.")] = None,
    backbone: Annotated[str | None, typer.Option(help="lite0, resnet50, resnet101, vgg16, … any timm name.")] = None,
    weights: Annotated[str | None, typer.Option(help="auto, none, or a .safetensors file.")] = None,
    format: Annotated[str | None, typer.Option(help="Data format, if looking at the folder is not enough.")] = None,
    option: Annotated[list[str] | None, typer.Option("--option", "-O", help="Option of the reader, name=value (docs/data.md).")] = None,
    ignore_unknown: Annotated[bool, typer.Option("--ignore-unknown", help="Leave out labels that training lacks.")] = False,
    workers: Annotated[int | None, typer.Option(min=0, help="Processes that decode images.")] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Runs beside each other.")] = 1,
    json_: Annotated[bool, typer.Option("--json", help="Print the main table as JSON.")] = False,
) -> None:  # fmt: skip
    """Train every method on the same photos and budget; tables, figures and the paper's claims in one page."""
    from orderless.cli.compare_watch import ConsoleCompareWatcher
    from orderless.cli.train import _absolute
    from orderless.compare import CompareSettings, compare
    from orderless.data import parse_options

    settings = CompareSettings(
        data=str(_absolute(data)), format=format, options=parse_options(option or []), methods=_methods(methods), seeds=_seeds(seeds),
        attention=attention.value, recipe=recipe, epochs=epochs, limit=limit, image_size=image_size,
        backbone=backbone, weights=weights, workers=workers, ignore_unknown=ignore_unknown,
    )  # fmt: skip
    with ConsoleCompareWatcher() as watcher:
        compare(settings, out, jobs=jobs, watcher=watcher)
    print_report(out, json_)


def print_report(out: Path, as_json: bool) -> None:
    """The main table of the comparison in `out`, and where its page is."""
    import json

    from orderless.cli.console import out as console
    from orderless.report.runs import Comparison
    from orderless.report.tables import main_table

    table = main_table(Comparison.read(out))
    if as_json:
        rows = {
            row.name: {
                metric: {"mean": cell.mean, "sd": cell.sd, "seeds": cell.n}
                for metric, cell in zip(table.metrics, row.cells, strict=True)
                if cell is not None
            }
            for row in table.rows
        }
        print(json.dumps({"report": str(out / "report.html"), "percent": rows}, indent=1, ensure_ascii=False))
        return
    console.print()
    console.print(_drawn(table))
    console.print(f"\nreport written to {out / 'report.html'}", markup=False, style="bold")


def _drawn(table: Table) -> RichTable:
    """With one decimal, so that it fits an ordinary window; the report has two."""
    from rich.markup import escape
    from rich.table import Table as RichTable

    drawn = RichTable(title=table.note, title_justify="left", title_style="bold", box=None, pad_edge=False)
    drawn.add_column("method", style="cyan")
    for head in table.heads:
        drawn.add_column(
            head.replace("duplicates", "dupl.").replace("rigidness", "rigid."), justify="right", no_wrap=True
        )
    bold = table.bold()
    for i, row in enumerate(table.rows):
        cells = [f"[bold]{_short(cell)}[/bold]" if (i, k) in bold else _short(cell) for k, cell in enumerate(row.cells)]
        drawn.add_row(escape(row.name), *cells)
    return drawn


def _short(cell: Spread | None) -> str:
    if cell is None:
        return "–"
    return f"{cell.mean:.1f}±{cell.sd:.1f}" if cell.n > 1 else f"{cell.mean:.1f}"


def _methods(text: str) -> tuple[str, ...]:
    from orderless.compare import PAPER_METHODS
    from orderless.methods import METHODS

    named = {"paper": PAPER_METHODS, "all": tuple(METHODS)}
    return named.get(text) or tuple(name for part in text.split(",") if (name := part.strip()))


def _seeds(text: str) -> tuple[int, ...]:
    try:
        seeds = tuple(int(part) for part in text.split(",") if part.strip())
    except ValueError:
        raise UsageError(f"--seeds {text!r} must be whole numbers separated by commas, such as 0,1,2") from None
    if not seeds or min(seeds) < 0:
        raise UsageError(f"--seeds {text!r} must be one or more numbers of 0 or more, such as 0,1,2")
    return seeds
