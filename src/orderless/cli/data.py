"""`orderless data …`: look at data, convert it, generate it."""

from __future__ import annotations

import typer

app = typer.Typer(help="Look at data, convert it, generate it.", no_args_is_help=True)
