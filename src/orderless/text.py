"""Text made fit for showing."""

from __future__ import annotations


def printable(text: str) -> str:
    """Without control characters and broken code points: text from files could drive the terminal or spoil a page."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def counted(count: int, one: str, many: str = "") -> str:
    """A number with its noun: 1 photo, 2,000 photos; many: where it is not one with an s."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
