"""Text that came from files, made fit for showing."""

from __future__ import annotations


def printable(text: str) -> str:
    """Without control characters and broken code points: they could drive the terminal or spoil a page."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)
