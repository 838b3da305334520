"""`orderless demo`: the whole job on generated photos."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer


def demo_command(
    out: Annotated[Path, typer.Option(help="Folder to write.")] = Path("runs/demo"),
    seed: Annotated[int, typer.Option(min=0, help="Seed of scenes and training.")] = 0,
    json_: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False,
) -> None:
    """Train, judge and use three taggers on generated photos, in minutes."""
    import json

    from orderless.cli.console import err
    from orderless.cli.console import out as console
    from orderless.cli.tables import comparison_table
    from orderless.cli.watch import ConsoleWatcher
    from orderless.demo import COLUMNS, DEMO_METHODS, run_demo

    err.print("Drawing photos, then training bce, frequent-first and PLA on the same features and epochs.")
    results = run_demo(out, seed=seed, watcher=ConsoleWatcher)
    if json_:
        print(json.dumps({method: {c: r.get(c) for c in COLUMNS} for method, r in results.items()}, indent=1))
        return
    images = next(iter(results.values()))["images"]
    console.print()
    console.print(comparison_table(results, COLUMNS, f"{images} test photos, in %"))
    best = DEMO_METHODS[-1]
    console.print(
        f"\nloss curves           {out / 'curves.png'}"
        f"\ntags with heat maps   {out / 'tags'}"
        "\n\nnow tag a photo:      "
        f"orderless predict {shlex.join([str(out / best), str(out / 'photos')])}"
        "\nor train on your own: orderless train PHOTOS",
        markup=False,
    )
