"""What a comparison tells whoever watches it, also out of other processes."""

from __future__ import annotations

from typing import Any

from orderless.training.progress import Watcher


class CompareWatcher:
    """Hears of everything and says nothing; subclass to draw."""

    def plan(self, total: int, done: int) -> None:
        """So many runs in all, so many of them finished before."""

    def watch(self, task: str) -> Watcher:
        """A run begins, or goes on: who watches it."""
        return Watcher()

    def finished(self, task: str, metrics: dict[str, Any]) -> None:
        """A run ended, with these final metrics."""

    def note(self, text: str) -> None:
        """One sentence that the user should read."""


class QueueWatcher(Watcher):
    """In another process: passes everything on as (task, method, arguments)."""

    def __init__(self, queue: Any, task: str) -> None:
        self.queue, self.task = queue, task

    def note(self, text: str) -> None:
        self.queue.put((self.task, "note", (text,)))

    def warn(self, text: str) -> None:
        self.queue.put((self.task, "warn", (text,)))

    def encoding(self, total: int) -> None:
        self.queue.put((self.task, "encoding", (total,)))

    def encoded(self, count: int) -> None:
        self.queue.put((self.task, "encoded", (count,)))

    def stage(self, name: str, epochs: int, batches: int, done: int) -> None:
        self.queue.put((self.task, "stage", (name, epochs, batches, done)))

    def step(self, loss: float) -> None:
        self.queue.put((self.task, "step", (loss,)))

    def epoch(self, row: dict[str, float | int | str]) -> None:
        self.queue.put((self.task, "epoch", (row,)))

    def end(self) -> None:
        self.queue.put((self.task, "end", ()))
