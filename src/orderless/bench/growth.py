"""What grows with what: alignment with labels, vocabulary and images; memory with the number of images."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from orderless.bench.material import coco_counts, half_right_logits, label_sets, write_photos, write_run
from orderless.bench.measure import Row, in_turns, no_dearer
from orderless.order import pla


def rows(quick: bool) -> Iterator[Row]:
    yield from _alignment(quick)
    yield from _memory(quick)


def _alignment(quick: bool) -> Iterator[Row]:
    """Seconds an image, large case against small one. Twice the linear growth is allowed for, never the quadratic."""
    cases = [
        ("16 times the images (64 to 1,024)", (coco_counts(1024), 80), (coco_counts(64), 80), 1.5),
        ("100 times the vocabulary (100 to 10,000)", (coco_counts(64), 10_000), (coco_counts(64), 100), 200.0),
        # n labels take n steps: even to read what the assignment is about grows with their square.
        ("8 times the labels of an image (4 to 32)", ([32] * 64, 80), ([4] * 64, 80), 2 * 8.0**2),
    ]
    for case, large, small, goal in cases:
        calls = []
        for counts, n_labels in (large, small):
            labels = label_sets(counts, n_labels)
            logits = half_right_logits(labels)
            calls.append(partial(pla, logits, labels))
        ours, theirs = in_turns(calls[0], calls[1], quick)
        per_image = ours / len(large[0]), theirs / len(small[0])
        yield no_dearer("growth", f"PLA of an image, {case}", per_image, goal)


def _memory(quick: bool) -> Iterator[Row]:
    few, many = (8, 40) if quick else (1_000, 10_000)
    with tempfile.TemporaryDirectory() as folder:
        run = write_run(Path(folder) / "run", "test_resnet", 64)
        write_photos(Path(folder), 8, 96, 96)
        for job, arguments in (("predict", [str(run), folder]), ("train", [])):
            sides = _peak(job, *arguments, str(many)), _peak(job, *arguments, str(few))
            case = f"peak memory of {job}, {many:,} images against {few:,}"
            yield no_dearer("growth", case, sides, 1.1, unit="MB")


def _peak(*arguments: str) -> float:
    command = [sys.executable, "-m", "orderless.bench.memory", *arguments]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
