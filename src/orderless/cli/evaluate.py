"""`orderless evaluate`: how good is a run on labelled data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orderless.text import counted


def evaluate_command(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    data: Annotated[str | None, typer.Argument(help="Labelled data (default: what the run was trained on).")] = None,
    split: Annotated[str, typer.Option(help="train, val, test, or all of them.")] = "test",
    format: Annotated[str | None, typer.Option(help="Data format, if looking at the folder is not enough.")] = None,
    option: Annotated[list[str] | None, typer.Option("--option", "-O", help="Option of the reader, name=value (docs/data.md).")] = None,
    skip_unreadable: Annotated[bool, typer.Option("--skip-unreadable", help="Judge the readable images.")] = False,
    ignore_unknown: Annotated[bool, typer.Option("--ignore-unknown", help="Leave out labels the run does not know.")] = False,
    batch_size: Annotated[int, typer.Option(min=1)] = 32,
    workers: Annotated[int, typer.Option(min=0, help="Processes that decode images.")] = 2,
    json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:  # fmt: skip
    """Judge a run on labelled photos."""
    import json

    from orderless.cli.console import out
    from orderless.cli.tables import metrics_table
    from orderless.data import open_data, parse_options
    from orderless.tagger import load

    tagger = load(run)
    settings = tagger.config.data
    seed = tagger.config.data_seed
    if data is None:
        opened = (settings.path, format or settings.format, {**settings.options, **parse_options(option or [])})
    else:
        opened = (data, format, parse_options(option or []))
    collection = open_data(opened[0], opened[1], seed=seed, **opened[2])
    collection = collection.limited(None if data else settings.limit, seed)
    samples = list(collection) if split == "all" else collection[split]
    judged = tagger.evaluate(
        samples,
        batch_size=batch_size,
        workers=workers,
        skip_unreadable=skip_unreadable,
        ignore_unknown=ignore_unknown or settings.leaves_out_unknown,
    )
    metrics = {"images": judged.images, "unreadable": len(judged.unreadable), **judged.metrics}
    if json_:
        print(json.dumps({"run": str(run), "split": split, **metrics}, indent=1))
    else:
        part = "all splits" if split == "all" else f"the {split} split"
        out.print(
            metrics_table(
                metrics, f"{run} on {part} of {opened[0]}, {len(samples):,} of {counted(len(collection), 'image')}"
            )
        )
        if data is not None and split in collection.carved:
            out.print("The data does not say which images are for testing: a share was drawn. --split all judges all.")
