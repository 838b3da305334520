"""The tagger as a library: what it takes, what it refuses, where it can be sent."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

from orderless.bench.material import write_photos, write_run
from orderless.errors import UsageError
from orderless.tagger import Tagger, load


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_run(tmp_path_factory.mktemp("tagger") / "run", "test_resnet", 64)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return write_photos(tmp_path_factory.mktemp("files"), 5, 120, 90)


@pytest.fixture(scope="module")
def tagger(run: Path) -> Tagger:
    return load(run, device="cpu")


def test_results_can_be_compared(tagger: Tagger, files: list[Path]) -> None:
    once, again = tagger.predict(files[0]), tagger.predict(files[0])
    assert once == again
    assert once != tagger.predict(files[1])
    assert once.tags[0] in again.tags
    assert len({*once.tags, *again.tags}) == len(once.tags)


def test_an_open_file(tagger: Tagger, files: list[Path]) -> None:
    with files[0].open("rb") as file:
        assert tagger.predict(file).tags == tagger.predict(files[0]).tags


def test_wrong_calls_say_so(tagger: Tagger, files: list[Path], run: Path) -> None:
    for one in (str(files[0]), files[0], b"x"):
        with pytest.raises(TypeError, match="several files"):
            tagger.predict_many(one)  # type: ignore[arg-type]
    for wrong in ({"batch_size": 0}, {"batch_size": -1}, {"workers": -1}):
        with pytest.raises(UsageError, match="at least"):
            tagger.predict_many(files, **wrong)
    with pytest.raises(TypeError, match="not ndarray"):
        tagger.predict_images([torch.zeros(3, 3).numpy()])  # type: ignore[list-item]
    for device in ("gpu", "cuda:99"):
        with pytest.raises(UsageError, match="no device"):
            load(run, device=device)


def test_answers_come_while_questions_are_still_asked(tagger: Tagger, files: list[Path]) -> None:
    asked = 0

    def endless() -> Iterator[Path]:
        nonlocal asked
        while True:
            asked += 1
            yield files[asked % 5]

    answers = tagger.predict_many(endless(), batch_size=2)
    next(answers)
    assert asked == 2
    for _ in range(9):
        next(answers)
    assert asked <= 14


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda tagger: pickle.loads(pickle.dumps(tagger))])  # noqa: S301
def test_copies_tag_by_themselves(run: Path, files: list[Path], copied: object) -> None:
    original = load(run, device="cpu")
    expected = original.predict(files[0])
    twin = copied(original)  # type: ignore[operator]
    for parameter in original.model.parameters():
        parameter.data.zero_()
    assert twin.predict(files[0]) == expected
