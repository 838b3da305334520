"""Training a run: open the data, prepare the encoder, go through the stages, judge the result."""

from __future__ import annotations

import orderless.torchvision_ops  # noqa: F401  must come before Lightning

import logging  # isort: skip
import os
import warnings
from dataclasses import dataclass
from typing import Any

import lightning.pytorch as pl
import torch
from lightning.pytorch.callbacks import EarlyStopping
from torch import nn
from torch.utils.data import DataLoader

from orderless.config import Config, ModelConfig, StageConfig
from orderless.data import Collection, open_data
from orderless.data.dataset import LabelledImages, LabelTable, make_loader
from orderless.data.image_cache import ImageCache
from orderless.data.sample import Sample
from orderless.data.transforms import Preprocessing
from orderless.errors import OrderlessError, Stopped, UsageError
from orderless.evaluation.judge import Judgement, judge
from orderless.files import cache_limit, cache_root
from orderless.labels import Vocabulary
from orderless.methods import METHODS
from orderless.model.encoder import Encoder
from orderless.model.network import TaggingModel, build_head
from orderless.model.threshold import DEFAULT_THRESHOLD, ThresholdedHead
from orderless.model.weights import load_encoder_weights
from orderless.run_folder import RunFolder, load_weights, save_weights
from orderless.training.averaging import make_averaging
from orderless.training.callbacks import BatchNormRefresh, EpochCheckpoint, Recorder, trainee
from orderless.training.checkpoint import AtomicCheckpoints, intact_checkpoint
from orderless.training.features import CachedDataset, store_features
from orderless.training.history import read_rows
from orderless.training.module import StageModule
from orderless.training.objectives import make_objective
from orderless.training.penalisation import PenalisationLog, read_penalisation
from orderless.training.progress import Watcher


@dataclass
class Split:
    """A split ready to be read: samples and their labels as tensors."""

    samples: list[Sample]
    table: LabelTable


def train(
    config: Config,
    run: RunFolder,
    *,
    collection: Collection | None = None,
    resume: bool = False,
    tensorboard: bool = False,
    watcher: Watcher | None = None,
) -> dict[str, Any]:
    """Train as configured, write the run folder, return the final metrics (also in metrics.json)."""
    watcher = watcher or Watcher()
    _quiet()
    if not resume and run.path.exists() and any(run.path.iterdir()):
        raise UsageError(f"{run.path} already holds a run; choose another --out, or go on with it by --resume")
    if collection is None:
        collection = open_data(config.data.path, config.data.format, seed=config.data_seed, **config.data.options)
    for note in collection.notes:
        watcher.note(note)
    collection = collection.limited(config.data.limit, config.data_seed)
    vocabulary = collection.vocabulary()
    splits = {
        name: Split(samples, LabelTable(samples, vocabulary, ignore_unknown=config.data.ignore_unknown))
        for name, samples in collection.splits.items()
        if samples
    }
    if "val" not in splits:
        raise UsageError("training needs a validation split; give more images, or name one in the split column")
    pl.seed_everything(config.seed, workers=True, verbose=False)
    encoder = Encoder(config.model.backbone)
    watcher.note(f"encoder {encoder.backbone_name}: {load_encoder_weights(encoder, config.model.weights)}")
    run.begin(config, vocabulary)
    trainer = _Training(config, run, vocabulary, splits, encoder, watcher, tensorboard)
    model = trainer.run_stages()
    save_weights(model, run.weights_file)  # before judging, which may fail and must not cost the training
    metrics = trainer.final_metrics(model)
    if config.threshold == "tuned":
        save_weights(model, run.weights_file)
    run.save_metrics(metrics)
    watcher.end()
    return metrics


