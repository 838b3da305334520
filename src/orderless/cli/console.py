"""What every verb prints with: results on stdout, progress and remarks on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

out = Console(highlight=False, soft_wrap=not sys.stdout.isatty())
err = Console(stderr=True, highlight=False, soft_wrap=not sys.stderr.isatty())

T = TypeVar("T")


class RateColumn(ProgressColumn):
    """Items per second."""

    def render(self, task: Task) -> Text:
        speed = task.finished_speed or task.speed
        return Text(f"{speed:.0f}/s" if speed and speed >= 10 else f"{speed:.1f}/s" if speed else "", style="cyan")


def progress_bar() -> Progress:
    """A bar with a rate and the time left; silent when the output is piped."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=30),
        MofNCompleteColumn(),
        RateColumn(),
        TimeRemainingColumn(),
        console=err,
        disable=not err.is_terminal,
        transient=True,
    )


def track(items: Iterable[T], what: str, total: int | None = None) -> Iterator[T]:
    """Iterate under a progress bar."""
    with progress_bar() as bar:
        yield from bar.track(items, description=what, total=total)
