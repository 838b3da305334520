"""What the paper claims, and what these runs say about it.

A claim is one or more comparisons of means over seeds. It is confirmed if each goes the claimed way beyond the
spread, not confirmed if one goes the other way beyond the spread, unclear otherwise (see `spread.RULE`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from orderless.report.runs import NO_ATTENTION, Comparison, Run, title
from orderless.report.spread import Spread, differ
from orderless.report.tables import shown, spread

Verdict = Literal["confirmed", "not confirmed", "unclear"]

OURS = ("pla", "mla")
FIXED = ("frequent", "rare", "dictionary")
RIGID = 99.5  # percent: what counts as a fixed order
REPEATS_LITTLE = 1.0  # percent of images with a duplicate that count as hardly any


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, its numbers there, ours, and the verdict."""

    text: str
    paper: str
    measured: str
    verdict: Verdict


def verdict_of(pairs: Sequence[tuple[Spread, Spread]]) -> Verdict:
    """Each pair (smaller, larger) as the claim has it."""
    apart = [differ(low, high) for low, high in pairs]
    if any(far and low.mean > high.mean for far, (low, high) in zip(apart, pairs, strict=True)):
        return "not confirmed"
    return "confirmed" if pairs and all(apart) else "unclear"


def judge_claims(comparison: Comparison) -> list[Claim]:
    """Every claim that the runs allow to test."""
    facts = _Facts(comparison)
    found = [
        facts.fewer_duplicates(),
        facts.hardly_any_duplicates(),
        facts.free_order(),
        facts.fixed_orders_are_rigid(),
        facts.lower_loss(),
        facts.higher("pla", FIXED, "PLA's labels are better than those of {others} (CF1 and OF1).",
                     "CF1 64.34 and OF1 69.66 (65.81 and 70.62 with attention) against at most 63.43 and 68.13"),
        facts.higher("mla", FIXED, "MLA's labels are better than those of {others} (CF1 and OF1).",
                     "CF1 64.13 and OF1 69.33 against at most 63.43 and 68.13"),
        facts.higher("pla", ("mla",), "PLA is better than MLA.", "CF1 +0.21, OF1 +0.33 without attention"),
        facts.higher("pla", ("bce",), "PLA is better than BCE at threshold 0.5.",
                     "CF1 +2.52, OF1 +1.78 with attention"),
        facts.higher("pla", ("bce",), "PLA is better than BCE at a threshold tuned on validation "
                     "(a harder question, which the paper does not ask).", "", tuned=True),
        facts.attention_helps(),
        facts.truer_cooccurrence(),
        facts.faster_alignment(),
        facts.mla_punishes(),
        facts.rare_first_helps_classes(),
    ]  # fmt: skip
    return [claim for claim in found if claim is not None]