class _Training:
    """What the stages of one run share."""

    def __init__(
        self,
        config: Config,
        run: RunFolder,
        vocabulary: Vocabulary,
        splits: dict[str, Split],
        encoder: Encoder,
        watcher: Watcher,
        tensorboard: bool,
    ) -> None:
        self.config, self.run, self.vocabulary, self.splits = config, run, vocabulary, splits
        self.encoder, self.watcher, self.tensorboard = encoder, watcher, tensorboard
        self.preprocessing = Preprocessing(config.data.image_size, encoder.mean, encoder.std, encoder.interpolation)
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        self.rank, self.world = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
        self.unreadable: dict[str, str] = {}  # name of every image that could not be read -> reason
        self._datasets: dict[tuple[str, bool], Any] = {}

    # --- stages ---

    def run_stages(self) -> TaggingModel:
        config = self.config
        if not config.stages:
            raise UsageError("the configuration has no stage to train")
        heads: dict[str, nn.Module] = {}  # a stage goes on with the head of an earlier one of its objective
        final = config.stages[-1]
        for number, stage in enumerate(config.stages):
            model_config = config.model
            if stage.objective == "binary":
                model_config = ModelConfig(backbone=config.model.backbone, head="binary")
            if stage.objective not in heads:
                torch.manual_seed(config.seed)
                heads[stage.objective] = build_head(model_config, self.encoder.feature_size, len(self.vocabulary))
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
        objective = make_objective(self.config.method, stage, self.vocabulary, watch)
        module = StageModule(None if stage.cache else self.encoder, head, objective, stage, self.config.seed)
        if done_file.exists():
            load_weights(trainee(module), done_file)
            return
        train_loader, val_loader = self._loader("train", stage, True), self._loader("val", stage, False)
        names = [earlier.name for earlier in self.config.stages[:number]]
        rows = [row for row in read_rows(self.run.metrics_csv) if row["stage"] in names]
        recorder = Recorder(best_file, self.run.metrics_csv, self.config.monitor, rows, self.watcher)
        averaging = make_averaging(stage.average)
        callbacks: list[pl.Callback] = [recorder]
        if averaging is not None:
            callbacks.append(averaging)
            callbacks.append(BatchNormRefresh(train_loader))
        if stage.patience:
            callbacks.append(
                EarlyStopping("monitor", mode="max", patience=stage.patience, check_on_train_epoch_end=False)
            )
        if penalisation is not None:
            callbacks.append(penalisation)
        callbacks.append(EpochCheckpoint(checkpoint_file))
        trainer = pl.Trainer(
            max_epochs=stage.epochs,
            accelerator="auto",
            devices=1 if self.world == 1 else "auto",
            strategy="ddp" if self.world > 1 else "auto",
            num_nodes=max(1, self.world // int(os.environ.get("LOCAL_WORLD_SIZE", self.world))),
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
        resume_from = intact_checkpoint(checkpoint_file)
        self.watcher.stage(stage.name, stage.epochs, len(train_loader), done=0)
        if stage.epochs:
            trainer.fit(module, train_loader, val_loader, ckpt_path=resume_from, weights_only=True)
        else:
            save_weights(trainee(module), best_file)
        if trainer.interrupted:
            raise Stopped(f"stopped; go on with: orderless train --resume --out {self.run.path}")
        self._name_unreadable("train", module.unreadable)
        load_weights(trainee(module), best_file)
        if trainer.is_global_zero:
            best_file.replace(done_file)
            AtomicCheckpoints().remove_checkpoint(checkpoint_file)

    def _penalisation(self, stage: StageConfig) -> PenalisationLog | None:
        """Only MLA is asked: PLA never punishes a right label, and fixed orders do so by design."""
        if stage.objective == "binary" or METHODS[self.config.method].order != "mla":
            return None
        return PenalisationLog(len(self.vocabulary), self.run.penalisation_file)

    def _logger(self, stage: StageConfig) -> Any:
        if not self.tensorboard:
            return False
        from lightning.pytorch.loggers import TensorBoardLogger

        return TensorBoardLogger(self.run.path, name="tensorboard", version=stage.name)

    # --- data ---

    def _loader(self, name: str, stage: StageConfig, training: bool) -> DataLoader[Any]:
        dataset = self._dataset(name, stage, training)
        workers = 0 if stage.cache else self.config.data.workers
        return make_loader(
            dataset, stage.batch_size, shuffle=training, seed=self.config.seed, workers=workers, rank=self.rank,
            world=self.world,
        )  # fmt: skip

    def _dataset(self, name: str, stage: StageConfig, training: bool) -> Any:
        split, data = self.splits[name], self.config.data
        augment = training and stage.augment
        if not stage.cache:
            transform = self.preprocessing.train_transform() if augment else self.preprocessing.test_transform()
            return LabelledImages(
                split.table, split.samples, transform, data.image_size, self.config.seed, data.pixel_limit,
                cache=self._image_cache(),
            )  # fmt: skip
        if (name, augment) not in self._datasets:
            self.encoder.to(self.device)
            self.watcher.encoding(len(split.samples))
            store, places, unreadable = store_features(
                self.encoder,
                self.preprocessing,
                split.samples,
                mirror=augment,
                device=self.device,
                workers=data.workers,
                pixel_limit=data.pixel_limit,
                progress=self.watcher.encoded,
            )
            for sample, reason in unreadable:
                self._unreadable_image(name, sample, reason)
            if len(unreadable) == len(split.samples):
                raise OrderlessError(f"not one image of the {name} split could be read (say, {unreadable[0][0].name})")
            self._datasets[name, augment] = CachedDataset(
                store, places, split.table, mirror=augment, seed=self.config.seed
            )
        return self._datasets[name, augment]

    def _image_cache(self) -> ImageCache | None:
        if not self.config.data.cache_images:
            return None
        cache = ImageCache(cache_root(), self.preprocessing)
        needed = cache.bytes_needed(sum(len(split.samples) for split in self.splits.values()))
        if needed > cache_limit():
            raise UsageError(
                f"the cache of resized images would take {needed / 1e9:.1f} GB, more than ORDERLESS_CACHE_GB allows; "
                "raise that, or train without --cache-images"
            )
        return cache

    def _name_unreadable(self, split: str, found: dict[int, str]) -> None:
        for index, reason in found.items():
            self._unreadable_image(split, self.splits[split].samples[index], reason)

    def _unreadable_image(self, split: str, sample: Sample, reason: str) -> None:
        if sample.name not in self.unreadable:
            self.unreadable[sample.name] = reason
            self.watcher.warn(f"left out of {split}: {sample.name}: {reason}")

    # --- judgement ---

    def final_metrics(self, model: TaggingModel) -> dict[str, Any]:
        """Metrics of the finished model on validation and test, fractions in [0, 1].

        A head with a threshold is judged at 0.5, and on test also at the threshold that was best for OF1 on
        validation ("threshold", "test-tuned"); it keeps that one if the configuration says so.
        """
        model.to(self.device).eval()
        results: dict[str, Any] = {"method": self.config.method, "seed": self.config.seed}
        judged: dict[str, Judgement] = {
            name: self._judge(model, name) for name in ("val", "test") if name in self.splits
        }
        results |= {name: self._summary(name, judgement) for name, judgement in judged.items()}
        if isinstance(model.head, ThresholdedHead):
            results["threshold"] = judged["val"].best_threshold
            model.head.threshold.fill_(results["threshold"])
            if "test" in judged:
                judged["test-tuned"] = self._judge(model, "test")
                results["test-tuned"] = self._summary("test", judged["test-tuned"])
            if self.config.threshold == "fixed":
                model.head.threshold.fill_(DEFAULT_THRESHOLD)
        if self.run.penalisation_file.exists():
            results["penalisation"] = read_penalisation(self.run.penalisation_file, self.vocabulary)
        results["unreadable"] = self.unreadable
        self.run.save_predictions({name: judgement.predictions for name, judgement in judged.items()})
        return results

    def _judge(self, model: TaggingModel, name: str) -> Judgement:
        stage = self.config.stages[-1]
        loader = make_loader(
            self._dataset(name, stage, False), stage.batch_size, shuffle=False,
            workers=0 if stage.cache else self.config.data.workers,
        )  # fmt: skip
        predict = model.predict_features if stage.cache else model.predict
        judged = judge(lambda inputs: predict(inputs.to(self.device)), loader)
        self._name_unreadable(name, judged.unreadable)
        return judged

    def _summary(self, name: str, judged: Judgement) -> dict[str, Any]:
        left_out = len(self.splits[name].samples) - judged.images
        return {"images": judged.images, "unreadable": left_out, **judged.metrics}


def _quiet() -> None:
    """Lightning's own chatter is for people who write loops; ours is in `Watcher`."""
    for name in ("lightning.pytorch", "lightning.fabric", "lightning"):
        logging.getLogger(name).setLevel(logging.ERROR)
    for text in (
        "does not have many workers", "IterableDataset", "checkpoint directory", "litlogger", "LeafSpec", "eval mode",
    ):  # fmt: skip
        warnings.filterwarnings("ignore", message=f".*{text}.*")
