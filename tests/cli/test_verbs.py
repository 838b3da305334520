"""The table of verbs: every line leads to a verb, and the help page needs nothing else."""

from __future__ import annotations

import subprocess
import sys

import pytest
from typer.testing import CliRunner

from orderless.cli.app import app
from orderless.cli.main import VERBS, help_page
from orderless.errors import UsageError


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_can_be_called(verb: str) -> None:
    answer = CliRunner().invoke(app, [verb, "--help"])
    assert answer.exit_code == 0, answer.output
    assert "--help" in answer.output


def test_the_help_page_fits_a_terminal_and_names_every_verb() -> None:
    page = help_page()
    assert max(map(len, page.splitlines())) <= 80
    assert [line.split()[0] for line in page.splitlines() if line.startswith("  ")][: len(VERBS)] == list(VERBS)
    assert CliRunner().invoke(app, ["--help"]).output == page


@pytest.mark.parametrize(("arguments", "code"), [(["--help"], 0), ([], 2), (["--version"], 0)])
def test_the_help_page_needs_neither_typer_nor_torch(arguments: list[str], code: int) -> None:
    script = (
        f"import sys; sys.argv = {['orderless', *arguments]!r}\n"
        "from orderless.cli.main import main\n"
        "try: main()\n"
        "except SystemExit as end: print(end.code)\n"
        "print(sorted({'typer', 'click', 'rich', 'numpy', 'torch'} & set(sys.modules)))"
    )
    lines = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout.split(
        "\n"
    )
    assert lines[-3:] == [str(code), "[]", ""]


def test_a_verb_that_is_not_there() -> None:
    for word, hint in (("trian", "did you mean 'train'?"), ("xyz", "orderless --help lists them")):
        with pytest.raises(UsageError, match=f"no verb '{word}'; {hint}".replace("?", r"\?")):
            CliRunner().invoke(app, [word], catch_exceptions=False)
