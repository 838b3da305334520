"""Every method: the loss it minimises, and the whole way from features to a loaded model."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor

import orderless
from orderless.config import Config, StageConfig, parse_config
from orderless.errors import UsageError
from orderless.labels import Vocabulary
from orderless.loss import (
    asymmetric_loss,
    binary_cross_entropy,
    log_sum_exp_pairwise,
    sequence_loss,
    stepwise_loss,
)
from orderless.methods import METHODS
from orderless.model.network import build_head
from orderless.order import make_order
from orderless.recipes import RECIPES, recipe
from orderless.run_folder import RunFolder, load_weights, save_weights
from orderless.training.objectives import make_objective
from orderless.training.run import train

RIVALS = ("asl", "ml-decoder", "order-free", "sr-cnn-rnn", "lsep")
SIZES = {
    "backbone": "test_resnet", "weights": "none", "hidden": 16, "embedding": 8, "attention_size": 8,
    "binary_hidden": 16, "query_size": 16, "query_groups": 8,
}  # fmt: skip


def tiny(method: str, name: str = "quick", data: Path | str = "scenes", **changes: object) -> Config:
    """A recipe cut down to a second."""
    values = recipe(name, method).model_dump(mode="json")
    values["data"] |= {"path": str(data), "image_size": 64, "workers": 0, "limit": 32}
    values["model"] |= SIZES | {key: value for key, value in changes.items() if key in values["model"]}
    values |= {key: value for key, value in changes.items() if key in values}
    values["stages"] = [stage | {"epochs": 1, "least_steps": 0, "batch_size": 16} for stage in values["stages"]]
    return parse_config(values, "test")


# --- what is minimised ---

VOCABULARY = Vocabulary(("a", "b", "c", "d"), (5, 9, 2, 7))
LABELS = torch.tensor([[True, False, True, False], [False, True, False, False], [False] * 4])  # [3, m]


def loss_of(method: str) -> tuple[torch.nn.Module, Tensor, Tensor]:
    """A head in evaluation mode (no dropout), features, and the objective's value."""
    torch.manual_seed(0)
    head = build_head(tiny(method).model, 6, len(VOCABULARY)).eval()
    features = torch.randn(3, 9, 6)
    objective = make_objective(method, StageConfig(name="s", epochs=1, learning_rate=1), VOCABULARY)
    return head, features, objective(head, features, LABELS, (2, 1, 0))


@pytest.mark.parametrize("method", ["asl", "ml-decoder"])
def test_asymmetric(method: str) -> None:
    head, features, loss = loss_of(method)
    assert torch.equal(loss, asymmetric_loss(head(features), LABELS))


def test_lsep_ranks_and_learns_thresholds() -> None:
    head, features, loss = loss_of("lsep")
    scores, thresholds = head.rank(features)
    decided = -(LABELS * (scores - thresholds).sigmoid().log() + ~LABELS * (thresholds - scores).sigmoid().log())
    assert torch.allclose(loss, log_sum_exp_pairwise(scores, LABELS) + decided.mean())
    loss.backward()
    ranking = [parameter.grad.clone() for parameter in head.classifier.parameters()]
    head.zero_grad()
    log_sum_exp_pairwise(head.rank(features)[0], LABELS).backward()
    for ours, alone in zip(ranking, head.classifier.parameters(), strict=True):
        assert torch.allclose(ours, alone.grad, atol=1e-7)  # the thresholds' loss leaves the ranking alone


def test_order_free_judges_all_labels_at_every_step() -> None:
    head, features, loss = loss_of("order-free")
    class_logits, logits = head(features, 3)
    assert torch.allclose(loss, stepwise_loss(logits, LABELS) + binary_cross_entropy(class_logits, LABELS))


def test_sr_cnn_rnn_supervises_both() -> None:
    head, features, loss = loss_of("sr-cnn-rnn")
    class_logits, logits = head(features, 3)
    targets = torch.tensor([[2, 0, 4], [1, 4, -100], [4, -100, -100]])  # rare first: c, a, d, b
    assert torch.equal(targets, make_order("rare", VOCABULARY)(logits, LABELS))
    assert torch.allclose(loss, sequence_loss(logits, targets) + binary_cross_entropy(class_logits, LABELS))


@pytest.mark.parametrize("method", METHODS)
def test_stage_one_is_binary_for_every_method(method: str) -> None:
    stage = StageConfig(name="bce", objective="binary", epochs=1, learning_rate=1)
    logits = torch.randn(3, 4)
    loss = make_objective(method, stage, VOCABULARY)(torch.nn.Identity(), logits, LABELS, (2, 1, 0))
    assert torch.equal(loss, binary_cross_entropy(logits, LABELS))


# --- the whole way ---


