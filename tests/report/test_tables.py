"""Tables: one row per variant, two for a threshold, bold by the rule, published rows apart."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from tests.report.made_up import make_comparison

from orderless.errors import UsageError
from orderless.report.claims import judge_claims
from orderless.report.runs import Comparison
from orderless.report.spread import Spread
from orderless.report.tables import Table, TableRow, all_tables, main_table, to_csv, to_markdown


@pytest.fixture(scope="module")
def comparison(tmp_path_factory: pytest.TempPathFactory) -> Comparison:
    return Comparison.read(make_comparison(tmp_path_factory.mktemp("made") / "up", seeds=3, format="coco"))


def test_rows_of_the_main_table(comparison: Comparison) -> None:
    table = main_table(comparison)
    assert [row.name for row in table.rows] == [
        "BCE at 0.5", "BCE, tuned threshold", "Frequent first", "MLA", "PLA", "PLA, no attention",
    ]  # fmt: skip
    runs = comparison.of("pla")
    of1 = table.rows[4].cells[table.metrics.index("OF1")]
    assert of1 is not None
    assert of1.mean == pytest.approx(sum(100 * run.metrics["test"]["OF1"] for run in runs) / 3)
    assert of1.n == 3


def test_bold_only_beyond_the_spread_and_never_a_published_row() -> None:
    table = Table("t", "T", "", ("OF1", "duplicate-rate", "order-rigidness"))
    table.rows = [
        TableRow("clear", (Spread(80.0, 0.1, 3), Spread(1.0, 0.1, 3), Spread(100.0, 0.0, 3))),
        TableRow("worse", (Spread(70.0, 0.1, 3), Spread(0.9, 0.1, 3), Spread(50.0, 0.0, 3))),
        TableRow("paper", (Spread(99.0), Spread(0.0), Spread(1.0)), published=True),
    ]
    assert table.bold() == {(0, 0)}
    text = to_markdown([table])
    assert "| clear | **80.00 ± 0.10** | 1.00 ± 0.10 | 100.00 ± 0.00 |" in text
    assert "| paper *(published)* | 99.00 | 0.00 | 1.00 |" in text


def test_a_method_is_no_rival_of_itself_at_another_threshold() -> None:
    table = Table("t", "T", "", ("OF1", "mAP"))
    table.rows = [
        TableRow("BCE at 0.5", (Spread(70.0, 0.1, 3), Spread(80.0, 0.1, 3)), variant="bce"),
        TableRow("BCE, tuned threshold", (Spread(70.1, 0.1, 3), Spread(80.0, 0.1, 3)), variant="bce"),
        TableRow("PLA", (Spread(60.0, 0.1, 3), Spread(70.0, 0.1, 3)), variant="pla"),
    ]
    assert table.bold() == {(1, 0), (0, 1), (1, 1)}
    table.rows.pop()
    assert table.bold() == set()  # nobody to be better than


def test_every_table_and_the_published_numbers_beside_ours(comparison: Comparison) -> None:
    tables = all_tables(comparison)
    assert [table.key for table in tables] == ["main", "table-1", "table-2", "table-3", "table-data-set"]
    assert "Table 4" in tables[4].title
    rows = list(csv.DictReader(io.StringIO(to_csv(tables))))
    published = [row for row in rows if row["source"] == "published" and row["table"] == "table-1"]
    assert {row["row"]: row["mean"] for row in published if row["metric"] == "duplicate-rate"}["PLA"] == "0.0400"
    assert all(row["best"] == "0" for row in rows if row["source"] == "published")


def test_claims_follow_from_the_numbers(comparison: Comparison) -> None:
    verdicts = {claim.text.split(" (")[0]: claim.verdict for claim in judge_claims(comparison)}
    assert verdicts["PLA and MLA repeat labels in fewer images than any other order."] == "confirmed"
    assert verdicts["PLA and MLA reach a lower training loss than any other order."] == "confirmed"
    assert verdicts["PLA's labels are better than those of every fixed order"] == "confirmed"
    assert verdicts["PLA aligns faster than MLA."] == "unclear"  # both took as long


def test_one_seed_confirms_nothing(tmp_path: Path) -> None:
    claims = judge_claims(Comparison.read(make_comparison(tmp_path, seeds=1)))
    assert claims
    assert {claim.verdict for claim in claims} == {"unclear"}


def test_a_folder_without_runs_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no comparison"):
        Comparison.read(tmp_path)
