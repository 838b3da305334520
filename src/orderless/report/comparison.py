"""The report of a comparison, from what is on disk: tables, figures and one page."""

from __future__ import annotations

from pathlib import Path

from orderless.files import write_text
from orderless.report.claims import judge_claims
from orderless.report.page import comparison_page
from orderless.report.runs import Comparison
from orderless.report.tables import all_tables, to_csv, to_markdown


def write_report(folder: Path) -> Path:
    """Write tables.md, tables.csv, figures/ and report.html into the folder of a comparison; returns the page."""
    comparison = Comparison.read(folder)
    tables = all_tables(comparison)
    write_text(folder / "tables.md", to_markdown(tables))
    write_text(folder / "tables.csv", to_csv(tables))
    page = folder / "report.html"
    write_text(page, comparison_page(comparison, tables, judge_claims(comparison), []))
    return page
