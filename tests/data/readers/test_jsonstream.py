"""The streaming JSON reader against the standard one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from orderless.data.readers import jsonstream
from orderless.errors import UsageError

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def rebuilt(path: Path) -> dict[str, Any]:
    """Collect the stream into lists by key; a value that came whole stands alone."""
    found: dict[str, Any] = {}
    for key, value in jsonstream.stream(path):
        found.setdefault(key, []).append(value)
    return found


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 64])
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(whole=st.dictionaries(st.text(max_size=5), values, max_size=4), indent=st.none() | st.integers(0, 2))
def test_objects(tmp_path: Path, whole: dict[str, Any], indent: int | None, chunk: int) -> None:
    path = tmp_path / "file.json"
    path.write_text(json.dumps(whole, indent=indent, ensure_ascii=bool(len(whole) % 2)), encoding="utf-8")
    before, jsonstream._CHUNK = jsonstream._CHUNK, chunk
    try:
        found = rebuilt(path)
    finally:
        jsonstream._CHUNK = before
    expected = {key: value if isinstance(value, list) else [value] for key, value in whole.items()}
    assert found == {key: value for key, value in expected.items() if value}


def test_a_list(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_text('\ufeff [1, 23.5, {"a": []}] \n', encoding="utf-8")
    assert rebuilt(path) == {"": [1, 23.5, {"a": []}]}


def test_skipped_lists_of_numbers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entry = {"segmentation": [[1.5, 2e3], [-4]], "text": 'a "segmentation": [1], b', "keep": [[1]]}
    crowd = {"segmentation": {"counts": [1, 2]}, "last": 1}
    path = tmp_path / "file.json"
    path.write_text(json.dumps({"annotations": [entry, crowd, {"segmentation": [1, 2]}]}))
    for chunk in (1 << 20, 11, 5):
        monkeypatch.setattr(jsonstream, "_CHUNK", chunk)
        found = [value for _, value in jsonstream.stream(path, skip="segmentation")]
        # A list may come whole when it straddles two windows; nothing else may change.
        assert found[0]["segmentation"] in (None, entry["segmentation"])
        assert {**found[0], "segmentation": 0} == {**entry, "segmentation": 0}
        assert found[1] == crowd


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "neither"),
        ("3", "neither"),
        ('{"a": [1, 2', "ends in the middle"),
        ('{"a": [1, 2]', "ends in the middle"),
        ('{"a": [1 2]}', "not JSON near '2]}'"),
        ('{"a": 1}}', "goes on"),
        ('{"a"; 1}', "not JSON near"),
        ("[" * 100_000, "nested too deeply|ends in the middle"),
    ],
)
def test_broken_files(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "file.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=expected):
        list(jsonstream.stream(path))


def test_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "file.json"
    path.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(UsageError, match="UTF-8"):
        list(jsonstream.stream(path))
