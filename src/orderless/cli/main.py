"""`orderless`: the command line's front door. The help page and the version need nothing but this file.

Typer, and the module of a verb, are imported when a verb is called; so `--help` answers at once.
"""

from __future__ import annotations

import sys

from orderless import __version__
from orderless.errors import OrderlessError

# Verb -> where it is defined, and its line on the help page. A new verb is a new line here.
VERBS = {
    "demo": ("orderless.cli.demo:demo_command", "The whole job on generated photos, in minutes."),
    "train": ("orderless.cli.train:train_command", "Train a tagger on your photos."),
    "evaluate": ("orderless.cli.evaluate:evaluate_command", "Judge a run on labelled photos."),
    "predict": ("orderless.cli.predict:predict_command", "Tag photos."),
    "explain": ("orderless.cli.explain:explain_command", "Draw every step of one photo: a figure for a paper."),
    "serve": ("orderless.cli.serve:serve_command", "Tag photos over HTTP, with a page to try it."),
    "export": ("orderless.cli.export:export_command", "Write a run as one ONNX file that needs no PyTorch."),
    "push": ("orderless.cli.sharing:push_command", "Upload a run to the Hugging Face Hub."),
    "pull": ("orderless.cli.sharing:pull_command", "Download a run from the Hugging Face Hub."),
    "methods": ("orderless.cli.methods:methods_command", "List the methods with their papers."),
    "compare": ("orderless.cli.compare:compare_command", "Train every method alike; tables and figures in one page."),
    "report": ("orderless.cli.report:report_command", "Write report.html again from what is on disk."),
    "bench": ("orderless.cli.bench:bench_command", "Measure what things cost on this machine."),
    "data": ("orderless.cli.data:app", "Look at data, convert it, generate it."),
}

OPTIONS = {
    "--version": "Print the version and exit.",
    "--debug": "Show tracebacks; may stand anywhere.",
    "--help": "Show this page, or with a verb its options, and exit.",
}


def help_page() -> str:
    lines = {name: line for name, (_, line) in VERBS.items()}
    return (
        "Usage: orderless [OPTIONS] VERB [ARGUMENTS]\n\nTag images with sets of labels.\n\n"
        f"Verbs:\n{_columns(lines)}\n\nOptions:\n{_columns(OPTIONS)}\n"
    )


def _columns(rows: dict[str, str]) -> str:
    return "\n".join(f"  {name:<10} {line}" for name, line in rows.items())


def main() -> None:
    """Entry point: turns errors into one sentence and an exit code; `--debug` shows the traceback."""
    debug = "--debug" in sys.argv
    if debug:
        sys.argv.remove("--debug")
    first = sys.argv[1] if len(sys.argv) > 1 else None
    if first in (None, "--help"):
        print(help_page(), end="")
        raise SystemExit(0 if first else 2)
    if first == "--version":
        print(f"orderless {__version__}")
        raise SystemExit(0)
    from orderless.cli.app import app
    from orderless.kept_memory import keep_freed_memory

    if first != "serve":  # which lives for long, beside others
        keep_freed_memory()
    try:
        app()
    except OrderlessError as error:
        if debug:
            raise
        print(f"orderless: {error}", file=sys.stderr)
        raise SystemExit(error.exit_code) from None
    except OSError as error:  # a full disk, a folder that cannot be written
        if debug or error.strerror is None:  # then it is no word of the system's to a user
            raise
        where = f": {error.filename}" if error.filename is not None else ""
        print(f"orderless: {error.strerror}{where}", file=sys.stderr)
        raise SystemExit(1) from None
