"""Lightning callbacks: keep the best weights, a row per epoch, a checkpoint per epoch, and somebody informed."""

from __future__ import annotations

import orderless.torchvision_ops  # noqa: F401  must come before Lightning

from collections.abc import Iterable  # isort: skip
from pathlib import Path
from typing import Any

import lightning.pytorch as pl
from torch.utils.data import DataLoader

from orderless.data.dataset import Batch
from orderless.errors import OrderlessError
from orderless.run_folder import save_weights
from orderless.training.averaging import recompute_batchnorm
from orderless.training.history import Row, write_rows
from orderless.training.module import StageModule, image_batches
from orderless.training.progress import Watcher


class Recorder(pl.Callback):
    """Judges each epoch, keeps the best weights and the history.

    Must stand before weight averaging in the list of callbacks: at the end of validation it then still sees
    the averaged weights, which are the ones that were judged and the ones to keep.
    """

    def __init__(self, best_file: Path, csv_file: Path, monitor: str, rows: list[Row], watcher: Watcher) -> None:
        self.best_file, self.csv_file, self.monitor, self.watcher = best_file, csv_file, monitor, watcher
        self.rows = rows
        self.best = float("-inf")
        self.results: dict[str, float] = {}

    def on_train_batch_end(self, trainer: pl.Trainer, module: pl.LightningModule, outputs: Any, *_: Any) -> None:
        assert isinstance(module, StageModule)
        self.watcher.step(module.late_loss.last)

    def on_validation_epoch_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        assert isinstance(module, StageModule)
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
        metrics = trainer.callback_metrics
        if "loss" not in metrics:
            raise OrderlessError("not one training image could be read")
        left_out = len(module.unreadable)
        row: Row = {
            "stage": module.stage.name,
            "epoch": trainer.current_epoch + 1,
            "learning-rate": float(trainer.optimizers[0].param_groups[0]["lr"]),
            "loss": float(metrics["loss"]),
            "images": len(trainer.train_dataloader.dataset) - left_out,  # type: ignore[union-attr]
            "unreadable": left_out,
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


class BatchNormRefresh(pl.Callback):
    """Recomputes batch-norm statistics for the averaged weights; must stand after weight averaging."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        self.loader: Iterable[Batch] = loader

    def on_validation_epoch_start(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        assert isinstance(module, StageModule)
        if module.encoder is not None and module.trains_encoder:
            recompute_batchnorm(module.encoder, image_batches(self.loader, module.device))


class EpochCheckpoint(pl.Callback):
    """Saves everything a resume needs at the end of every epoch; must stand last."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def on_train_epoch_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        trainer.save_checkpoint(self.file)


def trainee(module: StageModule) -> Any:
    """What the stage trains, as one module with the names that a tagging model uses."""
    from torch import nn

    parts = {"head": module.head} | ({"encoder": module.encoder} if module.encoder is not None else {})
    return nn.ModuleDict(parts)
