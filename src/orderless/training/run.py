"""Training a run: open the data, prepare the encoder, go through the stages, judge the result."""

from __future__ import annotations

import orderless.torchvision_ops  # noqa: F401  must come before Lightning

import logging  # isort: skip
import warnings
from contextlib import nullcontext
from importlib.util import find_spec
from typing import Any

import lightning.pytorch as pl
import torch
from lightning.pytorch.callbacks import EarlyStopping
from torch import nn

from orderless.config import Config, ModelConfig, StageConfig
from orderless.data import Collection
from orderless.data.dataset import SharedBatches
from orderless.errors import Stopped, UsageError
from orderless.methods import METHODS
from orderless.model.encoder import Encoder
from orderless.model.network import TaggingModel, build_head
from orderless.model.weights import load_encoder_weights
from orderless.reasons import reasons
from orderless.report.summary import write_summary
from orderless.run_folder import ENCODER, RunFolder, load_weights, resume_command, save_weights
from orderless.training.averaging import make_averaging
from orderless.training.callbacks import BatchNormRefresh, Checkpoints, Recorder, trainee
from orderless.training.checkpoint import AtomicCheckpoints, intact_checkpoint
from orderless.training.data import TrainingData
from orderless.training.features import encoder_key, stored_part
from orderless.training.history import read_rows
from orderless.training.judging import final_metrics
from orderless.training.module import StageModule
from orderless.training.objectives import make_objective
from orderless.training.penalisation import PenalisationLog
from orderless.training.processes import Processes
from orderless.training.progress import Watcher
from orderless.training.stopping import StopSignals


def train(
    config: Config,
    run: RunFolder,
    *,
    collection: Collection | None = None,
    resume: bool = False,
    tensorboard: bool = False,
    watcher: Watcher | None = None,
) -> dict[str, Any]:
    """Train as configured, write the run folder, return the final metrics (also in metrics.json).

    SIGTERM and SIGINT end it with a checkpoint and `Stopped`. Under torchrun all processes call this; the first one
    writes the run and judges it, the others return nothing.
    """
    with StopSignals() as stop:
        try:
            return _train(config, run, collection, resume, tensorboard, watcher or Watcher(), stop)
        except Stopped as error:
            begun = run.config_file.is_file()
            hint = f"go on with: {resume_command(run.path)}" if begun else "nothing was written yet"
            raise Stopped(f"stopped; {hint}", error.signal) from None


def _train(
    config: Config,
    run: RunFolder,
    collection: Collection | None,
    resume: bool,
    tensorboard: bool,
    watcher: Watcher,
    stop: StopSignals,
) -> dict[str, Any]:
    _quiet()
    if tensorboard and not any(find_spec(name) for name in ("tensorboard", "tensorboardX")):
        raise UsageError("--tensorboard needs the package tensorboard: pip install tensorboard")
    processes = Processes.join()
    resume = resume or processes.restarts > 0
    if not resume and processes.first and run.path.exists() and any(run.path.iterdir()):
        held = "a run; go on with it by --resume, or choose" if run.config_file.is_file() else "other files; choose"
        raise UsageError(f"{run.path} already holds {held} another --out")
    pl.seed_everything(config.seed, workers=True, verbose=False)
    encoder = Encoder(config.model.backbone)
    if config.learning == "tail" and not encoder.has_tail:
        config = config.without_tail()
        watcher.note(
            f"the last block of {config.model.backbone} cannot be trained by itself: the encoder stays as it is"
        )
    asked, data = config, TrainingData(config, collection, processes, watcher)
    config = config.settled(len(data.splits["train"].samples))
    weights = load_encoder_weights(encoder, config.model.weights)
    splits = {name: len(split.samples) for name, split in data.splits.items()}
    gpu, carved = data.device.type == "cuda", data.collection.carved
    why = reasons(config, weights=weights, gpu=gpu, splits=splits, carved=carved)
    watcher.chosen([("Run", f"is written to {run.path}."), *why])
    data.prepare(encoder)
    basis = {**data.collection.digests(), ENCODER: encoder_key(encoder, data.preprocessing, 1)}
    if resume:
        run.check_labels(data.vocabulary)
        run.check_basis(basis)
        processes.wait()  # until all have looked at what is written again now
    with run.in_training() if processes.first else nullcontext():
        if processes.first:
            run.begin(asked, data.vocabulary, basis)
        model = _Stages(config, run, data, processes, watcher, stop, tensorboard).run_all()
        processes.leave()
        if not processes.first:
            return {}
        save_weights(model, run.weights_file)  # before judging, which may fail and must not cost the training
        metrics = final_metrics(model, data, run)
        if config.threshold == "tuned":
            save_weights(model, run.weights_file)
        run.save_metrics(metrics)
        write_summary(run, data.collection)
    watcher.end()
    return metrics


