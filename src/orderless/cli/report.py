"""`orderless report`: the page of a run or a comparison, from what is on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orderless.errors import UsageError


def report_command(
    folder: Annotated[Path, typer.Argument(help="A run, or the folder of a comparison.")],
) -> None:
    """Write report.html again from what is on disk."""
    from orderless.cli.console import out

    if not folder.is_dir():
        raise UsageError(f"there is no folder {str(folder)!r}")
    if (folder / "comparison.json").is_file():
        from orderless.report.comparison import write_report

        page = write_report(folder)
    elif (folder / "config.yaml").is_file():
        from orderless.report.run_page import write_run_report

        page, _ = write_run_report(folder)
    else:
        raise UsageError(f"{str(folder)!r} is neither a run nor a comparison")
    out.print(f"report written to {page}", markup=False)
