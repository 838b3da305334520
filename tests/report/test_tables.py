"""Tables: one row per variant, two for a threshold, bold by the rule, published rows apart."""

from __future__ import annotations

import csv
import io
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from tests.report.made_up import make_comparison

from orderless.errors import UsageError
from orderless.labels import Vocabulary
from orderless.methods import METHODS
from orderless.report.claims import judge_claims
from orderless.report.comparison import write_report
from orderless.report.runs import Comparison
from orderless.report.spread import Spread
from orderless.report.style import COLOURS
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
    comparison = replace(comparison, info=comparison.info | {"images": {"train": 60, "val": 10, "test": 40_137}})
    comparison.vocabulary = Vocabulary(tuple(map(str, range(80))), (1,) * 80)
    tables = all_tables(comparison)
    assert [table.key for table in tables] == ["main", "table-1", "table-2", "table-3", "table-data-set"]
    assert "Table 4" in tables[4].title
    rows = list(csv.DictReader(io.StringIO(to_csv(tables))))
    published = [row for row in rows if row["source"] == "published" and row["table"] == "table-1"]
    assert {row["row"]: row["mean"] for row in published if row["metric"] == "duplicate-rate"}["PLA"] == "0.0400"
    assert all(row["best"] == "0" for row in rows if row["source"] == "published")


def test_the_papers_numbers_stand_only_beside_the_papers_data(comparison: Comparison) -> None:
    assert comparison.info["format"] == "coco"  # but of five labels and thirty images
    assert not any(row.published for table in all_tables(comparison) for row in table.rows)


def test_claims_follow_from_the_numbers(comparison: Comparison) -> None:
    verdicts = {claim.text.split(" (")[0]: claim.verdict for claim in judge_claims(comparison)}
    repeated = "Labels are repeated in fewer images under PLA and MLA than under frequent first."
    assert verdicts[repeated] == "unclear"  # here every seed agrees to the last digit
    assert verdicts["The training loss is lower under PLA and MLA than under frequent first."] == "confirmed"
    assert verdicts["PLA's labels are better than those of frequent first"] == "confirmed"
    assert verdicts["PLA aligns faster than MLA."] == "unclear"  # both took as long


def test_claims_name_what_was_run(tmp_path: Path) -> None:
    texts = [claim.text for claim in judge_claims(Comparison.read(make_comparison(tmp_path, ("pla", "bce", "rare"))))]
    assert any("under PLA than under rare first" in text for text in texts)
    assert not any("MLA" in text or "every" in text or "{" in text for text in texts)


def test_one_fact_has_one_number(tmp_path: Path) -> None:
    """Labels that MLA punishes: the claim and the figure count all seeds together."""
    comparison = Comparison.read(make_comparison(tmp_path))
    runs = comparison.main("mla")
    for run, (right, punished) in zip(runs, ((30, 15), (70, 0)), strict=True):
        run.metrics["penalisation"] = {
            "rate": 0.1, "labels": {"cat": {"right": right, "punished": punished}, "dog": {"right": 5, "punished": 5}},
        }  # fmt: skip
    assert comparison.punished() == {"cat": 0.15}  # a dog was seldom right: that says little
    claim = next(claim for claim in judge_claims(comparison) if "punishes" in claim.text)
    assert "most for cat: 15.0 %" in claim.measured


def test_every_method_has_its_own_colour() -> None:
    assert set(COLOURS) == set(METHODS)
    assert len(set(COLOURS.values())) == len(METHODS)


@pytest.mark.parametrize("damage", ["times.json", "examples.safetensors", "thumbnails"])
def test_what_a_figure_lacks_costs_only_the_figure(damage: str, tmp_path: Path) -> None:
    folder = make_comparison(tmp_path)
    if damage == "thumbnails":
        shutil.rmtree(folder / "examples")
    else:
        for file in folder.glob(f"*/seed-*/{damage}"):
            file.write_bytes(b"{")
    assert write_report(folder).is_file()


def test_damaged_numbers_are_named_not_left_out(tmp_path: Path) -> None:
    folder = make_comparison(tmp_path)
    (folder / "pla" / "seed-1" / "metrics.json").write_text("{")
    with pytest.raises(UsageError, match=r"pla/seed-1/metrics\.json is damaged"):
        write_report(folder)
    (folder / "comparison.json").write_text('{"data": "x"}')
    with pytest.raises(UsageError, match=r"comparison\.json is missing or damaged"):
        Comparison.read(folder)


def test_one_seed_confirms_nothing(tmp_path: Path) -> None:
    claims = judge_claims(Comparison.read(make_comparison(tmp_path, seeds=1)))
    assert claims
    assert {claim.verdict for claim in claims} == {"unclear"}


def test_a_folder_without_runs_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no comparison"):
        Comparison.read(tmp_path)
