"""Every bench runs, at tiny sizes, and says what it must say. How fast things are is not a matter for tests."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from orderless.bench import BENCHES, run_benches
from orderless.bench.material import COCO_COUNTS, coco_counts, label_sets
from orderless.bench.measure import Row
from orderless.cli.app import app
from orderless.errors import UsageError

SLOW = {"growth", "start"}  # they start processes


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow if n in SLOW else ()) for n in BENCHES])
def test_quick(name: str) -> None:
    answer = CliRunner().invoke(app, ["bench", name, "--quick", "--json"])
    assert answer.exit_code == 0, answer.output
    rows = json.loads(answer.stdout)
    assert rows
    for row in rows:
        assert row["bench"] == name
        assert row["case"]
        assert row["ratio"] > 0
        assert row["ours"] > 0
        assert row["theirs"] > 0
        assert (row["goal"] is None) == (row["holds"] is None)


def test_the_table_shows_what_does_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [Row("align", "PLA", 0.001, 0.02, 20.0, (">=", 50.0)), Row("start", "help", 0.1, 0.02, 5.0, ("<=", 5.0))]
    monkeypatch.setattr("orderless.bench.run_benches", lambda names, quick: iter(rows))
    output = CliRunner().invoke(app, ["bench"]).stdout
    assert [line.split()[-1] for line in output.splitlines()[1:]] == ["no", "yes"]
    assert "1 ms" in output
    assert "≥ 50" in output


def test_an_unknown_bench_is_named() -> None:
    with pytest.raises(UsageError, match="no bench 'speed'; choose from align, decoder"):
        list(run_benches(["speed"]))


def test_label_sets_have_the_statistics_of_coco() -> None:
    assert sum(COCO_COUNTS) == pytest.approx(1.0, abs=1e-3)
    counts = coco_counts(2000)
    assert sum(counts) / len(counts) == pytest.approx(2.94, abs=0.03)
    assert max(counts) >= 12
    assert label_sets(counts, 80).sum(1).tolist() == counts
