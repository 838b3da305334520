"""What training tells whoever watches; the command line draws it, a library user may ignore it."""

from __future__ import annotations


class Watcher:
    """Hears of everything and says nothing; subclass to draw."""

    def note(self, text: str) -> None:
        """One sentence that the user should read."""

    def chosen(self, reasons: list[tuple[str, str]]) -> None:
        """What is going to be done and why: a word and a sentence each."""

    def warn(self, text: str) -> None:
        """One sentence about something that went wrong and was survived."""

    def encoding(self, total: int) -> None:
        """Encoding of `total` images begins."""

    def encoded(self, count: int) -> None:
        """So many images more are encoded."""

    def stage(self, name: str, epochs: int, batches: int, done: int) -> None:
        """A stage begins, of which `done` epochs are already done."""

    def step(self, loss: float) -> None:
        """One batch was learnt."""

    def epoch(self, row: dict[str, float | int | str]) -> None:
        """An epoch ended; its row of metrics.csv."""

    def end(self) -> None:
        """Nothing more is coming."""
