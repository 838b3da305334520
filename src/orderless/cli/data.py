"""`orderless data …`: look at data, convert it, generate it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from orderless.cli.scenes import scenes_command
from orderless.text import counted

if TYPE_CHECKING:
    from orderless.data import Collection

app = typer.Typer(help="Look at data, convert it, generate it.", no_args_is_help=True, add_completion=False)

Data = Annotated[str, typer.Argument(metavar="DATA", help="A folder or file of data, or the word scenes.")]
Format = Annotated[str | None, typer.Option(help="The format, if looking at the folder is not enough.")]
Seed = Annotated[int, typer.Option(help="Decides the splits that the data does not bring itself.")]
Options = Annotated[
    list[str] | None, typer.Option("--option", "-O", metavar="NAME=VALUE", help="An option of the format's reader.")
]


@app.command("check")
def check_command(
    data: Data,
    format: Format = None,
    seed: Seed = 0,
    option: Options = None,
    rare: Annotated[int, typer.Option(min=1, help="Labels with fewer training images are called rare.")] = 10,
    workers: Annotated[int | None, typer.Option(min=0, help="Processes that decode images; 0: none.")] = None,
    html: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a page with plots and photos.")] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print everything that was found as JSON.")] = False,
) -> None:
    """Count, read every image, find copies and leaks. Changes nothing."""
    import json

    from orderless.cli import console
    from orderless.cli.data_summary import print_summary
    from orderless.data.check import check

    collection = _open(data, format, seed, option)
    if html is not None:
        _not_over_data(html, collection)
    report = check(
        collection,
        workers=workers,
        rare=rare,
        progress=lambda facts, total: console.track(facts, "reading images", total=total),
    )
    if html is not None:
        from orderless.files import write_text
        from orderless.report.data_page import data_page

        title = collection.root.resolve().name if collection.root else data
        write_text(html, data_page(report, collection, title or data))
    if json_:
        print(json.dumps(report.to_json(), indent=1))
        return
    print_summary(report)
    if html is not None:
        console.out.print(f"page written to {html}", markup=False)


@app.command("show")
def show_command(
    data: Data,
    split: Annotated[str | None, typer.Option(help="train, val or test (default: all).")] = None,
    count: Annotated[int, typer.Option(min=1, max=600, help="How many images.")] = 24,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The picture to write.")] = Path("sheet.png"),
    format: Format = None,
    seed: Annotated[int, typer.Option(help="Another seed shows other images.")] = 0,
    option: Options = None,
) -> None:
    """Draw a contact sheet of images with their labels."""
    from orderless.cli import console
    from orderless.data.sample import SPLITS, by_hash
    from orderless.errors import UsageError
    from orderless.files import write_atomically
    from orderless.report.contact_sheet import contact_sheet

    if split is not None and split not in SPLITS:
        raise UsageError(f"the split {split!r} is unknown (use {', '.join(SPLITS)})")
    if out.suffix.lower() not in (".png", ".jpg", ".jpeg", ".webp"):
        raise UsageError(f"{str(out)!r} is not the name of a picture; let it end in .png or .jpg")
    collection = _open(data, format, 0, option)
    _not_over_data(out, collection)
    samples = by_hash(collection[split] if split else list(collection), seed, salt="show")[:count]
    sheet = contact_sheet(samples)
    kind = {".png": "PNG", ".webp": "WEBP"}.get(out.suffix.lower(), "JPEG")
    write_atomically(out, lambda temporary: sheet.save(temporary, format=kind))
    console.out.print(f"{counted(len(samples), 'image')} on {out} ({sheet.width}x{sheet.height})", markup=False)


@app.command("convert")
def convert_command(
    data: Data,
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The folder to write; it must be new or empty.")],
    format: Format = None,
    seed: Seed = 0,
    option: Options = None,
) -> None:
    """Write data of any format as a plain folder of images with metadata.csv."""
    from orderless.cli import console
    from orderless.data.convert import convert
    from orderless.errors import UsageError

    collection = _open(data, format, seed, option)
    if collection.root is not None and out.resolve().is_relative_to(collection.root.resolve()):
        raise UsageError(f"{str(out)!r} lies inside the data; choose a folder outside of {str(collection.root)!r}")
    left_out = convert(collection, out, lambda rows: console.track(rows, "writing", total=len(collection)))
    for error in left_out[:10]:
        console.err.print(f"left out: {error}", markup=False)
    if len(left_out) > 10:
        console.err.print(f"and {len(left_out) - 10:,} more left out", markup=False)
    console.out.print(f"{counted(len(collection) - len(left_out), 'image')} in {out}", markup=False)


def _open(data: str, format: str | None, seed: int, option: list[str] | None) -> Collection:
    from orderless.data import open_data, parse_options

    return open_data(data, format, seed=seed, **parse_options(option or []))


def _not_over_data(out: Path, collection: Collection) -> None:
    """The user's files stay as they are: refuse to write over one of them."""
    from orderless.errors import UsageError

    if out.is_dir():
        raise UsageError(f"{str(out)!r} is a folder; give the name of a file")
    if out.exists() and collection.root is not None and out.resolve().is_relative_to(collection.root.resolve()):
        raise UsageError(f"{str(out)!r} is a file of the data; choose another name")


app.command("scenes")(scenes_command)
