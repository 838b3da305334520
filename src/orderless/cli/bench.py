"""`orderless bench`: what things cost on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rich.table import Table

    from orderless.bench.measure import Row


def bench_command(
    names: Annotated[list[str] | None, typer.Argument(help="align, decoder, train, predict, cache, …; default: all.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print a list of objects.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="Tiny sizes: that it runs, not how fast.")] = False,
) -> None:  # fmt: skip
    """Measure what things cost, as ratios of two sides measured in turns. Minutes; leave the machine alone."""
    from orderless.bench import run_benches
    from orderless.cli.console import err, out

    rows = []
    for row in run_benches(names or [], quick):
        rows.append(row)
        if not json and err.is_terminal:
            err.print(f"[dim]{row.bench}: {row.case}[/dim]")
    if json:
        from json import dumps

        print(dumps([row.as_dict() for row in rows], indent=1, ensure_ascii=False))
    else:
        out.print(bench_table(rows))


def bench_table(rows: list[Row]) -> Table:
    """One line a comparison; what does not hold stands out."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    for name in ("bench", "case"):
        table.add_column(name, style="cyan" if name == "bench" else None)
    for name in ("ours", "theirs", "ratio", "goal"):
        table.add_column(name, justify="right")
    table.add_column("holds")
    for row in rows:
        values = row.as_dict()
        verdict = {True: "[green]yes[/green]", False: "[red]no[/red]", None: "[dim]–[/dim]"}[row.holds]
        table.add_row(
            row.bench,
            row.case,
            amount(row.ours, row.unit),
            amount(row.theirs, row.unit),
            f"{row.ratio:.2f}×" if row.ratio < 10 else f"{row.ratio:.0f}×",
            (values["goal"] or "–").replace(">=", "≥").replace("<=", "≤"),
            verdict,
        )
    return table


def amount(value: float, unit: str) -> str:
    """A time in the unit that suits it, anything else as it is."""
    if unit != "s":
        return f"{value:.0f} {unit}"
    for factor, name in ((1.0, "s"), (1e3, "ms"), (1e6, "µs")):
        if value * factor >= 1:
            return f"{value * factor:,.0f} {name}" if value * factor >= 100 else f"{value * factor:.3g} {name}"
    return f"{value * 1e6:.2g} µs"