class _Stages:
    """The stages of one run, one after another."""

    def __init__(
        self,
        config: Config,
        run: RunFolder,
        data: TrainingData,
        processes: Processes,
        watcher: Watcher,
        stop: StopSignals,
        tensorboard: bool,
    ) -> None:
        self.config, self.run, self.data, self.processes = config, run, data, processes
        self.encoder, self.watcher, self.stop, self.tensorboard = data.encoder, watcher, stop, tensorboard

    def run_all(self) -> TaggingModel:
        config = self.config
        if not config.stages:
            raise UsageError("the configuration has no stage to train")
        heads: dict[str, nn.Module] = {}  # a stage goes on with the head of an earlier one of its objective
        final = config.stages[-1]
        for number, stage in enumerate(config.stages):
            model_config = config.model
            if stage.objective == "binary" and config.method != "bce":  # whose head it is
                model_config = ModelConfig(backbone=config.model.backbone, head="binary")
            if stage.objective not in heads:
                torch.manual_seed(config.seed)
                heads[stage.objective] = build_head(model_config, self.encoder.feature_size, len(self.data.vocabulary))
            self._run_stage(number, stage, heads[stage.objective])
        if config.method == "bce" and final.objective == "binary":
            heads["method"] = heads["binary"]
        return TaggingModel(self.encoder, heads["method"])

    def _run_stage(self, number: int, stage: StageConfig, head: nn.Module) -> None:
        done_file = self.run.last / f"stage-{number}.safetensors"
        checkpoint_file = self.run.last / f"stage-{number}.ckpt"
        best_file = self.run.last / f"stage-{number}.best.safetensors"
        penalisation = self._penalisation(stage)
        watch = penalisation.watch if penalisation else None
        module = StageModule(
            None if stage.cache and stored_part(self.encoder, stage) == "encoder" else self.encoder,
            head,
            make_objective(self.config.method, stage, self.data.vocabulary, watch),
            stage,
            self.config.seed,
            self.processes,
            counts_tokens=stage.objective == "method" and METHODS[self.config.method].writes,
        )
        if done_file.exists():
            load_weights(trainee(module), done_file)
            return
        train_loader = self.data.loader("train", stage, training=True)
        enough = len(self.data.splits["val"].samples) >= self.processes.world  # for each process to judge some
        val_loader = self.data.loader("val", stage, training=False, shared=enough)
        names = [earlier.name for earlier in self.config.stages[:number]]
        rows = [row for row in read_rows(self.run.metrics_csv) if row["stage"] in names]
        samples = self.data.splits["train"].samples
        callbacks: list[pl.Callback] = [
            Recorder(
                best_file, self.run.metrics_csv, self.config.monitor, rows, self.watcher, lambda row: samples[row].name
            )
        ]
        averaging = make_averaging(stage.average)
        if averaging is not None:
            callbacks.append(averaging)
            callbacks.append(BatchNormRefresh(train_loader))
        if stage.patience:
            callbacks.append(
                EarlyStopping("monitor", mode="max", patience=stage.patience, check_on_train_epoch_end=False)
            )
        if penalisation is not None:
            callbacks.append(penalisation)
        batches = train_loader.batch_sampler
        assert isinstance(batches, SharedBatches)
        minutes = self.config.checkpoint_minutes
        callbacks.append(Checkpoints(checkpoint_file, batches, self.stop, self.processes, minutes))
        trainer = pl.Trainer(
            max_epochs=stage.epochs,
            accelerator="auto",
            devices=self.processes.local_world,
            strategy="auto" if self.processes.alone else "ddp",
            num_nodes=self.processes.world // self.processes.local_world,
            callbacks=callbacks,
            plugins=[AtomicCheckpoints()],
            gradient_clip_val=stage.gradient_clip or None,
            logger=self._logger(stage),
            log_every_n_steps=1,
            num_sanity_val_steps=0,
            use_distributed_sampler=False,
            enable_checkpointing=False,
            enable_progress_bar=False,
            enable_model_summary=False,
            default_root_dir=self.run.path,
        )
        resume_from = intact_checkpoint(checkpoint_file, self.watcher.warn)
        self.watcher.stage(stage.name, stage.epochs, len(train_loader), done=0)
        if stage.epochs:
            trainer.fit(module, train_loader, val_loader, ckpt_path=resume_from, weights_only=True)
        elif self.processes.first:
            save_weights(trainee(module), best_file)
        for found in self.processes.gather(module.unreadable):
            self.data.name_unreadable("train", found)
        load_weights(trainee(module), best_file)
        self.processes.wait()  # until all have read what is renamed now
        if self.processes.first:
            best_file.replace(done_file)
            AtomicCheckpoints().remove_checkpoint(checkpoint_file)

    def _penalisation(self, stage: StageConfig) -> PenalisationLog | None:
        """Only MLA is asked: PLA never punishes a right label, and fixed orders do so by design."""
        if stage.objective == "binary" or METHODS[self.config.method].order != "mla":
            return None
        return PenalisationLog(len(self.data.vocabulary), self.run.penalisation_file)

    def _logger(self, stage: StageConfig) -> Any:
        if not self.tensorboard:
            return False
        from lightning.pytorch.loggers import TensorBoardLogger

        return TensorBoardLogger(self.run.path, name="tensorboard", version=stage.name)


def _quiet() -> None:
    """Lightning's own chatter is for people who write loops; ours is in `Watcher`."""
    for name in ("lightning.pytorch", "lightning.fabric", "lightning"):
        logging.getLogger(name).setLevel(logging.ERROR)
    for text in (
        "does not have many workers", "IterableDataset", "checkpoint directory", "litlogger", "LeafSpec", "eval mode",
        "your dataloader is not resumable",  # it is: see Checkpoints
    ):  # fmt: skip
        warnings.filterwarnings("ignore", message=f".*{text}.*")
