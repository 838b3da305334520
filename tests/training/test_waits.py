"""A training step asks the device once, for the alignment: every question makes a GPU's queue run dry.

There is no GPU here. So the ways to ask are counted: each of these calls would wait for the device.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import pytest
import torch
from torch import Tensor

from orderless.config import StageConfig
from orderless.data.dataset import Batch
from orderless.errors import OrderlessError
from orderless.labels import Vocabulary
from orderless.model.decoder import SequenceDecoder
from orderless.order import align
from orderless.training.late_loss import LateLoss
from orderless.training.module import StageModule
from orderless.training.objectives import make_objective

QUESTIONS = ("cpu", "item", "tolist", "__bool__", "__int__", "__float__", "__index__", "nonzero")
NAMES = tuple("abcdef")


@pytest.fixture
def questions(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    asked: Counter[str] = Counter()

    def counted(name: str, original: Any) -> Any:
        def call(self: Tensor, *args: Any, **kwargs: Any) -> Any:
            asked[name] += 1
            return original(self, *args, **kwargs)

        return call

    monkeypatch.setattr(align, "native", None)  # the C code reads what is on the CPU; a GPU goes the other way
    for name in QUESTIONS:
        monkeypatch.setattr(Tensor, name, counted(name, getattr(Tensor, name)))
    return asked


@pytest.mark.parametrize(("method", "expected"), [("pla", 1), ("mla", 1), ("frequent", 0), ("random", 0)])
def test_one_question_a_step(method: str, expected: int, questions: Counter[str]) -> None:
    torch.manual_seed(0)
    stage = StageConfig(name="s", epochs=1, learning_rate=1e-3, batch_size=4)
    objective = make_objective(method, stage, Vocabulary(NAMES, (1,) * 6))
    module = StageModule(None, SequenceDecoder(8, 6, 16, 8, 8), objective, stage, seed=0)
    module.log = lambda *args, **kwargs: None  # type: ignore[method-assign]
    optimizer = torch.optim.AdamW(module.parameters(), fused=True)
    labels = torch.rand(4, 6) < 0.4
    counts = tuple(labels.sum(1).tolist())
    batch = Batch(torch.randn(4, 9, 8), labels, torch.zeros_like(labels), torch.arange(4), counts)
    for step in range(3):
        questions.clear()
        loss = module.training_step(batch, step)
        assert loss is not None
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(module.parameters(), 5.0)
        optimizer.step()
        late = 1 if step else 0  # the loss of the step before: fetched then, here already
        assert questions.total() - late == expected, questions


def test_a_bad_loss_is_found_a_step_later_and_not_counted() -> None:
    late = LateLoss()
    late.note(torch.tensor(0.5), 0, torch.tensor([3, 4]))
    late.note(torch.tensor(math.nan), 1, torch.tensor([7, 8]))
    assert late.last == 0.5
    late.check()
    assert (late.skipped, late.bad[0].step, late.bad[0].rows) == (1, 1, [7, 8])
    late.note(torch.tensor(0.7), 2, torch.tensor([1]))
    late.note_gradient(torch.tensor(math.inf))  # a good loss with a bad gradient
    late.check()
    late.check()  # there is nothing more to look at
    assert (late.skipped, late.in_a_row, late.total, late.images) == (2, 2, 1.0, 2)


def test_many_bad_losses_in_a_row_end_the_training() -> None:
    late = LateLoss()
    for step in range(10):
        late.note(torch.tensor(math.inf), step, torch.tensor([step]))
    with pytest.raises(OrderlessError, match="not finite for 10 steps in a row"):
        late.check()
