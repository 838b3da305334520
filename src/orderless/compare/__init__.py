"""Every method on the same data, encoder and budget: a folder of runs, and what the paper tells about such runs.

    OUT/comparison.json            what was compared, on which data
    OUT/<method>/seed-<s>/         a run; <method>-noattention where attention is a choice
    OUT/stage-one/seed-<s>/        the encoder that all methods of a seed go on from, if a recipe trains it first
    OUT/examples/                  some test images, small
    OUT/report.html, tables.md, tables.csv, figures/

What is done is never done again: the same command after a kill goes on where it was.
"""

from __future__ import annotations

from pathlib import Path

from orderless.compare.plan import PAPER_METHODS, CompareSettings, Task, check_data, check_settings, plan
from orderless.compare.watching import CompareWatcher
from orderless.errors import Stopped
from orderless.run_folder import RunFolder

__all__ = ["PAPER_METHODS", "CompareSettings", "CompareWatcher", "Task", "compare", "plan"]


def compare(
    settings: CompareSettings, out: Path, *, jobs: int = 1, watcher: CompareWatcher | None = None
) -> list[Task]:
    """Train what is not trained yet, inspect every run, write the report; returns the runs."""
    from orderless.training.stopping import StopSignals

    with StopSignals():
        try:
            return _compare(settings, out, jobs, watcher or CompareWatcher())
        except Stopped as error:
            raise Stopped("stopped; the same command goes on from here", error.signal) from None


def _compare(settings: CompareSettings, out: Path, jobs: int, watcher: CompareWatcher) -> list[Task]:
    from orderless.compare.inspection import inspect, store_examples
    from orderless.compare.running import encode_once, run_tasks
    from orderless.data import open_data
    from orderless.report.comparison import write_report

    tasks = plan(settings, out)
    check_settings(settings, out, tasks)
    data = tasks[0].config.data  # the same for all
    collection = open_data(data.path, data.format, seed=0, **data.options).limited(data.limit, 0)
    for note in collection.notes:
        watcher.note(note)
    check_data(out, collection)
    examples = store_examples(out, settings, collection)
    unfinished = [task for task in tasks if not task.finished]
    watcher.plan(len(tasks), len(tasks) - len(unfinished))
    encode_once(unfinished, collection, watcher)
    for wave in ([t for t in unfinished if t.needs is None], [t for t in unfinished if t.needs is not None]):
        run_tasks(wave, collection, jobs, watcher)
    for task in tasks:  # afterwards and one by one, so that nothing else disturbs the clock
        inspect(RunFolder(task.folder), collection, examples)
    write_report(out)
    return tasks
