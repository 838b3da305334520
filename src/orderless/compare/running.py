"""The runs of a comparison, one after another or in processes beside each other."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.managers import SyncManager
from typing import Any

import torch

from orderless.compare.plan import Task
from orderless.compare.watching import CompareWatcher, QueueWatcher
from orderless.data.sample import Collection
from orderless.data.transforms import Preprocessing
from orderless.errors import OrderlessError, Stopped, UsageError
from orderless.kept_memory import freed_memory_is_kept, keep_freed_memory
from orderless.model.encoder import Encoder
from orderless.model.weights import load_encoder_weights
from orderless.run_folder import RunFolder
from orderless.training.features import store_features, stored_part
from orderless.training.progress import Watcher
from orderless.training.run import train

_shared: dict[str, Any] = {}  # of a worker process: what all its runs read


def encode_once(tasks: Sequence[Task], collection: Collection, watcher: CompareWatcher) -> None:
    """Fill the feature cache before runs start beside each other and would all do it."""
    cached = [task for task in tasks if task.config.stages[-1].cache]
    if not cached or cached[0].config.model.weights == "none":  # random encoders differ by seed: each run fills its own
        return
    config = cached[0].config
    encoder = Encoder(config.model.backbone)
    load_encoder_weights(encoder, config.model.weights)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    preprocessing = Preprocessing(config.data.image_size, encoder.mean, encoder.std, encoder.interpolation)
    encoder.to(device).eval()
    bar = watcher.watch("features")
    try:
        for split, samples in collection.splits.items():
            bar.encoding(len(samples))
            mirror = split == "train" and config.stages[-1].augment
            part = stored_part(encoder, config.stages[-1])
            store_features(
                encoder, preprocessing, samples, mirror=mirror, device=device, part=part, workers=config.data.workers,
                pixel_limit=config.data.pixel_limit, progress=bar.encoded,
            )  # fmt: skip
    finally:
        bar.end()


def run_tasks(tasks: Sequence[Task], collection: Collection, jobs: int, watcher: CompareWatcher) -> None:
    """Train every task. One that fails does not stop the others; at the end the first failure is raised."""
    if not tasks:
        return
    failures: list[tuple[Task, OrderlessError]] = []
    if jobs > 1 and len(tasks) > 1:
        failures = _in_processes(tasks, collection, min(jobs, len(tasks)), watcher)
    else:
        for task in tasks:
            try:
                watcher.finished(task.label, run_task(task, collection, watcher.watch(task.label)))
            except (UsageError, Stopped):
                raise
            except OrderlessError as error:
                watcher.note(f"{task.label} failed: {error}")
                failures.append((task, error))
    if failures:
        failed, reason = failures[0]
        raise OrderlessError(f"{len(failures)} of {len(tasks)} runs failed, the first is {failed.label}: {reason}")


def run_task(task: Task, collection: Collection, watcher: Watcher) -> dict[str, Any]:
    """Train one run, or go on with it if it was stopped."""
    try:
        return train(task.config, RunFolder(task.folder), collection=collection, resume=True, watcher=watcher)
    finally:
        watcher.end()


def _in_processes(
    tasks: Sequence[Task], collection: Collection, jobs: int, watcher: CompareWatcher
) -> list[tuple[Task, OrderlessError]]:
    context = multiprocessing.get_context("spawn")  # a fork of a process that runs threads may hang
    failures: list[tuple[Task, OrderlessError]] = []
    manager = SyncManager(ctx=context)
    manager.start(_end_with_parent)
    with manager:
        queue = manager.Queue()
        listener = threading.Thread(target=_listen, args=(queue, watcher), daemon=True)
        listener.start()
        try:
            shared = (collection, queue, jobs, freed_memory_is_kept())
            with ProcessPoolExecutor(jobs, context, _begin_process, shared) as pool:
                futures = {pool.submit(_run_in_process, task): task for task in tasks}
                processes = list((pool._processes or {}).values())
                try:
                    for future in as_completed(futures):
                        task = futures[future]
                        try:
                            watcher.finished(task.label, future.result())
                        except OrderlessError as error:
                            if isinstance(error, UsageError | Stopped):
                                raise
                            watcher.note(f"{task.label} failed: {error}")
                            failures.append((task, error))
                except BrokenProcessPool:
                    raise OrderlessError(
                        "a process of the comparison was killed (out of memory?); the same command goes on from here"
                    ) from None
                except BaseException:
                    pool.shutdown(wait=False, cancel_futures=True)
                    for process in processes:
                        process.terminate()  # a signal, which a training answers with a checkpoint
                    raise
        finally:
            queue.put(None)
            listener.join()
    return failures


def _begin_process(collection: Collection, queue: Any, jobs: int, keep: bool) -> None:
    _end_with_parent()
    if keep:
        keep_freed_memory()
    _shared.update(collection=collection, queue=queue)
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // jobs))


def _run_in_process(task: Task) -> dict[str, Any]:
    return run_task(task, _shared["collection"], QueueWatcher(_shared["queue"], task.label))


def _end_with_parent() -> None:
    """Without it, runs would go on after their comparison was killed, beside those of the next one."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def wait() -> None:
        parent.join()
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=wait, daemon=True).start()


def _listen(queue: Any, watcher: CompareWatcher) -> None:
    watchers: dict[str, Watcher] = {}
    while (message := queue.get()) is not None:
        task, method, arguments = message
        if task not in watchers:
            watchers[task] = watcher.watch(task)
        getattr(watchers[task], method)(*arguments)
