"""A run in plain facts: how good, which labels, examples, what would help, which photos to look at again.

Made from what the run's folder holds, so that it can be made again at any time; summary.json is this as data.
Photos have names as long as the data is where it was, and numbers otherwise.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from statistics import median

import torch
from torch import Tensor

from orderless.data.check import short_name
from orderless.data.sample import SPLITS, Collection, Sample
from orderless.errors import OrderlessError
from orderless.evaluation import count_sets, per_class, set_metrics
from orderless.evaluation.advice import barely_judged, confused, examples, strong_and_weak, suspects, wanting_photos
from orderless.files import write_text
from orderless.labels import Vocabulary
from orderless.run_folder import RunFolder

Judged = dict[str, Tensor]  # truth, predicted, scores, ignore, index, maybe sequences


@dataclass(frozen=True)
class LabelFacts:
    """How good one label is; `photos` were judged, `training_photos` learnt from. Shares are fractions."""

    label: str
    precision: float
    recall: float
    F1: float
    photos: int
    training_photos: int


@dataclass(frozen=True)
class Photo:
    """A judged photo with the tags it got, in their order, and the true ones. `index` is its place in the split."""

    name: str
    split: str
    index: int
    written: tuple[str, ...]
    true: tuple[str, ...]


@dataclass(frozen=True)
class ScoredLabel:
    label: str
    score: float


@dataclass(frozen=True)
class MixUp:
    """In `photos` photos `written` was written, falsely, and `true`, which was right, was not."""

    written: str
    true: str
    photos: int


@dataclass(frozen=True)
class SecondLook:
    """A photo whose true tags the tagger contradicts: tags that may be missing, tags that may be wrong."""

    photo: Photo
    lacking: tuple[ScoredLabel, ...]
    doubtful: tuple[ScoredLabel, ...]
    gap: float


@dataclass(frozen=True)
class Summary:
    """Everything that the terminal and the page say; names of labels refer to `labels`."""

    split: str  # that the numbers are of
    chose_threshold: bool  # whether the threshold was chosen on validation
    images: int
    tags_written: int
    tags_true: int
    OP: float
    OR: float
    OF1: float
    subset_accuracy: float
    labels: tuple[LabelFacts, ...]  # in the order of the vocabulary
    strong: tuple[str, ...]
    weak: tuple[str, ...]
    barely_judged: tuple[str, ...]  # too few photos in the split to say how good
    typical_training_photos: int  # of the median label
    wanting_photos: tuple[str, ...]
    hard: tuple[str, ...]  # bad in spite of many photos
    mixed_up: tuple[MixUp, ...]
    right: tuple[Photo, ...]
    wrong: tuple[Photo, ...]
    looked_at: int  # photos of validation and test among which the next were found
    second_look: tuple[SecondLook, ...]

    def label(self, name: str) -> LabelFacts:
        return next(facts for facts in self.labels if facts.label == name)


def summarise(run: RunFolder, collection: Collection | None) -> Summary:
    """The facts of a finished run; `collection` is the data it was trained on, if it is still there."""
    vocabulary, judged = run.vocabulary(), final_predictions(run)
    split = "test" if "test" in judged else "val"
    shown = judged[split]
    truth, predicted, ignore = shown["truth"], shown["predicted"], shown["ignore"]
    results, numbers = per_class(truth, predicted, ignore=ignore), set_metrics(count_sets(truth, predicted, ignore))
    few, hard = wanting_photos(results, vocabulary.frequencies, numbers["OF1"])
    strong, weak = strong_and_weak(results, numbers["OF1"])
    photos = JudgedPhotos(vocabulary, judged, collection)
    second_look = _second_look(vocabulary, judged, photos)
    seen = {(look.photo.split, look.photo.index) for look in second_look}
    doubted = [row for row, index in enumerate(shown["index"].tolist()) if (split, index) in seen]
    right, wrong = examples(truth, predicted, ignore, leave_out=doubted)
    facts = zip(vocabulary.names, vocabulary.frequencies, results, strict=True)

    def named(labels: Sequence[int]) -> tuple[str, ...]:
        return tuple(vocabulary.names[label] for label in labels)

    return Summary(
        split=split,
        chose_threshold=run.config().threshold == "tuned",
        images=len(truth),
        tags_written=int((predicted & ~ignore).sum()),
        tags_true=int((truth & ~ignore).sum()),
        OP=numbers["OP"],
        OR=numbers["OR"],
        OF1=numbers["OF1"],
        subset_accuracy=numbers["subset-accuracy"],
        labels=tuple(LabelFacts(name, r.precision, r.recall, r.F1, r.tp + r.fn, n) for name, n, r in facts),
        strong=named(strong),
        weak=named(weak),
        barely_judged=named(barely_judged(results)),
        typical_training_photos=int(median(vocabulary.frequencies)),
        wanting_photos=named(few),
        hard=named(hard),
        mixed_up=tuple(
            MixUp(vocabulary.names[pair.written], vocabulary.names[pair.true], pair.images)
            for pair in confused(truth, predicted, ignore)
        ),
        right=tuple(photos.at(split, row) for row in right),
        wrong=tuple(photos.at(split, row) for row in wrong),
        looked_at=sum(len(part["truth"]) for part in judged.values()),
        second_look=second_look,
    )


def write_summary(run: RunFolder, collection: Collection | None) -> Summary:
    """Write summary.json, and return what it says."""
    summary = summarise(run, collection)
    write_text(run.summary_file, json.dumps(asdict(summary), indent=1, ensure_ascii=False) + "\n")
    return summary


def final_predictions(run: RunFolder) -> dict[str, Judged]:
    """Validation and test as the saved model decides: at the threshold that validation chose, if it keeps that."""
    found = run.predictions()
    splits: dict[str, Judged] = {split: found[split] for split in ("val", "test") if split in found}
    if run.config().threshold != "tuned":
        return splits
    threshold = run.metrics()["threshold"]
    for split, judged in splits.items():
        ranked = {name: tensor for name, tensor in judged.items() if name != "sequences"}
        splits[split] = found.get(f"{split}-tuned") or ranked | {"predicted": judged["scores"] >= threshold}
    return splits


def open_collection(run: RunFolder) -> Collection | None:
    """The data of a run with its splits and limits; None if it is not where it was.

    Of a split that has grown or shrunk nothing is left: its photos stand in other places now.
    """
    from orderless.data import open_data

    config = run.config()
    data = config.data
    try:
        collection = open_data(data.path, data.format, seed=config.data_seed, **data.options)
    except OrderlessError:
        return None
    metrics, collection = run.metrics(), collection.limited(data.limit, config.data_seed)
    sizes = {split: metrics[split]["images"] + metrics[split]["unreadable"] for split in SPLITS if split in metrics}
    same = {split: samples for split, samples in collection.splits.items() if sizes.get(split) == len(samples)}
    return replace(collection, splits=same)


def find_sample(collection: Collection | None, split: str, index: int, true: Sequence[str]) -> Sample | None:
    """The sample that was judged; None if what stands in its place now lacks a tag that it had."""
    samples = collection.splits.get(split, []) if collection else []
    if index >= len(samples) or not set(true) <= set(samples[index].labels):
        return None
    return samples[index]


def written_labels(judged: Judged, row: int) -> list[int]:
    """What was written about an image, each label once: in the order of writing, or the surest first."""
    if "sequences" in judged:
        return list(dict.fromkeys(label for label in judged["sequences"][row].tolist() if label >= 0))
    chosen: list[int] = judged["predicted"][row].nonzero().flatten().tolist()
    return sorted(chosen, key=lambda label: -float(judged["scores"][row, label]))


class JudgedPhotos:
    """Judged rows as photos with names."""

    def __init__(self, vocabulary: Vocabulary, judged: dict[str, Judged], collection: Collection | None) -> None:
        self.vocabulary, self.judged, self.collection = vocabulary, judged, collection

    def at(self, split: str, row: int) -> Photo:
        judged, names = self.judged[split], self.vocabulary.names
        index = int(judged["index"][row])
        ignored = set(judged["ignore"][row].nonzero().flatten().tolist())  # neither right nor wrong: not told of
        labels = judged["truth"][row].nonzero().flatten().tolist()
        true = tuple(names[label] for label in labels if label not in ignored)
        written = tuple(names[label] for label in written_labels(judged, row) if label not in ignored)
        return Photo(self._name(split, index, true), split, index, written, true)

    def _name(self, split: str, index: int, true: Sequence[str]) -> str:
        sample = find_sample(self.collection, split, index, true)
        if sample is None or self.collection is None:
            return f"{split} photo {index + 1}"
        box = sample.name[len(str(sample.path)) :]  # of a sample that is a part of its photo
        return short_name(sample, self.collection) + box


def _second_look(vocabulary: Vocabulary, judged: dict[str, Judged], photos: JudgedPhotos) -> tuple[SecondLook, ...]:
    """Among all photos that were judged but not learnt from."""
    names = ("truth", "predicted", "scores", "ignore")
    whole = {name: torch.cat([part[name] for part in judged.values()]) for name in names}
    places = [(split, row) for split, part in judged.items() for row in range(len(part["truth"]))]

    def named(labels: Sequence[tuple[int, float]]) -> tuple[ScoredLabel, ...]:
        return tuple(ScoredLabel(vocabulary.names[label], score) for label, score in labels)

    return tuple(
        SecondLook(photos.at(*places[found.row]), named(found.lacking), named(found.doubtful), found.gap)
        for found in suspects(whole["truth"], whole["predicted"], whole["scores"], whole["ignore"])
    )
