"""`orderless bench`: what things cost, as ratios of two sides measured in turns within one run."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from orderless.bench.measure import Row
from orderless.errors import UsageError

BENCHES = {
    "align": "PLA and MLA against plain Python, image by image",
    "decoder": "the decoder's forward and backward against 20 fixed, re-projecting steps",
    "train": "a PLA step against a BCE step on the same encoder",
    "predict": "tagging against the encoder's forward alone",
    "cache": "an epoch on stored features against one that encodes every image",
    "runtime": "what runs the encoder fastest, and whether --runtime auto picks it",
    "data": "the loading pipeline against bare JPEG decoding",
    "growth": "cost and memory as labels, vocabulary and images grow",
    "start": "--help and the first prediction against bare interpreters",
}


def run_benches(names: list[str], quick: bool = False) -> Iterator[Row]:
    """The rows of the named benches (all, if none is named); `quick` checks that they run, not how fast."""
    for name in names:
        if name not in BENCHES:
            raise UsageError(f"there is no bench {name!r}; choose from {', '.join(BENCHES)}")
    for name in names or BENCHES:
        yield from import_module(f"orderless.bench.{name}").rows(quick)