class _Facts:
    def __init__(self, comparison: Comparison) -> None:
        self.comparison, self.split = comparison, comparison.split

    def value(self, method: str, metric: str, tuned: bool = False) -> Spread | None:
        runs = self.comparison.main(method)
        return spread(runs, f"{self.split}-tuned" if tuned else self.split, metric) if runs else None

    def known(self, methods: Sequence[str], get: Callable[[str], Spread | None]) -> dict[str, Spread]:
        return {method: value for method in methods if (value := get(method)) is not None}

    def fewer_duplicates(self) -> Claim | None:
        values = self.known((*OURS, "random", *FIXED), lambda m: self.value(m, "duplicate-rate"))
        return self._lower(values, OURS, "Labels are repeated in fewer images under {ours} than under {others}.",
                           "0.04 % and 0.10 % against 23.84 % to 57.86 %", " %")  # fmt: skip

    def hardly_any_duplicates(self) -> Claim | None:
        values = self.known(OURS, lambda m: self.value(m, "duplicate-rate"))
        pairs = [(value, Spread(REPEATS_LITTLE, bound=True)) for value in values.values()]
        text = f"Labels are hardly repeated at all under {{ours}} (in less than {REPEATS_LITTLE:g} % of images)."
        return self._claim(text, "0.04 % and 0.10 %", values, pairs, " %")

    def free_order(self) -> Claim | None:
        values = self.known(OURS, lambda m: self.value(m, "order-rigidness"))
        pairs = [(value, Spread(RIGID, bound=True)) for value in values.values()]
        text = f"There is no fixed order under {{ours}}: order-rigidness is below {RIGID} %."
        return self._claim(text, "80.25 % and 82.87 %", values, pairs, " %")

    def fixed_orders_are_rigid(self) -> Claim | None:
        values = self.known(FIXED, lambda m: self.value(m, "order-rigidness"))
        pairs = [(Spread(RIGID, bound=True), value) for value in values.values()]
        text = f"Models trained on a fixed order always write in one order (order-rigidness above {RIGID} %)."
        return self._claim(text, "100.00 % for each", values, pairs, " %")

    def lower_loss(self) -> Claim | None:
        values = self.known((*OURS, "random", *FIXED), lambda m: _loss(self.comparison.main(m)))
        return self._lower(values, OURS, "The training loss is lower under {ours} than under {others}.",
                           "clearly, by its loss curves", "")  # fmt: skip

    def higher(self, method: str, others: Sequence[str], text: str, paper: str, tuned: bool = False) -> Claim | None:
        pairs, parts = [], []
        rivals: dict[str, Spread] = {}
        for metric in ("CF1", "OF1"):
            own = self.value(method, metric)
            rivals = self.known(others, lambda m, metric=metric: self.value(m, metric, tuned))  # type: ignore[misc]
            if own is None or not rivals:
                return None
            pairs += [(rival, own) for rival in rivals.values()]
            parts.append(f"{metric}: {_listed({method: own} | rivals, '')}")
        text = text.format(others=_named(list(rivals), FIXED, "every fixed order"))
        return Claim(text, paper, "; ".join(parts), verdict_of(pairs))

    def attention_helps(self) -> Claim | None:
        pairs, parts = [], []
        for metric in ("CF1", "OF1"):
            with_it = spread(self.comparison.of("pla"), self.split, metric)
            without = spread(self.comparison.of("pla" + NO_ATTENTION), self.split, metric)
            if with_it is None or without is None:
                return None
            pairs.append((without, with_it))
            parts.append(f"{metric}: {shown(with_it)} with, {shown(without)} without")
        text = "Attention improves PLA."
        return Claim(text, "CF1 +1.47, OF1 +0.96", "; ".join(parts), verdict_of(pairs))

    def truer_cooccurrence(self) -> Claim | None:
        values = self.known(("pla", "bce"), lambda m: self.value(m, "cooccurrence-error"))
        text = "PLA's labels come together as in truth more than BCE's do (pairs too many or too few, over true pairs)."
        return self._lower(values, ("pla",), text, "by the look of its co-occurrence matrices", " %")

    def faster_alignment(self) -> Claim | None:
        values = self.known(OURS, lambda m: _time(self.comparison.main(m)))
        return self._lower(values, ("pla",), "PLA aligns faster than MLA.", "0.25 ms against 0.80 ms an image", " ms")

    def mla_punishes(self) -> Claim | None:
        counted = [run.metrics["penalisation"] for run in self.comparison.main("mla") if "penalisation" in run.metrics]
        if not counted:
            return None
        rate = Spread.of([100 * counts["rate"] for counts in counted])
        measured = f"{shown(rate)} % of right predictions"
        labels = self.comparison.punished()
        if labels:
            most = max(labels, key=labels.__getitem__)
            measured += f"; most for {most}: {100 * labels[most]:.1f} %, all seeds together"
        text = "MLA punishes right predictions during training."
        return Claim(text, "up to 8 % for some classes", measured, verdict_of([(Spread(0.0, bound=True), rate)]))

    def rare_first_helps_classes(self) -> Claim | None:
        values = self.known(("frequent", "rare"), lambda m: self.value(m, "CF1"))
        return self._lower(values, ("frequent",), "Rare first is better than frequent first per class (CF1).",
                           "63.43 against 62.63", "")  # fmt: skip

    def _lower(self, values: dict[str, Spread], low: Sequence[str], text: str, paper: str, unit: str) -> Claim | None:
        """Each of `low` lies below each of the others."""
        pairs = [(values[a], v) for a in low if a in values for b, v in values.items() if b not in low]
        return self._claim(text, paper, values, pairs, unit)

    def _claim(
        self, text: str, paper: str, values: dict[str, Spread], pairs: list[tuple[Spread, Spread]], unit: str
    ) -> Claim | None:
        """In the text, `{ours}` and `{others}` become the orders that were run."""
        ours = " and ".join(title(method) for method in OURS if method in values)
        others = _named([m for m in values if m not in OURS], ("random", *FIXED), "any other order")
        text = text.format(ours=ours, others=others)
        return Claim(text, paper, _listed(values, unit), verdict_of(pairs)) if pairs else None


def _named(methods: Sequence[str], whole: Sequence[str], together: str) -> str:
    return together if set(methods) == set(whole) else " and ".join(title(method).lower() for method in methods)


def _listed(values: dict[str, Spread], unit: str) -> str:
    return ", ".join(f"{title(method)} {shown(value)}{unit}" for method, value in values.items())


def _loss(runs: Sequence[Run]) -> Spread | None:
    losses = [float(run.rows[-1]["loss"]) for run in runs if run.rows]
    return Spread.of(losses) if losses else None


def _time(runs: Sequence[Run]) -> Spread | None:
    times = [run.times["alignment"] for run in runs if run.times]
    return Spread.of(times) if times else None
