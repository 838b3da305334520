"""`orderless train` as its user reads it: what it chose and why, and at the end what came out, in plain words."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest
from tests.cli.test_main import TINY, orderless


@pytest.fixture(scope="module")
def unsplit(photos: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same photos as somebody would have them: a table without a split column, a hostile tag in it."""
    folder = tmp_path_factory.mktemp("unsplit") / "photos"
    shutil.copytree(photos, folder)
    (table,) = folder.glob("*.csv")
    with table.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    with table.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["file_name", "labels"])
        for place, row in enumerate(rows):
            writer.writerow([row["file_name"], row["labels"] + ("|[red]\x1b[2J" if place % 2 else "")])
    return folder


def test_it_says_what_it_chose_and_ends_in_plain_words(unsplit: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    done = orderless("train", unsplit, "--out", out, *TINY)
    assert "the default of the recipe quick" in done.stderr
    assert "random weights; its last block learns, the rest sees every photo only once" in done.stderr
    assert "The data has no validation or test split" in done.stderr
    assert "1, as you asked" in done.stderr
    for heading in ("How good it is", "Examples", "What would help", "Photos to look at again"):
        assert f"\n{heading}\n" in done.stdout
    assert "of 100 tags that should be there, it finds" in done.stdout or "not write a single tag" in done.stdout
    assert "[red]" in done.stdout  # a tag is text, not markup for the terminal
    assert "\x1b" not in done.stdout
    assert (out / "report.html").is_file()
    assert json.loads((out / "summary.json").read_text(encoding="utf-8"))["split"] == "test"


def test_as_json_the_summary_is_data(photos: Path, tmp_path: Path) -> None:
    done = orderless("train", photos, "--out", tmp_path / "run", "--method", "pla", "--json", *TINY)
    printed = json.loads(done.stdout)
    assert printed["summary"] == json.loads((tmp_path / "run" / "summary.json").read_text(encoding="utf-8"))
    assert printed["summary"]["OP"] == pytest.approx(printed["test"]["OP"])
    assert printed["summary"]["images"] == 16
    assert (tmp_path / "run" / "report.html").is_file()
