from datetime import timedelta

import pytest
import torch
import torch.multiprocessing as mp
from hypothesis import given

from orderless.evaluation import METRICS, PenalisationRate, TaggingMetrics, count_penalised, evaluate

from .cases import Case, cases, make_case, thorough


def trimmed(sequences: torch.Tensor) -> torch.Tensor:
    """As short as the batch allows, the way a model returns them."""
    longest = int((sequences >= 0).sum(1).max()) if len(sequences) else 0
    return sequences[:, :longest]


def update(metric: TaggingMetrics, case: Case, rows: slice) -> None:
    part = Case(*(tensor[rows] for tensor in case))
    metric.update(*part._replace(sequences=trimmed(part.sequences)))


@given(cases(min_images=3))
@thorough
def test_batches_equal_the_whole(case: Case):
    metric = TaggingMetrics()
    for start in range(0, len(case.truth), 4):
        update(metric, case, slice(start, start + 4))
    assert metric.compute() == evaluate(*case)


def test_optional_inputs_stay_optional():
    case = make_case(2, 20, 5)
    metric = TaggingMetrics()
    metric.update(case.truth, case.predicted)
    assert metric.compute() == evaluate(case.truth, case.predicted)
    with pytest.raises(ValueError, match="scores must come with every batch or with none"):
        metric.update(case.truth, case.predicted, case.scores)


def test_reset_forgets():
    first, second = make_case(0, 8, 4), make_case(1, 9, 4)
    metric = TaggingMetrics()
    metric.update(*first)
    metric.reset()
    metric.update(*second)
    assert metric.compute() == evaluate(*second)


def test_a_batch_may_hold_no_images():
    case = make_case(4, 10, 4)
    metric = TaggingMetrics()
    for rows in (slice(0, 0), slice(0, 10), slice(0, 0)):
        update(metric, case, rows)
    assert metric.compute() == evaluate(*case)
    nothing = Case(*(tensor[:0] for tensor in case))
    metric.reset()
    metric.update(*nothing)
    assert metric.compute() == evaluate(*nothing)


def test_nothing_collected():
    with pytest.warns(UserWarning, match="before the ``update``"), pytest.raises(ValueError, match="call update"):
        TaggingMetrics().compute()


def test_wrong_batches_are_refused_at_once():
    case = make_case(2, 20, 5)
    with pytest.raises(ValueError, match="probabilities"):
        TaggingMetrics().update(case.truth, case.predicted, case.scores + 1)
    with pytest.raises(ValueError, match="19 sequences but 20 images"):
        TaggingMetrics().update(case.truth, case.predicted, case.scores, case.sequences[1:])


def test_penalisation_over_batches():
    truth = torch.tensor([[1, 1, 0], [1, 1, 0]]).bool()
    targets, predicted = torch.tensor([[0, 1, 3], [0, 1, 3]]), torch.tensor([[0, 1, 3], [1, 0, 3]])
    metric = PenalisationRate(3)
    for row in range(2):
        metric.update(predicted[[row]], targets[[row]], truth[[row]])
    whole = count_penalised(predicted, targets, truth)
    assert metric.compute().per_class.tolist() == whole.per_class.tolist() == [0.5, 0.5, 0.0]
    assert metric.compute().rate == whole.rate == 0.5


def _process(rank: int, folder: str) -> None:
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2, timeout=timedelta(minutes=2)
    )
    case = make_case(4, 31, 6)
    metric = TaggingMetrics()
    batches = [slice(0, 7), slice(7, 14), slice(14, 20)] if rank == 0 else [slice(0, 0), slice(20, 31)]
    for rows in batches:
        update(metric, case, rows)
    results = metric.compute()
    torch.distributed.destroy_process_group()
    assert tuple(results) == METRICS
    assert results == pytest.approx(evaluate(*case))


def test_two_processes_equal_one(tmp_path):
    other = mp.get_context("spawn").Process(target=_process, args=(1, str(tmp_path)))
    other.start()
    _process(0, str(tmp_path))
    other.join()
    assert other.exitcode == 0
