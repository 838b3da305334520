"""The straightforward implementations: what the definitions say, step by step. Slow, and easy to believe.

They are the other side of the benchmarks, and what the fast code is tested against.
"""

from __future__ import annotations

import torch
from torch import Tensor

from orderless.model.decoder import SequenceDecoder
from orderless.order.fixed import IGNORE

FIXED_STEPS = 20  # a plain decoder runs them all, whatever the images need


def plain_decode(decoder: SequenceDecoder, features: Tensor, steps: int = FIXED_STEPS) -> Tensor:
    """features [B, cells, C] -> logits [B, steps, m + 1] with the decoder's weights: all steps for all images,
    and at every step the features are projected anew."""
    pooled = features.mean(dim=1)  # [B, C]
    hidden, cell = decoder.initial_hidden(pooled), decoder.initial_cell(pooled)
    token = torch.full((len(features),), decoder.start)
    logits = []
    for _ in range(steps):
        inputs = decoder.embedding(token)  # [B, E]
        attention = decoder.attention
        if attention is not None:
            energy = attention.from_features(features) + attention.from_hidden(hidden).unsqueeze(1)  # [B, cells, A]
            weights = attention.score(energy.tanh()).softmax(dim=1)  # [B, cells, 1]
            context = (weights * features).sum(dim=1) * attention.gate(hidden).sigmoid()  # [B, C]
            inputs = torch.cat((inputs, context), dim=1)
        hidden, cell = decoder.lstm(inputs, (hidden, cell))
        logits.append(decoder.output(hidden))
        token = logits[-1].argmax(dim=1)
    return torch.stack(logits, dim=1)


def plain_mla(logits: Tensor, labels: Tensor) -> Tensor:
    """logits [B, T, m + 1], labels [B, m] bool -> targets [B, T], image by image."""
    return torch.stack([_align_image(logits[i], labels[i], pin=False) for i in range(len(logits))])


def plain_pla(logits: Tensor, labels: Tensor) -> Tensor:
    """logits [B, T, m + 1], labels [B, m] bool -> targets [B, T], image by image."""
    return torch.stack([_align_image(logits[i], labels[i], pin=True) for i in range(len(logits))])


@torch.no_grad()
def _align_image(logits: Tensor, labels: Tensor, pin: bool) -> Tensor:
    """logits [T, m + 1], labels [m] -> targets [T]."""
    names = labels.nonzero().flatten().tolist()
    n = len(names)
    placed: dict[int, int] = {}  # step -> label
    if pin:
        for step in range(n):
            choice = int(logits[step].argmax())
            if choice in names and choice not in placed.values():
                placed[step] = choice
    steps = [step for step in range(n) if step not in placed]
    free = [name for name in names if name not in placed.values()]
    matrix = []
    for step in steps:
        cost = -logits[step].log_softmax(dim=0)  # [m + 1]
        matrix.append([float(cost[name]) for name in free])
    for step, column in zip(steps, hungarian(matrix), strict=True):
        placed[step] = free[column]
    targets = torch.full((len(logits),), IGNORE, dtype=torch.long)
    for step in range(n):
        targets[step] = placed[step]
    targets[n] = len(labels)  # the end token
    return targets


def hungarian(cost: list[list[float]]) -> list[int]:
    """The column of every row of a square matrix so that the sum is least: Munkres' method of covered zeros."""
    n = len(cost)
    rest = [[value - min(row) for value in row] for row in cost]
    star: list[int | None] = [None] * n  # of every row: the column of its starred zero
    prime: list[int | None] = [None] * n  # of every row: the column of its primed zero
    covered_rows, covered_columns = [False] * n, [False] * n
    for i in range(n):
        for j in range(n):
            if rest[i][j] == 0 and star[i] is None and j not in star:
                star[i] = j
    while None in star:
        for i in range(n):
            covered_rows[i], prime[i] = False, None
        for j in range(n):
            covered_columns[j] = j in star
        while True:
            found = _uncovered_zero(rest, covered_rows, covered_columns)
            if found is None:
                _shift(rest, covered_rows, covered_columns)
                continue
            i, j = found
            prime[i] = j
            if star[i] is None:
                break
            covered_rows[i], covered_columns[star[i]] = True, False  # type: ignore[index]
        # From the primed zero, stars and primes alternate to a column without a star; each prime becomes a star.
        while j in star:
            k = star.index(j)
            star[i] = j
            i, j = k, prime[k]  # type: ignore[assignment]
        star[i] = j
    return [column for column in star if column is not None]


def _uncovered_zero(
    rest: list[list[float]], covered_rows: list[bool], covered_columns: list[bool]
) -> tuple[int, int] | None:
    for i, row in enumerate(rest):
        if not covered_rows[i]:
            for j, value in enumerate(row):
                if value == 0 and not covered_columns[j]:
                    return i, j
    return None


def _shift(rest: list[list[float]], covered_rows: list[bool], covered_columns: list[bool]) -> None:
    """Make a new zero: the least uncovered value is taken from uncovered cells, added to twice covered ones."""
    n = range(len(rest))
    least = min(rest[i][j] for i in n for j in n if not covered_rows[i] and not covered_columns[j])
    for i in n:
        for j in n:
            if covered_rows[i] and covered_columns[j]:
                rest[i][j] += least
            elif not covered_rows[i] and not covered_columns[j]:
                rest[i][j] -= least
