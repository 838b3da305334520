"""`orderless data scenes`: write generated scenes as an ordinary folder of tagged photos."""

from __future__ import annotations

import shlex
from pathlib import Path

import typer


def scenes_command(
    out: Path = typer.Argument(..., metavar="OUT", help="The folder to write; it must be new or empty."),
    train: int = typer.Option(3000, min=0, help="How many scenes to train on."),
    val: int = typer.Option(400, min=0, help="How many scenes to choose the best model by."),
    test: int = typer.Option(800, min=0, help="How many scenes to measure on."),
    seed: int = typer.Option(0, min=0, help="Another seed gives other scenes."),
    size: int = typer.Option(192, min=48, max=1024, metavar="PX", help="Side of the pictures in pixels."),
) -> None:
    """Draw scenes with their labels, a data set to try everything on without a download."""
    from orderless.cli import console
    from orderless.data.scenes import scenes, write_scenes

    collection = scenes(train=train, val=val, test=test, seed=seed, size=size)
    write_scenes(out, collection, lambda rows: console.track(rows, "drawing", total=len(collection)))
    assert collection.names is not None
    console.out.print(
        f"{len(collection):,} scenes with {len(collection.names)} labels in {out}; next: orderless train {shlex.quote(str(out))}",
        markup=False,
    )
