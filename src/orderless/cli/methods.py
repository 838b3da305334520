"""`orderless methods`: what can be trained, and whose idea it is."""

from __future__ import annotations

from typing import Annotated

import typer


def methods_command(json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False) -> None:
    """List the methods with their papers."""
    from orderless.methods import METHODS

    if json_:
        import json

        rows = [{"name": m.name, "summary": m.summary, "paper": m.paper} for m in METHODS.values()]
        print(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    from rich.table import Table

    from orderless.cli.console import out

    table = Table(box=None, pad_edge=False)
    table.add_column("method", style="cyan", no_wrap=True)
    table.add_column("what it does")
    table.add_column("paper", style="dim")
    for method in METHODS.values():
        table.add_row(method.name, method.summary, method.paper)
    out.print(table)
    out.print("\ntrain one with:  orderless train PHOTOS --method pla", markup=False, style="bold")
