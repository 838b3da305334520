"""Random labels and predictions with everything that breaks metrics: ties, empty images, degenerate classes."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from hypothesis import settings
from hypothesis import strategies as st
from torch import Tensor

LABEL_SETS = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "label-sets"

# Enough to meet every degenerate class; no deadline, because a busy machine is no failure.
thorough = settings(max_examples=30, deadline=None)


class Case(NamedTuple):
    truth: Tensor
    predicted: Tensor
    scores: Tensor
    sequences: Tensor
    ignore: Tensor


def make_case(seed: int, images: int, labels: int) -> Case:
    rng = np.random.default_rng(seed)
    truth = rng.random((images, labels)) < rng.random(labels)
    scores = np.clip(0.3 * truth + rng.random((images, labels)), 0, 1).round(int(rng.integers(1, 4)))  # many ties
    predicted = scores >= rng.choice([0.5, 0.8, 1.0])
    for column in range(labels):
        fate = rng.integers(8)
        if fate == 0:
            truth[:, column] = False
        elif fate == 1:
            truth[:, column] = True
        elif fate == 2:
            predicted[:, column] = False
    empty = rng.random(images) < 0.15
    truth[empty] = False
    predicted[rng.random(images) < 0.15] = False
    steps = int(rng.integers(0, 8))
    sequences = rng.integers(0, labels, (images, steps))
    sequences[np.arange(steps) >= rng.integers(0, steps + 1, images)[:, None]] = -1
    ignore = rng.random((images, labels)) < rng.choice([0.1, 0.5])
    return Case(*(torch.from_numpy(a) for a in (truth, predicted, scores, sequences, ignore)))


def cases(min_images: int = 1) -> st.SearchStrategy[Case]:
    return st.builds(make_case, st.integers(0, 2**32 - 1), st.integers(min_images, 30), st.integers(1, 9))
