"""The vocabulary: indices, tokens, frequencies, and its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from orderless.errors import UsageError
from orderless.labels import Vocabulary


def test_counts_and_order() -> None:
    words = Vocabulary.from_label_sets([("dog", "cat"), ("dog",), (), ("dog", "dog")])
    assert words.names == ("cat", "dog")
    assert words.frequencies == (1, 3)
    assert len(words) == 2
    assert words.index == {"cat": 0, "dog": 1}


def test_a_published_vocabulary_keeps_its_order_and_its_unused_labels() -> None:
    words = Vocabulary.from_label_sets([("b",)], names=["c", "b", "a"], groups={"b": "letters"})
    assert words.names == ("c", "b", "a")
    assert words.frequencies == (0, 1, 0)
    assert words.groups == ("", "letters", "")
    with pytest.raises(UsageError, match="'z'"):
        Vocabulary.from_label_sets([("z",)], names=["a"])


def test_indices() -> None:
    words = Vocabulary(("a", "b", "c"), (1, 1, 1))
    assert words.indices(["c", "a", "c"]) == [0, 2]
    assert words.indices([]) == []
    assert words.indices(["c", "z"], ignore_unknown=True) == [2]
    with pytest.raises(UsageError, match="'z' was never seen in training"):
        words.indices(["z"])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (((), ()), "no label"),
        ((("a", "a"), (1, 1)), "'a' twice"),
        ((("a",), (1, 2)), "1 labels but 2 frequencies"),
        ((("a",), (1,), ("g", "h")), "1 labels but 2 groups"),
    ],
)
def test_mistakes(arguments: tuple[tuple[object, ...], ...], expected: str) -> None:
    with pytest.raises(UsageError, match=expected):
        Vocabulary(*arguments)  # type: ignore[arg-type]


@pytest.mark.parametrize("groups", [(), ("living", "")])
def test_file(tmp_path: Path, groups: tuple[str, ...]) -> None:
    words = Vocabulary(('Käse | "x"\n', "犬"), (3, 0), groups)
    (tmp_path / "labels.json").write_text(words.to_json(), encoding="utf-8")
    assert Vocabulary.load(tmp_path / "labels.json") == words


def test_another_encoding_is_not_guessed(tmp_path: Path) -> None:
    (tmp_path / "labels.json").write_bytes(Vocabulary(("café",), (1,)).to_json().encode("latin-1"))
    with pytest.raises(UsageError, match="not one that orderless wrote"):
        Vocabulary.load(tmp_path / "labels.json")


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        '{"labels": [{"name": "a", "frequency": Infinity}]}',
        "",
        "[]",
        "{}",
        '{"labels": [3]}',
        '{"labels": [{"name": "a"}]}',
        '{"labels": 3}',
    ],
)
def test_broken_files(text: str) -> None:
    with pytest.raises(UsageError, match="not one that orderless wrote"):
        Vocabulary.from_json(text)
