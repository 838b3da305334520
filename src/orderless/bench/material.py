"""What the benches work on: label sets of MS-COCO's statistics, logits, photos, a small run. All from fixed seeds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor

# Share of MS-COCO's training images with 1, 2, 3, … labels (those without annotation left out): 2.9 on average.
COCO_COUNTS = (
    0.2106, 0.3053, 0.1945, 0.119, 0.0749, 0.0419, 0.0245, 0.0139, 0.0084, 0.0035, 0.0017, 0.0011,
    0.0004, 0.0002, 0.0001,
)  # fmt: skip
COCO_MEAN_STEPS = 4  # 2.9 labels and the end
GRAIN = 19.0  # of generated photos: standard deviation, in levels; makes their files as large as MS-COCO's


def coco_counts(batch: int, seed: int = 0) -> list[int]:
    """Numbers of labels, distributed as MS-COCO's, the batch's mean near theirs: one for each quantile, shuffled."""
    edges = np.cumsum(COCO_COUNTS) / sum(COCO_COUNTS)
    counts = 1 + np.searchsorted(edges, (np.arange(batch) + 0.5) / batch)
    return [int(count) for count in np.random.default_rng(seed).permutation(counts)]


def label_sets(counts: list[int], n_labels: int, seed: int = 0) -> Tensor:
    """[B, m] bool with so many labels in each row."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.zeros(len(counts), n_labels, dtype=torch.bool)
    for row, count in enumerate(counts):
        labels[row, torch.randperm(n_labels, generator=generator)[:count]] = True
    return labels


def half_right_logits(labels: Tensor, seed: int = 0) -> Tensor:
    """[B, T, m + 1] of a model that is right at about half of its steps: something to pin, something to solve."""
    generator = torch.Generator().manual_seed(seed)
    counts = labels.sum(dim=1).tolist()
    logits = torch.randn(len(labels), max(counts) + 1, labels.shape[1] + 1, generator=generator)
    for row, count in enumerate(counts):
        order = torch.randperm(count, generator=generator)
        true = labels[row].nonzero().flatten()[order]  # [n]
        right = torch.rand(count, generator=generator) < 0.5
        logits[row, torch.arange(count)[right], true[right]] += 6.0
    return logits


def write_photos(folder: Path, count: int, width: int = 640, height: int = 480) -> list[Path]:
    """JPEG files with the detail of photos: soft shapes, edges, and grain to make them as large as those of MS-COCO.

    Its training photos are 13 GB, 82,783 files of about 640x480: 157 kB each. To decode a file takes longer the larger
    it is.
    """
    paths = []
    for number in range(count):
        dice = np.random.default_rng(number)
        coarse = Image.fromarray(dice.integers(0, 256, (height // 40, width // 40, 3), dtype=np.uint8))
        picture = np.asarray(coarse.resize((width, height), Image.Resampling.BICUBIC), dtype=np.int16)
        for _ in range(12):  # hard edges
            x, y = int(dice.integers(width)), int(dice.integers(height))
            picture = picture.copy()
            picture[y : y + height // 6, x : x + width // 6] += dice.integers(-60, 60, 3).astype(np.int16)
        picture = picture + dice.normal(0, GRAIN, picture.shape).astype(np.int16)
        paths.append(folder / f"{number:05d}.jpg")
        Image.fromarray(picture.clip(0, 255).astype(np.uint8)).save(paths[-1], quality=90)
    return paths


def write_run(folder: Path, backbone: str, image_size: int, method: str = "pla", n_labels: int = 80) -> Path:
    """A finished run with random weights that writes a few labels an image.

    Its head is that of the recipe which has such an encoder: `quick` for Lite0, `paper` for others.
    """
    from orderless.config import Config, DataConfig
    from orderless.labels import Vocabulary
    from orderless.model.network import build_model
    from orderless.recipes import recipe
    from orderless.run_folder import RunFolder, save_weights

    usual = recipe("quick" if backbone == "lite0" else "paper", method).model
    model = usual.model_copy(update={"backbone": backbone, "max_steps": COCO_MEAN_STEPS})
    config = Config(method=method, data=DataConfig(image_size=image_size), model=model)
    names = tuple(f"label {number:04d}" for number in range(n_labels))
    run = RunFolder(folder)
    run.begin(config, Vocabulary(names, (1,) * n_labels))
    torch.manual_seed(0)
    save_weights(build_model(config.model, n_labels), run.weights_file)
    return folder
