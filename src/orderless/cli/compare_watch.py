"""A comparison as a person sees it: one bar for all runs, and one for each run at work."""

from __future__ import annotations

from typing import Any

from rich.progress import Progress, TaskID

from orderless.cli.console import err, progress_bar
from orderless.compare.watching import CompareWatcher
from orderless.training.progress import Watcher


class ConsoleCompareWatcher(CompareWatcher):
    """Draws on stderr; piped, it writes a line per finished run and no bar. Notes are said once."""

    def __init__(self) -> None:
        self.bar = progress_bar()
        self.total = 0
        self.done = 0
        self.whole: TaskID | None = None
        self.said: set[str] = set()

    def __enter__(self) -> ConsoleCompareWatcher:
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def plan(self, total: int, done: int) -> None:
        self.total, self.done = total, done
        if done:
            self.note(f"{done} of {total} runs are done already")
        self.whole = self.bar.add_task("runs", total=total, completed=done)

    def watch(self, task: str) -> Watcher:
        return _RunWatcher(self, self.bar, task)

    def finished(self, task: str, metrics: dict[str, Any]) -> None:
        self.done += 1
        if self.whole is not None:
            self.bar.advance(self.whole)
        judged = metrics.get("test", metrics["val"])
        err.print(
            f"{self.done}/{self.total}  {task}  CF1 {100 * judged['CF1']:.2f}  OF1 {100 * judged['OF1']:.2f}",
            markup=False,
        )

    def note(self, text: str) -> None:
        self.say(text)

    def say(self, text: str, style: str | None = None) -> None:
        if text not in self.said:
            self.said.add(text)
            err.print(text, markup=False, style=style)


class _RunWatcher(Watcher):
    """One run's bar."""

    def __init__(self, whole: ConsoleCompareWatcher, bar: Progress, name: str) -> None:
        self.whole, self.bar, self.name = whole, bar, name
        self.task: TaskID | None = None

    def note(self, text: str) -> None:
        self.whole.note(text)

    def warn(self, text: str) -> None:
        self.whole.say(text, "yellow")

    def encoding(self, total: int) -> None:
        self._begin("encoding", total)

    def encoded(self, count: int) -> None:
        self._advance(count)

    def stage(self, name: str, epochs: int, batches: int, done: int) -> None:
        self._begin(name, epochs * batches)
        self._advance(done * batches)

    def step(self, loss: float) -> None:
        self._advance(1)

    def end(self) -> None:
        if self.task is not None:
            self.bar.remove_task(self.task)
            self.task = None

    def _begin(self, what: str, total: int) -> None:
        self.end()
        self.task = self.bar.add_task(f"{self.name}: {what}", total=total)

    def _advance(self, count: int) -> None:
        if self.task is not None:
            self.bar.advance(self.task, count)
