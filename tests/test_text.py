"""Text from files."""

from __future__ import annotations

from orderless.text import printable


def test_printable() -> None:
    assert printable("Käse 犬 <b>") == "Käse 犬 <b>"
    assert printable("a\x1b[31mb\n\udcff") == "a\ufffd[31mb\ufffd\ufffd"
