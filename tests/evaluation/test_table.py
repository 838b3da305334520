import pytest
from hypothesis import given

from orderless.evaluation import count_sets, evaluate, per_class, set_metrics

from .cases import Case, cases, make_case, thorough


@given(cases())
@thorough
def test_the_means_of_the_table_are_the_headline_numbers(case: Case):
    rows = per_class(case.truth, case.predicted, case.scores, case.ignore)
    whole = evaluate(case.truth, case.predicted, case.scores, ignore=case.ignore)

    def mean(column: list[float]) -> float:
        return sum(column) / len(column) if column else 0.0

    assert mean([row.precision for row in rows]) == pytest.approx(whole["CP"])
    assert mean([row.recall for row in rows]) == pytest.approx(whole["CR"])
    assert mean([row.F1 for row in rows]) == pytest.approx(whole["macro-F1"])
    assert mean([row.AP for row in rows if row.AP is not None]) == pytest.approx(whole["mAP"])
    assert [row.AP is None for row in rows] == [row.tp + row.fn == 0 for row in rows]


def test_without_scores_there_is_no_ap():
    case = make_case(1, 30, 4)
    rows = per_class(case.truth, case.predicted)
    counts = count_sets(case.truth, case.predicted)
    assert [row.AP for row in rows] == [None] * 4
    assert [row.tp for row in rows] == counts.tp.tolist()
    assert set_metrics(counts)["OR"] == sum(r.tp for r in rows) / sum(r.tp + r.fn for r in rows)