def check_run(config: Config, photos: Path, run: RunFolder) -> None:
    """Train, load, predict: the same as while training, and sound."""
    metrics = train(config, run)
    method = METHODS[config.method]
    assert ("order-rigidness" in metrics["test"]) == method.writes
    assert ("test-tuned" in metrics) == ("threshold" in metrics) == method.thresholded
    tagger = orderless.load(run.path)
    samples = orderless.open_data(photos)["test"]
    expected = metrics["test-tuned" if config.threshold == "tuned" else "test"]
    judged = tagger.evaluate(samples)
    assert judged.images == expected["images"] == 16
    assert judged.metrics["OF1"] == pytest.approx(expected["OF1"], abs=0.02)  # stored features are half floats
    assert judged.metrics["mAP"] == pytest.approx(expected["mAP"], abs=0.02)
    images = torch.stack([tagger._transform(sample.load()) for sample in samples[:4]])
    prediction = tagger.model.predict(images)
    assert (prediction.written is not None) == method.writes
    assert ((prediction.scores >= 0) & (prediction.scores <= 1)).all()
    if prediction.attention is not None and prediction.attention.shape[1]:
        assert torch.allclose(prediction.attention.sum(2), torch.ones(prediction.attention.shape[:2]), atol=1e-5)
    for result in tagger.predict_many(sample.path for sample in samples[:4]):
        assert bool(result.steps) == method.writes
        written = list(dict.fromkeys(step.label for step in result.steps if step.label is not None))
        assert not result.steps or written == result.labels


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("method", RIVALS)
def test_train_save_load_predict(method: str, name: str, photos: Path, tmp_path: Path) -> None:
    check_run(tiny(method, name, photos), photos, RunFolder(tmp_path / "run"))


def test_order_free_without_attention(photos: Path, tmp_path: Path) -> None:
    check_run(tiny("order-free", data=photos, attention=False), photos, RunFolder(tmp_path / "run"))


def test_a_loaded_head_says_exactly_what_the_saved_one_said(tmp_path: Path) -> None:
    for method in RIVALS:
        config = tiny(method).model
        torch.manual_seed(0)
        saved, loaded = (build_head(config, 6, 4).eval() for _ in range(2))
        save_weights(saved, tmp_path / "head")
        load_weights(loaded, tmp_path / "head")
        features = torch.randn(3, 9, 6)
        ours, theirs = vars(saved.predict(features)), vars(loaded.predict(features))
        assert all(a is b is None or torch.equal(a, b) for a, b in zip(ours.values(), theirs.values(), strict=True))


@pytest.mark.parametrize("name", RECIPES)
@pytest.mark.parametrize("method", METHODS)
def test_every_recipe_is_valid_for_every_method(name: str, method: str) -> None:
    config = tiny(method, name)
    assert config.model.head == METHODS[method].head


def test_settings_that_make_no_sense() -> None:
    with pytest.raises(UsageError, match="nothing without attention"):
        tiny("ml-decoder", attention=False)
    with pytest.raises(UsageError, match="no room for attention"):
        tiny("sr-cnn-rnn", attention=True)
    with pytest.raises(UsageError, match="no threshold to tune"):
        tiny("pla", threshold="tuned")
    with pytest.raises(UsageError, match=r"needs model\.head 'query'"):
        tiny("ml-decoder", head="binary")


# --- thresholds ---


@pytest.mark.parametrize("method", ["bce", "order-free"])
@pytest.mark.parametrize("threshold", ["fixed", "tuned"])
def test_the_saved_threshold(method: str, threshold: str, photos: Path, tmp_path: Path) -> None:
    metrics = train(tiny(method, data=photos, threshold=threshold), RunFolder(tmp_path / "run"))
    tagger = orderless.load(tmp_path / "run")
    kept = float(tagger.model.head.threshold)
    assert kept == pytest.approx(metrics["threshold"] if threshold == "tuned" else 0.5)
    judged = tagger.evaluate(orderless.open_data(photos)["test"])
    expected = metrics["test-tuned" if threshold == "tuned" else "test"]
    assert judged.metrics["OF1"] == pytest.approx(expected["OF1"], abs=0.02)


def test_the_threshold_is_the_best_of_validation(photos: Path, tmp_path: Path) -> None:
    metrics = train(tiny("bce", data=photos), RunFolder(tmp_path / "run"))
    tagger = orderless.load(tmp_path / "run")
    samples = orderless.open_data(photos)["val"]
    results = {}
    for threshold in (0.3, 0.4, 0.5, metrics["threshold"], 0.6, 0.7):
        tagger.model.head.threshold.fill_(threshold)
        results[threshold] = tagger.evaluate(samples).metrics["OF1"]
    assert results[0.5] == pytest.approx(metrics["val"]["OF1"], abs=0.02)
    assert results[metrics["threshold"]] >= max(results.values()) - 0.02
