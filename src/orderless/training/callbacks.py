"""Lightning callbacks: keep the best weights, a row per epoch, checkpoints, and somebody informed."""

from __future__ import annotations

import orderless.torchvision_ops  # noqa: F401  must come before Lightning

import math  # isort: skip
import signal
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
from torch.utils.data import DataLoader

from orderless.data.dataset import Batch, SharedBatches
from orderless.errors import OrderlessError, Stopped
from orderless.run_folder import save_weights
from orderless.training.averaging import recompute_batchnorm
from orderless.training.history import Row, write_rows
from orderless.training.module import StageModule, image_batches
from orderless.training.processes import Processes
from orderless.training.progress import Watcher
from orderless.training.stopping import StopSignals

MOST_NAMED = 8  # images of a step that was skipped


class Recorder(pl.Callback):
    """Judges each epoch, keeps the best weights and the history.

    Must stand before weight averaging in the list of callbacks: at the end of validation it then still sees
    the averaged weights, which are the ones that were judged and the ones to keep.
    """

    def __init__(
        self,
        best_file: Path,
        csv_file: Path,
        monitor: str,
        rows: list[Row],
        watcher: Watcher,
        image_name: Callable[[int], str],
    ) -> None:
        self.best_file, self.csv_file, self.monitor, self.watcher = best_file, csv_file, monitor, watcher
        self.rows, self.image_name = rows, image_name
        self.best = float("-inf")
        self.learning_rate = 0.0
        self.results: dict[str, float] = {}

    def on_train_batch_end(self, trainer: pl.Trainer, module: pl.LightningModule, outputs: Any, *_: Any) -> None:
        assert isinstance(module, StageModule)
        self._tell_of_bad_steps(module)
        self.watcher.step(module.late_loss.last)

    def on_exception(self, trainer: pl.Trainer, module: pl.LightningModule, exception: BaseException) -> None:
        assert isinstance(module, StageModule)
        self._tell_of_bad_steps(module)  # which may be why it ends

    def on_validation_epoch_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        assert isinstance(module, StageModule)
        self.learning_rate = float(trainer.optimizers[0].param_groups[0]["lr"])  # before the schedule changes it
        try:
            self.results = module.validation.compute()
        except ValueError:
            raise OrderlessError("not one validation image could be read") from None
        module.validation.reset()
        score = self.results[self.monitor]
        module.log("monitor", score)
        if score > self.best:
            self.best = score
            if trainer.is_global_zero:
                save_weights(trainee(module), self.best_file)

    def on_train_epoch_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        assert isinstance(module, StageModule)
        self._tell_of_bad_steps(module)
        loss, images = module.processes.sum([module.late_loss.total, module.late_loss.images])
        if not images and not module.late_loss.skipped:
            raise OrderlessError("not one training image could be read")
        left_out = len({index for found in module.processes.gather(module.unreadable) for index in found})
        row: Row = {
            "stage": module.stage.name,
            "epoch": trainer.current_epoch + 1,
            "learning-rate": self.learning_rate,
            "loss": loss / images if images else math.nan,
            "images": len(trainer.train_dataloader.dataset) - left_out,  # type: ignore[union-attr]
            "unreadable": left_out,
            "skipped": module.late_loss.skipped,
            **self.results,
        }
        self.rows.append(row)
        if trainer.is_global_zero:
            write_rows(self.csv_file, self.rows)
        self.watcher.epoch(row)

    def state_dict(self) -> dict[str, Any]:
        return {"rows": list(self.rows), "best": self.best}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.rows[:] = state_dict["rows"]
        self.best = state_dict["best"]

    def _tell_of_bad_steps(self, module: StageModule) -> None:
        while module.late_loss.bad:
            step, loss, rows = module.late_loss.bad.pop(0)
            more = f" and {len(rows) - MOST_NAMED} more" if len(rows) > MOST_NAMED else ""
            names = ", ".join(self.image_name(row) for row in rows[:MOST_NAMED])
            self.watcher.warn(
                f"step {step} was skipped: its loss is {loss:g}, or the gradient is not finite; images {names}{more}"
            )


class BatchNormRefresh(pl.Callback):
    """Recomputes batch-norm statistics for the averaged weights; must stand after weight averaging."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        self.loader: Iterable[Batch] = loader

    def on_validation_epoch_start(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        assert isinstance(module, StageModule)
        if module.encoder is not None and module.adapts_batchnorm:
            recompute_batchnorm(module.encoder, image_batches(self.loader, module.device))
            for buffer in module.encoder.buffers():
                module.processes.broadcast(buffer)  # each process saw other images


class Checkpoints(pl.Callback):
    """Saves all that a resume needs: every few minutes, at the end of every epoch, and before a stop. Must stand last.

    With it goes the place within the epoch, from where the sampler goes on. Nothing is saved between an epoch's last
    step and its judgement: a stop there goes back to the checkpoint before.
    """

    def __init__(self, file: Path, batches: SharedBatches, stop: StopSignals, processes: Processes, minutes: float):
        self.file, self.batches, self.stop, self.processes = file, batches, stop, processes
        self.seconds = 60 * minutes
        self.place = {"epoch": 0, "batches": 0}

    def on_train_start(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        self.stop.listen()
        self.stop.patient = True
        self.saved = time.monotonic()

    def on_train_batch_end(
        self, trainer: pl.Trainer, module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        if batch_idx + 1 == trainer.num_training_batches:
            return
        asked, due = self.processes.sum([self.stop.received is not None, time.monotonic() - self.saved > self.seconds])
        if asked or due:
            self._save(trainer, epoch=trainer.current_epoch, batches=batch_idx + 1)
        if asked:
            self._end()

    def on_validation_batch_end(self, trainer: pl.Trainer, *_: Any) -> None:
        if self.processes.any(self.stop.received is not None):
            self._end()

    def on_train_epoch_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        self._save(trainer, epoch=trainer.current_epoch + 1, batches=0)
        if self.processes.any(self.stop.received is not None):
            self._end()

    def teardown(self, trainer: pl.Trainer, module: pl.LightningModule, stage: str) -> None:
        self.stop.patient = False

    def on_exception(self, trainer: pl.Trainer, module: pl.LightningModule, exception: BaseException) -> None:
        self.stop.patient = False

    def state_dict(self) -> dict[str, Any]:
        return dict(self.place)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.batches.sampler.set_epoch(state_dict["epoch"])
        self.batches.skip = state_dict["batches"]

    def on_save_checkpoint(self, trainer: pl.Trainer, module: pl.LightningModule, checkpoint: dict[str, Any]) -> None:
        checkpoint["should_stop"] = trainer.should_stop

    def on_load_checkpoint(self, trainer: pl.Trainer, module: pl.LightningModule, checkpoint: dict[str, Any]) -> None:
        trainer.should_stop = checkpoint["should_stop"]  # early stopping has spoken: no epoch more

    def _save(self, trainer: pl.Trainer, **place: int) -> None:
        self.place = place
        trainer.save_checkpoint(self.file)
        self.saved = time.monotonic()

    def _end(self) -> None:
        raise Stopped("stopped", self.stop.received or signal.SIGTERM)


def trainee(module: StageModule) -> Any:
    """What the stage trains, as one module with the names that a tagging model uses."""
    from torch import nn

    parts = {"head": module.head} | ({"encoder": module.encoder} if module.encoder is not None else {})
    return nn.ModuleDict(parts)
