"""`orderless`: the command line. Parsing, progress and exit codes; the work is done elsewhere.

Every verb imports what it needs when it runs, so that `--help` answers at once.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from orderless import __version__
from orderless.cli import data
from orderless.cli.bench import bench_command
from orderless.cli.compare import compare_command
from orderless.cli.demo import demo_command
from orderless.cli.evaluate import evaluate_command
from orderless.cli.methods import methods_command
from orderless.cli.predict import predict_command
from orderless.cli.report import report_command
from orderless.cli.train import train_command
from orderless.errors import OrderlessError

app = typer.Typer(
    name="orderless",
    help="Tag images with sets of labels.",
    no_args_is_help=True,
    invoke_without_command=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@app.callback()
def about(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.", is_eager=True)] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks; may stand anywhere.")] = False,
) -> None:
    if version:
        print(f"orderless {__version__}")
        raise typer.Exit


app.command("demo")(demo_command)
app.command("train")(train_command)
app.command("evaluate")(evaluate_command)
app.command("predict")(predict_command)
app.command("methods")(methods_command)
app.command("compare")(compare_command)
app.command("report")(report_command)
app.command("bench")(bench_command)
app.add_typer(data.app, name="data")


def main() -> None:
    """Entry point: turns errors into one sentence and an exit code; `--debug` shows the traceback."""
    debug = "--debug" in sys.argv
    if debug:
        sys.argv.remove("--debug")
    try:
        app()
    except OrderlessError as error:
        if debug:
            raise
        print(f"orderless: {error}", file=sys.stderr)
        raise SystemExit(error.exit_code) from None
