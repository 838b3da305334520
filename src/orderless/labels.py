"""The vocabulary: the one place that knows which label has which index.

Labels take the indices 0 to m-1. A sequence model writes one token more, the end token, at index m;
the start token, which is only ever read, stands at m+1. An image's labels travel as a row of booleans
(`encode`), because a set has no order.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from orderless.errors import UsageError


@dataclass(frozen=True)
class Vocabulary:
    """Label names, how often each stands in the training split, and (optionally) the group of each."""

    names: tuple[str, ...]
    frequencies: tuple[int, ...]
    groups: tuple[str, ...] = field(default=())  # super-categories, empty or one per label

    def __post_init__(self) -> None:
        if not self.names:
            raise UsageError("there is no label to learn: every training image has an empty label set")
        if len(set(self.names)) != len(self.names):
            twice = next(name for name, count in Counter(self.names).items() if count > 1)
            raise UsageError(f"the vocabulary names the label {twice!r} twice")
        if len(self.frequencies) != len(self.names):
            raise UsageError(f"{len(self.names)} labels but {len(self.frequencies)} frequencies")
        if self.groups and len(self.groups) != len(self.names):
            raise UsageError(f"{len(self.names)} labels but {len(self.groups)} groups")

    @classmethod
    def from_label_sets(
        cls,
        label_sets: Iterable[Iterable[str]],
        names: Sequence[str] | None = None,
        groups: dict[str, str] | None = None,
    ) -> Vocabulary:
        """Count the labels of the training split; `names` fixes a published vocabulary and its order."""
        counts = Counter(label for labels in label_sets for label in set(labels))
        ordered = tuple(names) if names is not None else tuple(sorted(counts))
        unknown = sorted(set(counts) - set(ordered))
        if unknown:
            raise UsageError(f"label {unknown[0]!r} is not in the data set's own list of labels")
        return cls(
            names=ordered,
            frequencies=tuple(counts[name] for name in ordered),
            groups=tuple(groups.get(name, "") for name in ordered) if groups else (),
        )

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def index(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    def indices(self, labels: Iterable[str], *, ignore_unknown: bool = False) -> list[int]:
        """Indices of a label set, ascending; an unknown label is an error unless it is to be ignored."""
        found = set()
        for label in labels:
            if label in self.index:
                found.add(self.index[label])
            elif not ignore_unknown:
                raise UsageError(
                    f"label {label!r} was never seen in training; remove it from the data "
                    "or pass --ignore-unknown to leave such labels out"
                )
        return sorted(found)

    def to_json(self) -> str:
        rows = [
            {"name": n, "frequency": f} | ({"group": g} if g else {})
            for n, f, g in zip(self.names, self.frequencies, self.groups or ("",) * len(self), strict=True)
        ]
        return json.dumps({"labels": rows}, ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Vocabulary:
        try:
            rows = json.loads(text)["labels"]
            groups = tuple(str(row.get("group", "")) for row in rows)
            return cls(
                names=tuple(str(row["name"]) for row in rows),
                frequencies=tuple(int(row["frequency"]) for row in rows),
                groups=groups if any(groups) else (),
            )
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
            raise UsageError(f"the label file is not one that orderless wrote: {error}") from error

    @classmethod
    def load(cls, path: Path) -> Vocabulary:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError as error:
            raise UsageError(f"the label file is not one that orderless wrote: {error}") from error
        return cls.from_json(text)
