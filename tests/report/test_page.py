"""The pages: whole, without network, and safe from labels that try to be code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.report.made_up import make_comparison

from orderless.report.comparison import write_report
from orderless.report.figures.cooccurrence import label_groups
from orderless.report.run_page import write_run_report
from orderless.report.runs import Comparison

FIGURES = (
    "losses", "sequences", "order-rigidness", "cost-matrix", "ordered-loss", "penalisation", "attention",
    "cooccurrence", "cooccurrence-groups", "breakdown",
)  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = make_comparison(tmp_path_factory.mktemp("page") / "made")
    write_report(made)
    return made


def test_everything_is_written(folder: Path) -> None:
    found = {path.name for path in (folder / "figures").iterdir()}
    assert found == {f"{name}.{kind}" for name in FIGURES for kind in ("png", "svg")}
    assert (folder / "tables.md").is_file()
    assert (folder / "tables.csv").is_file()


def test_the_page_loads_nothing_and_runs_nothing(folder: Path) -> None:
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert "<b>mine</b>" not in page
    assert not re.findall(r'(?:src|href)="(?!data:|#)[^"]*"', page)
    assert not re.findall(r"url\((?!#)", page)


def test_the_page_opens_with_the_main_table_and_the_claims(folder: Path) -> None:
    page = (folder / "report.html").read_text(encoding="utf-8")
    places = [page.index(text) for text in ("All methods", "The paper’s claims", "Learning", "Table 1", "Table 3")]
    assert places == sorted(places)
    assert 'class="wrong"' in page


def test_groups_of_the_data_or_clusters(tmp_path: Path) -> None:
    groups = ("thing", "animal", "animal", "animal", "animal")
    grouped = Comparison.read(make_comparison(tmp_path / "a", ("pla",), 1, groups))
    assert label_groups(grouped) == {"thing": [0], "animal": [1, 2, 3, 4]}
    clustered = label_groups(Comparison.read(make_comparison(tmp_path / "b", ("pla",), 1)))
    assert sorted(label for members in clustered.values() for label in members) == [0, 1, 2, 3, 4]


def test_the_page_of_one_run(folder: Path) -> None:
    page = write_run_report(folder / "pla" / "seed-0")[0].read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "order-rigidness" in page
