"""Is this data fit for training? Counts, label statistics, images that cannot be read, duplicates and leaks.

Reads every image once, in worker processes, and changes nothing.
"""

from __future__ import annotations

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import combinations

from orderless.data.fingerprint import Facts, examine, look_alikes, same_bytes
from orderless.data.sample import SPLITS, Collection, Sample
from orderless.errors import OrderlessError, UsageError

RARE = 10  # labels with fewer training images are called rare
MATRIX_LABELS = 60  # the co-occurrence matrix shows so many of the most frequent labels
_FEW = 64  # so few images are not worth starting processes

Progress = Callable[[Iterable[Facts], int], Iterable[Facts]]


@dataclass
class Report:
    """What `orderless data check` found; every list is empty when all is well. `to_json` gives these names."""

    format: str
    root: str
    images: int  # files
    samples: int  # images, or boxes where a data set has several to a file
    splits: dict[str, int]  # samples
    labels: dict[str, int]  # samples that have the label, the most frequent first
    label_splits: dict[str, dict[str, int]]
    groups: dict[str, str]
    cardinality: dict[str, object]
    cooccurrence: dict[str, object]
    rare_threshold: int
    rare_labels: list[dict[str, object]]
    unseen_labels: list[dict[str, object]]
    notes: list[str]
    unreadable: list[dict[str, str]] = field(default_factory=list)  # missing, truncated, oversized and damaged
    missing: list[str] = field(default_factory=list)
    truncated: list[str] = field(default_factory=list)
    oversized: list[str] = field(default_factory=list)
    odd_modes: list[dict[str, object]] = field(default_factory=list)
    sizes: dict[str, object] = field(default_factory=dict)
    duplicates: list[list[str]] = field(default_factory=list)  # same bytes
    near_duplicates: list[list[str]] = field(default_factory=list)  # same look
    conflicts: list[dict[str, object]] = field(default_factory=list)  # same file or bytes, other labels
    leaks: list[dict[str, object]] = field(default_factory=list)  # one picture in two splits

    def to_json(self) -> dict[str, object]:
        return asdict(self)


def check(
    collection: Collection, *, workers: int | None = None, rare: int = RARE, progress: Progress | None = None
) -> Report:
    """Look at every label and every image. `workers` processes decode; 0 decodes in this one."""
    if workers is not None and workers < 0:
        raise UsageError(f"the number of workers is {workers}; it must be 0 or more")
    report = _labels_report(collection, rare)
    files = _files(collection)
    report.images = len(files)
    firsts = [samples[0][1] for samples in files]
    with _examined(firsts, workers) as stream:
        facts = list(progress(stream, len(firsts)) if progress else stream)
    names = [short_name(sample, collection) for sample in firsts]
    _readability(report, facts, names)
    _duplicates(report, facts, names, files)
    return report


def short_name(sample: Sample, collection: Collection) -> str:
    """The file's name below the data folder, as text that can be printed and stored."""
    root = collection.root
    path = sample.path.relative_to(root) if root and sample.path.is_relative_to(root) else sample.path
    return str(path).encode("utf-8", "backslashreplace").decode("utf-8")


def _files(collection: Collection) -> list[list[tuple[str, Sample]]]:
    """Samples with their splits, by image file: the boxes of one file stand together."""
    found: dict[object, list[tuple[str, Sample]]] = defaultdict(list)
    for split in SPLITS:
        for sample in collection.splits.get(split, ()):
            # Samples without a file of their own are told apart by what they are.
            found[sample.path if type(sample) is Sample else sample].append((split, sample))
    return list(found.values())


@contextmanager
def _examined(samples: Sequence[Sample], workers: int | None) -> Iterator[Iterable[Facts]]:
    count = min(8, os.cpu_count() or 1) if workers is None else workers
    if count == 0 or (workers is None and len(samples) < _FEW):
        yield map(examine, samples)
        return
    with ProcessPoolExecutor(count) as pool:
        try:
            yield pool.map(examine, samples, chunksize=16)
        except BrokenProcessPool:
            raise OrderlessError(
                "a process that decodes images was ended, perhaps for want of memory; try --workers 1"
            ) from None
        finally:
            pool.shutdown(cancel_futures=True)


