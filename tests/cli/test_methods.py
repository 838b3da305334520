"""`orderless methods`: every method with its paper, at once."""

from __future__ import annotations

import json
import subprocess
import sys

from typer.testing import CliRunner

from orderless.cli.app import app
from orderless.methods import METHODS


def test_the_table_names_every_method() -> None:
    result = CliRunner().invoke(app, ["methods"])
    assert result.exit_code == 0
    first_words = [line.split()[0] for line in result.output.splitlines() if line[:1].strip()]
    assert [word for word in first_words if word in METHODS] == list(METHODS)


def test_json_has_summary_and_paper() -> None:
    rows = json.loads(CliRunner().invoke(app, ["methods", "--json"]).stdout)
    assert [row["name"] for row in rows] == list(METHODS)
    assert all(row["summary"] and row["paper"] for row in rows)


def test_no_torch_is_imported_for_it() -> None:
    code = (
        "import sys; from typer.testing import CliRunner; from orderless.cli.app import app;"
        "assert CliRunner().invoke(app, ['methods']).exit_code == 0; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
