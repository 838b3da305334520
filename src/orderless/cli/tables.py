"""Tables for the terminal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

HEADLINES = {
    "OP": "overall precision: of all tags given, the share that is right",
    "OR": "overall recall: of all true labels, the share that was found",
    "OF1": "overall F1",
    "CP": "precision, mean over labels",
    "CR": "recall, mean over labels",
    "CF1": "per-class F1 (harmonic mean of CP and CR)",
    "mAP": "mean average precision of the scores",
    "subset-accuracy": "images whose whole label set is right",
    "duplicate-rate": "images with a label written twice",
    "order-rigidness": "how fixed the order is (100 %: always the same)",
}


def percent(value: float) -> str:
    return f"{100 * value:.2f}"


def metrics_table(metrics: Mapping[str, Any], title: str) -> Table:
    """The headline metrics of one model, in percent, each with what it means."""
    table = Table(title=Text(title), title_justify="left", title_style="bold", box=None, pad_edge=False)
    table.add_column("metric", style="cyan")
    table.add_column("%", justify="right", style="bold")
    table.add_column("", style="dim")
    for name, meaning in HEADLINES.items():
        if name in metrics:
            table.add_row(name, percent(metrics[name]), meaning)
    images, left_out = metrics.get("images"), metrics.get("unreadable", 0)
    table.add_row("images", str(images), f"{left_out} more could not be read" if left_out else "")
    return table


def comparison_table(rows: Mapping[str, Mapping[str, Any]], columns: tuple[str, ...], title: str) -> Table:
    """One row per method, one column per metric, in percent."""
    table = Table(title=Text(title), title_justify="left", title_style="bold", box=None, pad_edge=False)
    table.add_column("method", style="cyan")
    for column in columns:
        table.add_column(column, justify="right")
    for method, metrics in rows.items():
        table.add_row(method, *(percent(metrics[c]) if c in metrics else "–" for c in columns))
    return table


class Flow:
    """Pieces of text side by side, two spaces apart; a piece goes to the next line as a whole."""

    def __init__(self, pieces: Sequence[Text]) -> None:
        self.pieces = pieces

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        line = Text()
        for piece in self.pieces:
            if line and line.cell_len + 2 + piece.cell_len > options.max_width:
                yield line
                line = Text()
            line += Text("  " if line else "") + piece
        yield line

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        widths = [piece.cell_len for piece in self.pieces] or [0]
        widest, all_of_them = max(widths), sum(widths) + 2 * (len(widths) - 1)
        return Measurement(min(widest, options.max_width), min(all_of_them, options.max_width))
