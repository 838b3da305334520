"""Training as a person sees it: a bar with a rate and the time left, and a line per epoch."""

from __future__ import annotations

from rich.progress import TaskID
from rich.text import Text

from orderless.cli.console import err, progress_bar
from orderless.text import printable
from orderless.training.progress import Watcher


class WarningWatcher(Watcher):
    """Of all processes but the first: says only what went wrong."""

    def __init__(self, rank: int) -> None:
        self.rank = rank

    def warn(self, text: str) -> None:
        err.print(f"process {self.rank}: {text}", markup=False, style="yellow")


class ConsoleWatcher(Watcher):
    """Draws on stderr; piped, it writes plain lines and no bar."""

    def __init__(self, label: str = "") -> None:
        self.label = f"{label}: " if label else ""
        self.bar = progress_bar()
        self.bar.start()
        self.task: TaskID | None = None
        self.losses: list[float] = []

    def note(self, text: str) -> None:
        err.print(text, markup=False)

    def chosen(self, reasons: list[tuple[str, str]]) -> None:
        if self.label:  # one of several runs, which somebody else has explained
            return
        width = max(len(what) for what, _ in reasons)
        for what, why in reasons:
            err.print(Text.assemble((what.ljust(width), "cyan"), "  ", printable(why)))
        err.print()

    def warn(self, text: str) -> None:
        err.print(text, markup=False, style="yellow")

    def encoding(self, total: int) -> None:
        self._begin(f"{self.label}encoding", total)

    def encoded(self, count: int) -> None:
        self._advance(count)

    def stage(self, name: str, epochs: int, batches: int, done: int) -> None:
        self._begin(f"{self.label}{name}", epochs * batches)
        self.total_epochs = epochs
        self._advance(done * batches)

    def step(self, loss: float) -> None:
        self._advance(1)

    def epoch(self, row: dict[str, float | int | str]) -> None:
        numbers = {k: float(v) for k, v in row.items() if not isinstance(v, str)}
        text = (
            f"{self.label}{row['stage']} {row['epoch']:>2}/{self.total_epochs}  loss {numbers['loss']:.4f}"
            f"  val OF1 {100 * numbers['OF1']:5.2f}  CF1 {100 * numbers['CF1']:5.2f}  mAP {100 * numbers['mAP']:5.2f}"
        )
        if "duplicate-rate" in numbers:
            text += f"  duplicates {100 * numbers['duplicate-rate']:.2f} %"
        err.print(text, markup=False)

    def end(self) -> None:
        self._finish()
        self.bar.stop()

    def _begin(self, what: str, total: int) -> None:
        self._finish()
        self.task = self.bar.add_task(what, total=total)

    def _advance(self, count: int) -> None:
        if self.task is not None:
            self.bar.advance(self.task, count)

    def _finish(self) -> None:
        if self.task is not None:
            self.bar.remove_task(self.task)
            self.task = None
