"""Every file in recipes/ builds its model and takes one step of each of its stages on a data set of its format."""

from __future__ import annotations

import orderless.torchvision_ops  # noqa: F401  must come before Lightning

from pathlib import Path  # isort: skip

import lightning.pytorch as pl
import pytest
from tests.data.fixtures import BUILDERS

from orderless.config import load_config
from orderless.data import open_data
from orderless.data.dataset import LabelledImages, LabelTable, make_loader
from orderless.data.transforms import Preprocessing
from orderless.model.network import build_model
from orderless.training.module import StageModule
from orderless.training.objectives import make_objective

FILES = sorted((Path(__file__).parent.parent / "recipes").glob("*.yaml"))
SIZE = 32  # pixels: the least that every backbone takes


class Monitor(pl.Callback):
    """What the recorder would log: the schedule of stage one asks for it."""

    def on_validation_epoch_end(self, trainer: pl.Trainer, module: pl.LightningModule) -> None:
        module.log("monitor", 0.0)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_recipe_file_says_how_to_run_it(file: Path) -> None:
    first = file.read_text(encoding="utf-8").splitlines()[0]
    assert first.startswith("# orderless train ")
    assert f"--config recipes/{file.name}" in first
    config = load_config(file)
    assert [stage.epochs for stage in config.stages] == [40, 30, 5]
    assert config.data.image_size == (288 if file.stem == "coco-resnet101" else 224)


@pytest.mark.slow
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_recipe_takes_a_step_of_every_stage(file: Path, tmp_path: Path) -> None:
    config = load_config(file)
    assert config.data.format is not None
    folder = BUILDERS[config.data.format](tmp_path)
    collection = open_data(folder, config.data.format, **config.data.options)
    vocabulary = collection.vocabulary()
    model = build_model(config.model, len(vocabulary))
    transform = Preprocessing(SIZE, model.encoder.mean, model.encoder.std).train_transform()
    samples = collection["train"][:2]
    loader = make_loader(LabelledImages(LabelTable(samples, vocabulary), samples, transform, SIZE), 2, shuffle=False)
    heads = {"method": model.head}
    for stage in config.stages:
        if stage.objective == "binary":
            shape = config.model.model_copy(update={"head": "binary"})
            heads["binary"] = build_model(shape, len(vocabulary)).head
        objective = make_objective(config.method, stage, vocabulary)
        module = StageModule(model.encoder, heads[stage.objective], objective, stage, config.seed)
        trainer = pl.Trainer(
            fast_dev_run=1, accelerator="cpu", callbacks=[Monitor()], enable_progress_bar=False,
            enable_model_summary=False, gradient_clip_val=stage.gradient_clip or None, use_distributed_sampler=False,
        )  # fmt: skip
        trainer.fit(module, loader, loader)
        assert trainer.global_step == 1
