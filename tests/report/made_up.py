"""A comparison made up on disk: every file that a report reads, without training anything."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from PIL import Image
from safetensors.torch import save_file
from torch import Tensor

from orderless.config import parse_config
from orderless.evaluation import best_threshold, evaluate
from orderless.labels import Vocabulary
from orderless.methods import METHODS
from orderless.model.prediction import sequence_to_set
from orderless.recipes import recipe
from orderless.run_folder import RunFolder
from orderless.training.history import write_rows

NAMES = ("<script>alert(1)</script>", "bird & bee", "cat", "dog", "$owl_1$")
IMAGES, EXAMPLES, STEPS = 30, 6, 6


def make_comparison(
    folder: Path,
    variants: tuple[str, ...] = ("bce", "frequent", "mla", "pla", "pla-noattention"),
    seeds: int = 2,
    groups: tuple[str, ...] = (),
    format: str = "folder",
) -> Path:
    """Runs whose quality follows from the name: PLA is right more often than frequent-first, which repeats labels."""
    vocabulary = Vocabulary(NAMES, (50, 40, 30, 20, 10), groups)
    chance = torch.Generator().manual_seed(7)
    truth = torch.rand(IMAGES, len(NAMES), generator=chance) < 0.55
    truth[:, 2] |= truth.sum(1) < 3  # enough labels for something to align
    truth[:, 0] |= truth.sum(1) < 3
    for variant in variants:
        for seed in range(seeds):
            _make_run(folder / variant / f"seed-{seed}", variant, seed, vocabulary, truth)
    for index in range(EXAMPLES):
        path = folder / "examples" / f"{index}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (64, 48), (40 * index, 90, 120)).save(path)
    areas = torch.rand(IMAGES, len(NAMES), generator=chance).masked_fill(~truth, torch.nan)
    save_file({"areas": areas}, folder / "areas.safetensors")
    info = {
        "data": "photos/<b>mine</b>", "format": format, "recipe": "quick", "split": "test",
        "images": {"train": 60, "val": 10, "test": IMAGES}, "examples": list(range(EXAMPLES)),
    }  # fmt: skip
    (folder / "comparison.json").write_text(json.dumps(info))
    return folder


def _make_run(folder: Path, variant: str, seed: int, vocabulary: Vocabulary, truth: Tensor) -> None:
    method = variant.removesuffix("-noattention")
    values = recipe("quick", method).model_dump(mode="json")
    values["seed"] = seed
    values["model"]["attention"] = variant == method
    run = RunFolder(folder)
    run.begin(parse_config(values, "made up"), vocabulary)
    run.weights_file.write_bytes(b"")
    chance = torch.Generator().manual_seed(1000 * seed + sum(map(ord, variant)))
    error = {"pla": 0.02, "mla": 0.06}.get(method, 0.2)
    wrong = torch.rand(truth.shape, generator=chance) < error
    labels = truth ^ wrong
    scores = torch.where(labels, 0.8, 0.2) + 0.1 * torch.rand(truth.shape, generator=chance)
    sequences = torch.full((len(truth), STEPS + 1), -1)
    for row, chosen in enumerate(labels):
        line = chosen.nonzero().flatten().tolist()
        if method in ("pla", "mla") and row % 3 == 0:
            line.reverse()
        if method == "frequent" and line and row % 4 < 2:
            line = [*line, line[0]]
        sequences[row, : len(line)] = torch.tensor(line, dtype=torch.long)
    judged = {
        "truth": truth, "predicted": sequence_to_set(sequences, len(vocabulary)), "scores": scores,
        "ignore": torch.zeros_like(truth), "index": torch.arange(len(truth)),
    }  # fmt: skip
    written = METHODS[method].writes
    numbers = evaluate(truth, judged["predicted"], scores, sequences if written else None)
    metrics = {"method": method, "seed": seed, "test": {"images": len(truth), "unreadable": 0, **numbers}}
    splits = {"test": judged | ({"sequences": sequences} if written else {})}
    if METHODS[method].thresholded:
        metrics |= {"test-tuned": metrics["test"], "threshold": best_threshold(scores, truth)}
        splits["test-tuned"] = {name: tensor.clone() for name, tensor in splits["test"].items()}
    if method == "mla":
        labels_counted = {name: {"right": 40, "punished": 3 + seed} for name in vocabulary.names}
        metrics["penalisation"] = {"rate": 0.08 + 0.001 * seed, "labels": labels_counted}
    run.save_metrics(metrics)
    run.save_predictions(splits)
    write_rows(run.metrics_csv, [_row(epoch, method, seed) for epoch in (1, 2, 3)])
    _closer_look(folder, written, truth, chance)
    times = {"forward": 2.0, "alignment": 0.1, "backward": 3.0, "test": 1.5, "encoder_trained": False}
    (folder / "times.json").write_text(json.dumps(times))


def _row(epoch: int, method: str, seed: int) -> dict[str, float | int | str]:
    loss = (1.0 if method in ("pla", "mla") else 2.0) / epoch + 0.01 * seed
    return {"stage": "head", "epoch": epoch, "loss": loss, "OF1": 0.2 * epoch, "CF1": 0.1 * epoch, "mAP": 0.3}


def _closer_look(folder: Path, written: bool, truth: Tensor, chance: torch.Generator) -> None:
    labels = truth.shape[1]
    found = {"index": torch.arange(EXAMPLES), "sequence": torch.full((EXAMPLES, STEPS), -1)}
    for row in range(EXAMPLES):
        line = truth[row].nonzero().flatten()
        found["sequence"][row, : len(line)] = line
    if written:
        found["attention"] = torch.rand(EXAMPLES, STEPS, 9, generator=chance).softmax(2)
        found["logits"] = 3 * torch.randn(EXAMPLES, STEPS, labels + 1, generator=chance)
    save_file(found, folder / "examples.safetensors")
