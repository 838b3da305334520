"""PLA and MLA of a batch against the plain implementation."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from orderless.bench.material import coco_counts, half_right_logits, label_sets
from orderless.bench.measure import Row, faster, in_turns
from orderless.bench.plain import plain_mla, plain_pla
from orderless.order import mla, pla


def rows(quick: bool) -> Iterator[Row]:
    cases = [
        ("batch 64, 81 outputs", coco_counts(64), 80, 50.0),
        ("batch 8, 81 outputs", coco_counts(8), 80, 30.0),
        ("40 labels, 1,000 outputs", [40] * (2 if quick else 16), 999, 100.0),
    ]
    for case, counts, n_labels, goal in cases:
        labels = label_sets(counts, n_labels)
        logits = half_right_logits(labels)
        for name, fast, plain in (("PLA", pla, plain_pla), ("MLA", mla, plain_mla)):
            sides = in_turns(partial(fast, logits, labels), partial(plain, logits, labels), quick)
            yield faster("align", f"{name}, {case}", sides, goal)
