"""A run's summary: from its folder alone, in words and as data, safe from hostile names."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from PIL import Image
from torch import Tensor

from orderless.config import parse_config
from orderless.evaluation import evaluate
from orderless.labels import Vocabulary
from orderless.recipes import recipe
from orderless.report.run_page import write_run_report
from orderless.report.summary import JudgedPhotos, Summary, final_predictions, open_collection, summarise
from orderless.report.wording import helps, how_good, judged_on, of_100, right_and_wrong, second_look, second_look_intro
from orderless.run_folder import RunFolder

EVIL = "<img src=x onerror=alert(1)>"
NAMES = (EVIL, "cat", "dog")
PHOTO = 'a"><script>alert(2)<\\script>-{:03d}.jpg'.replace("\\", "\N{FRACTION SLASH}")
IMAGES = 40


def made_run(folder: Path, method: str = "bce", tuned: bool = False) -> RunFolder:
    """Half cats, half dogs, all told apart; the first photo lost its tag, the second is called a dog wrongly."""
    data = folder / "photos"
    (data / "images").mkdir(parents=True)
    truth = torch.zeros(IMAGES, len(NAMES), dtype=torch.bool)
    truth[: IMAGES // 2, 1] = truth[IMAGES // 2 :, 2] = True
    scores = torch.where(truth, 0.97, 0.03) + torch.arange(IMAGES)[:, None] / 4000 - 0.005
    truth[0, 1] = False
    scores[0, 1] = 0.999
    truth[0, 0] = True
    scores[1] = torch.tensor([0.1, 0.3, 0.8])
    lines = ["file_name,labels,split"]
    for row in range(IMAGES):
        name = PHOTO.format(row)
        Image.new("RGB", (60, 40), (5 * row, 90, 120)).save(data / "images" / name, "JPEG")
        labels = ";".join(NAMES[label] for label in truth[row].nonzero().flatten().tolist())
        quoted = name.replace('"', '""')
        lines += [f'"images/{quoted}",{labels},{split}' for split in ("train", "val", "test")]
    (data / "labels.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    values = recipe("quick", method).model_dump(mode="json")
    values["data"]["path"] = str(data)
    values["threshold"] = "tuned" if tuned else "fixed"
    run = RunFolder(folder / "run")
    run.begin(parse_config(values, "made up"), Vocabulary(NAMES, (1, 19, 20)))
    run.weights_file.write_bytes(b"")
    _judge(run, truth, scores, threshold=0.2)
    return run


def _judge(run: RunFolder, truth: Tensor, scores: Tensor, threshold: float) -> None:
    judged = {
        "truth": truth, "predicted": scores >= 0.5, "scores": scores, "ignore": torch.zeros_like(truth),
        "index": torch.arange(len(truth)),
    }  # fmt: skip
    run.save_predictions({split: {name: t.clone() for name, t in judged.items()} for split in ("val", "test")})
    numbers = {"images": len(truth), "unreadable": 0, **evaluate(truth, judged["predicted"], scores)}
    run.save_metrics({"method": "bce", "seed": 0, "val": numbers, "test": numbers, "threshold": threshold})


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return made_run(tmp_path_factory.mktemp("summary"))


@pytest.fixture(scope="module")
def summary(run: RunFolder) -> Summary:
    return summarise(run, open_collection(run))


def test_the_facts(summary: Summary) -> None:
    assert (summary.split, summary.images) == ("test", IMAGES)
    assert (summary.tags_written, summary.tags_true) == (IMAGES, IMAGES)
    assert how_good(summary) == "Of 100 tags it writes, 95 are right; of 100 tags that should be there, it finds 95."
    assert summary.barely_judged == (EVIL,)
    assert EVIL in summary.wanting_photos
    assert summary.label("cat").training_photos == 19
    assert {photo.true for photo in summary.right} == {("cat",), ("dog",)}
    assert summary.looked_at == 2 * IMAGES


def test_the_photo_without_its_tag_is_found_by_name(summary: Summary) -> None:
    first = summary.second_look[0]
    assert first.photo.name == f"images/{PHOTO.format(0)}"
    assert second_look(first) == [("missing?", "cat (over 99 %)")]
    assert {look.photo.index for look in summary.second_look} == {0}  # once in validation, once in test
    assert second_look_intro(summary).startswith("2 photos are worth a second look")


def test_photos_to_look_at_are_no_examples(summary: Summary) -> None:
    assert [photo.index for photo in summary.wrong] == [1]


def test_the_page_and_the_data_come_from_the_folder(run: RunFolder) -> None:
    page, summary = write_run_report(run.path)
    text = page.read_text(encoding="utf-8")
    for heading in ("Good and bad labels", "What would help", "Worth a second look", "Examples", "All labels"):
        assert f"<h2>{heading}</h2>" in text
    assert "Of 100 tags it writes, 95 are right" in text
    assert text.count("data:image/jpeg;base64,") >= len(summary.second_look) + len(summary.right) + len(summary.wrong)
    facts = json.loads(run.summary_file.read_text(encoding="utf-8"))
    assert facts["second_look"][0]["lacking"][0]["label"] == "cat"
    assert facts["OP"] == summary.OP


def test_hostile_names_stay_text(run: RunFolder) -> None:
    text = write_run_report(run.path)[0].read_text(encoding="utf-8")
    assert "<script" not in text
    assert "<img src=x" not in text
    assert "&lt;img src=x onerror=alert(1)&gt;" in text
    assert "a&quot;&gt;&lt;script&gt;" in text


def test_without_the_data_photos_have_numbers(tmp_path: Path) -> None:
    run = made_run(tmp_path)
    (tmp_path / "photos").rename(tmp_path / "moved")
    page, summary = write_run_report(run.path)
    assert summary.second_look[0].photo.name == "val photo 1"
    assert "no picture" in page.read_text(encoding="utf-8")


def test_photos_of_changed_data_are_not_taken_for_the_old_ones(tmp_path: Path) -> None:
    run = made_run(tmp_path)
    table = tmp_path / "photos" / "labels.csv"
    head, *lines = table.read_text(encoding="utf-8").splitlines()
    table.write_text("\n".join([head, *reversed(lines)]) + "\n", encoding="utf-8")
    assert summarise(run, open_collection(run)).second_look[0].photo.name == "val photo 1"


def test_a_split_that_has_grown_has_no_photos(tmp_path: Path) -> None:
    run = made_run(tmp_path)
    table = tmp_path / "photos" / "labels.csv"
    lines = table.read_text(encoding="utf-8").splitlines()
    table.write_text("\n".join([*lines, lines[-1]]) + "\n", encoding="utf-8")  # one test photo more
    summary = summarise(run, open_collection(run))
    assert [look.photo.name for look in summary.second_look] == [f"images/{PHOTO.format(0)}", "test photo 1"]


def test_the_threshold_of_the_saved_model_decides(tmp_path: Path) -> None:
    run = made_run(tmp_path, tuned=True)
    judged = final_predictions(run)["test"]
    assert torch.equal(judged["predicted"], judged["scores"] >= 0.2)
    assert summarise(run, None).label("cat").recall == 1.0  # the second photo is a cat from 0.3 on


def test_a_model_that_writes_nothing_is_told_so(run: RunFolder, tmp_path: Path) -> None:
    silent = made_run(tmp_path)
    judged = silent.predictions()["test"]
    _judge(silent, judged["truth"], torch.full_like(judged["scores"], 0.01), threshold=0.5)
    summary = summarise(silent, None)
    assert how_good(summary).startswith("It did not write a single tag")
    assert summary.right == ()
    assert helps(summary)


def test_cells_to_ignore_are_neither_right_nor_wrong(tmp_path: Path) -> None:
    run = made_run(tmp_path)
    splits = run.predictions()
    for judged in splits.values():
        judged["ignore"] = judged["predicted"] != judged["truth"]
    run.save_predictions(splits)
    summary = summarise(run, None)
    assert how_good(summary).startswith("Of 100 tags it writes, 100 are right")
    assert summary.wrong == ()
    photo = JudgedPhotos(run.vocabulary(), splits, None).at("test", 1)  # a cat called a dog
    assert right_and_wrong(photo) == ([], [], [])


@pytest.mark.parametrize(("share", "said"), [(0.0, 0), (0.001, 1), (0.5, 50), (0.9951, 99), (1.0, 100)])
def test_all_or_none_only_if_it_is_so(share: float, said: int) -> None:
    assert of_100(share) == said


def test_without_a_test_split_validation_is_named(tmp_path: Path) -> None:
    run = made_run(tmp_path, tuned=True)
    run.save_predictions({"val": run.predictions()["val"]})
    summary = summarise(run, None)
    assert "they also chose the best epoch and the threshold" in judged_on(summary)
    assert "test" not in second_look_intro(summary)
