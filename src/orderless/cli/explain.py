"""`orderless explain`: every step of one photo as a figure for a paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orderless.text import counted

FIGURES = (".png", ".svg", ".pdf")


def explain_command(
    run: Annotated[Path, typer.Argument(help="Run folder, or a file that orderless export wrote.")],
    photo: Annotated[Path, typer.Argument(help="One photo.")],
    out: Annotated[Path, typer.Option(help="Figure to write: .png, .svg or .pdf.")] = Path("explain.png"),
    size: Annotated[int, typer.Option(min=64, help="Longest side of the photo in the figure, in pixels.")] = 512,
) -> None:
    """Draw what the model did with a photo: what each step wrote, where it looked, what else it considered."""
    from orderless.errors import UsageError

    if out.suffix.lower() not in FIGURES:
        raise UsageError(f"{str(out)!r} is no figure: its name must end in .png, .svg or .pdf")
    from orderless.cli.predict import Runtime, load_tagger
    from orderless.data.images import open_image
    from orderless.report.attention import save_steps

    tagger = load_tagger(run, Runtime.auto, photos=1)
    result = tagger.predict(photo)
    if not result.steps:
        raise UsageError(f"{str(run)!r} has no steps to show: its model gives all labels at once")
    image = open_image(photo, pixel_limit=tagger.config.data.pixel_limit)
    image.thumbnail((size, size))
    save_steps(image, result, out)
    print(f"{', '.join(result.labels) or 'no tag'}: {counted(len(result.steps), 'step')} drawn to {out}")
