"""Draws docs/images/attention.png from a run on the scenes:

    orderless demo && python docs/images/attention.py runs/demo/pla

Takes the test scene that was tagged rightly, has most labels, and on which the model looked about most.
"""

from __future__ import annotations

import sys
from itertools import combinations
from pathlib import Path

import numpy as np

import orderless
from orderless.report.attention import attention_figure
from orderless.tagger import Result


def peak(region: np.ndarray) -> np.ndarray:
    return np.array(np.unravel_index(region.argmax(), region.shape))


def looked_about(result: Result) -> float:
    """Mean distance between the places it looked at most for each tag, in cells."""
    peaks = [peak(tag.region) for tag in result.tags if tag.region is not None]
    return float(np.mean([np.linalg.norm(a - b) for a, b in combinations(peaks, 2)])) if len(peaks) > 1 else 0.0


tagger = orderless.load(sys.argv[1])
best = None
for sample in orderless.open_data(tagger.config.data.path)["test"]:
    if len(sample.labels) != 5:
        continue
    image = sample.load()
    result = tagger.predict(image)
    if set(result.labels) == set(sample.labels) and (best is None or looked_about(result) > looked_about(best[1])):
        best = (image, result)
assert best is not None
figure = attention_figure(best[0].resize((320, 320)), best[1], columns=6)
figure.axes[0].set_title("")
figure.savefig(Path(__file__).with_name("attention.png"), dpi=80)