def _labels_report(collection: Collection, rare: int) -> Report:
    counts = {split: Counter[str]() for split in SPLITS}
    cardinality: Counter[int] = Counter()
    pairs: Counter[tuple[str, str]] = Counter()
    for split in SPLITS:
        for sample in collection.splits.get(split, ()):
            labels = sorted(set(sample.labels))
            counts[split].update(labels)
            cardinality[len(labels)] += 1
            pairs.update(combinations(labels, 2))
    total = sum(counts.values(), Counter[str]())
    names = sorted({*total, *(collection.names or ())}, key=lambda name: (-total[name], name))
    training = counts["train"]
    has_train = bool(collection.splits.get("train"))
    number = sum(cardinality.values())
    return Report(
        format=collection.format,
        root=str(collection.root or ""),
        images=0,
        samples=len(collection),
        splits={split: len(collection.splits[split]) for split in SPLITS if collection.splits.get(split)},
        labels={name: total[name] for name in names},
        label_splits={name: {split: counts[split][name] for split in SPLITS if split in collection} for name in names},
        groups=dict(collection.groups),
        cardinality={
            "mean": round(sum(k * n for k, n in cardinality.items()) / number, 4) if number else 0.0,
            "min": min(cardinality, default=0),
            "max": max(cardinality, default=0),
            "histogram": {str(k): cardinality[k] for k in sorted(cardinality)},
        },
        cooccurrence=_cooccurrence(names[:MATRIX_LABELS], total, pairs),
        rare_threshold=rare,
        rare_labels=[
            {"label": name, "train": training[name]} for name in names if has_train and 0 < training[name] < rare
        ],
        unseen_labels=[
            {"label": name, "val": counts["val"][name], "test": counts["test"][name]}
            for name in names
            if has_train and not training[name] and total[name]
        ],
        notes=list(collection.notes),
    )


def _cooccurrence(names: list[str], total: Counter[str], pairs: Counter[tuple[str, str]]) -> dict[str, object]:
    """How often two labels come together: a matrix of the frequent labels, and the most common pairs."""
    place = {name: i for i, name in enumerate(names)}
    matrix = [[total[a] if a == b else 0 for b in names] for a in names]
    for (a, b), count in pairs.items():
        if a in place and b in place:
            matrix[place[a]][place[b]] = matrix[place[b]][place[a]] = count
    ranked = sorted(pairs.items(), key=lambda item: (-item[1], item[0]))[:100]
    return {
        "labels": names,
        "matrix": matrix,
        "pairs": [{"labels": list(pair), "count": count} for pair, count in ranked],
    }


def _readability(report: Report, facts: Sequence[Facts], names: Sequence[str]) -> None:
    sides: Counter[tuple[int, int]] = Counter()
    for name, one in zip(names, facts, strict=True):
        if one.problem:
            report.unreadable.append({"image": name, "kind": one.kind, "reason": one.problem})
            lists = {"missing": report.missing, "truncated": report.truncated, "oversized": report.oversized}
            if one.kind in lists:
                lists[one.kind].append(name)
            continue
        sides[one.width, one.height] += 1
        if one.odd:
            report.odd_modes.append({"image": name, "mode": one.mode, "frames": one.frames})
    if sides:
        (width, height), count = sides.most_common(1)[0]
        areas = sorted(sides, key=lambda side: side[0] * side[1])
        report.sizes = {
            "smallest": list(areas[0]),
            "largest": list(areas[-1]),
            "most_common": [width, height],
            "most_common_count": count,
        }


def _duplicates(
    report: Report, facts: Sequence[Facts], names: Sequence[str], files: Sequence[list[tuple[str, Sample]]]
) -> None:
    splits = [sorted({split for split, _ in samples}, key=SPLITS.index) for samples in files]
    label_sets = [{(sample.box, frozenset(sample.labels)) for _, sample in samples} for samples in files]
    exact = same_bytes(facts)
    report.duplicates = [[names[i] for i in group] for group in exact]
    for group in exact:
        if any(label_sets[i] != label_sets[group[0]] for i in group):
            report.conflicts.append(
                {"images": [names[i] for i in group], "labels": [_label_list(files[i]) for i in group]}
            )
    for name, samples in zip(names, files, strict=True):
        said: dict[object, set[frozenset[str]]] = defaultdict(set)  # of each box, or of the whole image
        for _, sample in samples:
            said[sample.box].add(frozenset(sample.labels))
        for sets in said.values():
            if len(sets) > 1:
                labels = sorted(sorted(one) for one in sets)
                report.conflicts.append({"images": [name] * len(labels), "labels": labels})
    # A group of look-alikes that is nothing but copies of one file is reported once, as duplicates.
    near = [group for group in look_alikes(facts) if len({facts[i].digest for i in group}) > 1]
    report.near_duplicates = [[names[i] for i in group] for group in near]
    seen: set[frozenset[int]] = set()
    once = [[i] for i in range(len(files)) if len(splits[i]) > 1]
    for kind, groups in (("same file", once), ("same bytes", exact), ("same look", near)):
        for group in groups:
            everywhere = sorted({split for i in group for split in splits[i]}, key=SPLITS.index)
            if len(everywhere) > 1 and frozenset(group) not in seen:
                seen.add(frozenset(group))
                report.leaks.append({"kind": kind, "splits": everywhere, "images": [names[i] for i in group]})


def _label_list(samples: Iterable[tuple[str, Sample]]) -> list[str]:
    return sorted({label for _, sample in samples for label in sample.labels})
