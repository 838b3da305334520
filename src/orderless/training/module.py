"""One stage of training as a Lightning module."""

from __future__ import annotations

import orderless.torchvision_ops  # noqa: F401  must come before Lightning

from collections.abc import Iterable  # isort: skip
from typing import Any

import lightning.pytorch as pl
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from orderless.config import StageConfig
from orderless.data.dataset import Batch
from orderless.evaluation import TaggingMetrics
from orderless.model.encoder import Encoder, in_portions
from orderless.training.late_loss import LateLoss
from orderless.training.objectives import Objective
from orderless.training.processes import Processes
from orderless.training.schedules import cosine, sawtooth

ALONE = Processes()


class StageModule(pl.LightningModule):
    """An encoder and a head under one objective.

    Without an encoder, batches bring its stored features; in a stage on stored features an encoder is one that learns,
    but for its trunk, of which batches bring the output.
    """

    def __init__(
        self,
        encoder: Encoder | None,
        head: nn.Module,
        objective: Objective,
        stage: StageConfig,
        seed: int,
        processes: Processes = ALONE,
        counts_tokens: bool = False,
    ) -> None:
        super().__init__()
        self.encoder, self.head = encoder, head
        self.objective, self.stage, self.seed = objective, stage, seed
        self.processes, self.counts_tokens = processes, counts_tokens
        self.validation = TaggingMetrics()
        self.unreadable: dict[int, str] = {}  # training images left out so far, by index
        self.late_loss = LateLoss()
        if encoder is not None:
            encoder.learn(stage.learning)
        self.train()  # Lightning keeps the mode it finds, and an earlier stage may have left the encoder in training

    @property
    def trains_encoder(self) -> bool:
        return self.encoder is not None and self.stage.learning != "none"

    def features(self, inputs: Tensor) -> Tensor:
        if self.encoder is None:
            return inputs
        alone = self.training and self.adapts_batchnorm and len(inputs) == 1
        if alone:  # one image has no spread to normalise by
            self.encoder.eval()
        learns = self.trains_encoder and self.training
        with torch.set_grad_enabled(learns):
            if self.stage.cache:
                features = self.encoder.tail(inputs)
            else:
                features = self.encoder(inputs) if learns else in_portions(self.encoder, inputs)
        if alone:
            self.encoder.train()
        return features

    def thinned(self, features: Tensor) -> Tensor:
        """features [B, cells, C] with whole channels and whole cells of each image left out, as the stage says.

        What crops do for pixels, at no cost, and on stored features too: no head can lean on a few of them.
        """
        if self.stage.augment and self.stage.channel_dropout:
            features = F.dropout1d(features.transpose(1, 2), self.stage.channel_dropout).transpose(1, 2)
        if self.stage.augment and self.stage.cell_dropout:
            features = F.dropout1d(features, self.stage.cell_dropout)
        return features

    def train(self, mode: bool = True) -> StageModule:
        super().train(mode)
        if self.encoder is not None and not self.adapts_batchnorm:
            self.encoder.eval()
        return self

    @property
    def adapts_batchnorm(self) -> bool:
        """A frozen encoder keeps its batch-norm statistics. So does one of which only the tail learns."""
        return self.encoder is not None and self.stage.learning == "all"

    def on_train_batch_start(self, batch: Batch, batch_idx: int) -> None:
        # All chance within a step (random orders, dropout) follows from the seed and the step, so that a
        # resumed run needs no random state.
        torch.manual_seed((self.seed + 1) * 1_000_003 + self.global_step * 101 + self.global_rank)

    def on_train_epoch_start(self) -> None:
        self.late_loss.begin_epoch()

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor | None:
        self.unreadable.update(batch.unreadable)
        share, weight = self._share(batch)
        if len(batch.inputs) == 0:
            return None if self.processes.alone else self._no_loss()
        loss = self.objective(self.head, self.thinned(self.features(batch.inputs)), batch.labels, batch.counts) * share
        self.late_loss.note(loss, self.global_step, batch.rows, weight)
        return loss

    def _share(self, batch: Batch) -> tuple[float, float]:
        """What this process's loss counts, so that the mean over processes is the loss of the whole batch.

        That loss is a mean over images, or over target tokens, of which processes have more or fewer. Also what the
        result counts in the epoch's mean: the images of the whole batch, divided by the processes.
        """
        images = len(batch.inputs)
        if self.processes.alone:
            return 1.0, float(images)
        here = images + sum(batch.counts) if self.counts_tokens else images
        everywhere, all_images = self.processes.sum([here, images])
        world = self.processes.world
        return here * world / max(1.0, everywhere), all_images / world

    def _no_loss(self) -> Tensor:
        """A process without images still has to take part when gradients are averaged."""
        return torch.stack([p.sum() for p in self.parameters() if p.requires_grad]).sum() * 0.0

    def configure_gradient_clipping(
        self,
        optimizer: torch.optim.Optimizer,
        gradient_clip_val: float | None = None,
        gradient_clip_algorithm: str | None = None,
    ) -> None:
        """Clip by norm, and let the optimizer leave out a step whose gradient is not finite, without asking the device.

        `found_inf` is what fused optimizers look at for mixed precision. Gradients are averaged over processes before,
        so all of them decide alike.
        """
        parameters = [p for group in optimizer.param_groups for p in group["params"] if p.grad is not None]
        if not parameters:
            return
        norm = nn.utils.clip_grad_norm_(parameters, gradient_clip_val or float("inf"))
        optimizer.found_inf = norm.isfinite().logical_not().float()  # type: ignore[attr-defined]
        self.late_loss.note_gradient(norm)

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        # Of the first process only: after a restart of several, the mean loss of that one epoch is an estimate.
        checkpoint["epoch_so_far"] = {"loss": self.late_loss.state(), "unreadable": dict(self.unreadable)}

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        self.late_loss.restore(checkpoint["epoch_so_far"]["loss"])
        self.unreadable = checkpoint["epoch_so_far"]["unreadable"]

    def on_validation_epoch_start(self) -> None:
        self.late_loss.check()  # of the last step, before it is judged

    def validation_step(self, batch: Batch, batch_idx: int) -> None:
        if len(batch.inputs) == 0 and self.processes.alone:  # of several, each must have something to gather
            return
        prediction = self.head.predict(self.features(batch.inputs))  # type: ignore[operator]
        self.validation.update(
            batch.labels, prediction.labels, prediction.scores, prediction.written, ignore=batch.ignore
        )

    def configure_optimizers(self) -> Any:
        stage = self.stage
        groups: list[dict[str, Any]] = [{"params": list(self.head.parameters()), "lr": stage.learning_rate}]
        if self.trains_encoder and self.encoder is not None:
            rate = stage.learning_rate * stage.encoder_share
            groups.append({"params": [p for p in self.encoder.parameters() if p.requires_grad], "lr": rate})
        optimizer: torch.optim.Optimizer  # fused: one pass over the weights, not ten
        if stage.optimizer == "sgd":
            optimizer = torch.optim.SGD(groups, momentum=0.9, weight_decay=stage.weight_decay, fused=True)
            for group in optimizer.param_groups:  # if the first step is left out, PyTorch would leave them unwritten
                optimizer.state |= {p: {"momentum_buffer": torch.zeros_like(p)} for p in group["params"]}
        elif stage.optimizer == "adam":
            optimizer = torch.optim.Adam(groups, weight_decay=stage.weight_decay, fused=True)
        else:
            optimizer = torch.optim.AdamW(groups, weight_decay=stage.weight_decay, fused=True)
        if stage.schedule == "constant":
            return optimizer
        total = int(self.trainer.estimated_stepping_batches)
        if stage.schedule == "plateau":
            plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(
                optimizer, mode="max", factor=0.1, patience=2
            )  # acts on the third
            # By steps, for Lightning changes a rate by epochs only after the epoch's checkpoint.
            when = {"interval": "step", "frequency": max(1, total // stage.epochs)}
            return {"optimizer": optimizer, "lr_scheduler": {"scheduler": plateau, "monitor": "monitor", **when}}
        factor = sawtooth if stage.schedule == "sawtooth" else lambda step: cosine(step, total)
        scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, factor)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}


def image_batches(loader: Iterable[Batch], device: torch.device) -> Iterable[Tensor]:
    """The images of a loader, for recomputing batch-norm statistics."""
    return (batch.inputs.to(device) for batch in loader if len(batch.inputs) > 1)
