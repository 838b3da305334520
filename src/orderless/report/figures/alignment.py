"""One image through the eyes of the loss: its cost matrix with both alignments, and ordered against orderless loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from PIL import Image
from torch import Tensor

from orderless.order import make_order, mla, pla
from orderless.report.runs import Comparison, Run, title
from orderless.report.style import COLOURS, INK, inked, new_figure
from orderless.text import printable


@dataclass
class _Case:
    """An example image: the model's log-probabilities at the first n steps, and its labels."""

    run: Run
    index: int  # in the split
    logits: Tensor  # [1, n + 1, m + 1]
    labels: Tensor  # [1, m]

    @property
    def n(self) -> int:
        return int(self.labels.sum())

    @property
    def cost(self) -> Tensor:
        """[n, m + 1] of -log P."""
        return -self.logits[0, : self.n].log_softmax(1)

    @property
    def predicted(self) -> list[int]:
        return self.logits[0, : self.n].argmax(1).tolist()

    def targets(self, order: str) -> list[int]:
        aligned = mla(self.logits, self.labels) if order == "mla" else pla(self.logits, self.labels)
        return aligned[0, : self.n].tolist()


def _cases(comparison: Comparison, methods: Sequence[str]) -> list[_Case]:
    cases = []
    for run in (run for method in methods for run in comparison.main(method)):
        judged, looked = run.predictions[comparison.split], run.examples
        if "logits" not in looked:
            continue
        place = {index: row for row, index in enumerate(judged["index"].tolist())}
        for row, index in enumerate(looked["index"].tolist()):
            if index not in place or index not in comparison.examples:
                continue
            labels = judged["truth"][place[index]].unsqueeze(0)
            n = int(labels.sum())
            if 2 < n < looked["logits"].shape[1] and n <= 7:
                cases.append(_Case(run, index, looked["logits"][row : row + 1, : n + 1], labels))
    return cases


def cost_figure(comparison: Comparison) -> Figure | None:
    """The cost matrix of an image; where the two alignments part, if they do for any example."""
    cases = _cases(comparison, ("mla", "pla"))
    if not cases:
        return None
    case = max(cases, key=_interest)
    names = comparison.vocabulary.names
    columns = [int(label) for label in case.labels[0].nonzero().squeeze(1)]
    order = case.targets("pla")
    columns.sort(key=order.index)
    with inked():
        figure = new_figure(3.6 + 1.25 * case.n, 1.5 + 0.52 * case.n)
        left, right = figure.subplots(1, 2, width_ratios=(2.6, 1.25 * case.n))
        left.imshow(Image.open(comparison.thumbnail(case.index)))
        left.axis("off")
        right.set(xlim=(-0.5, case.n - 0.5), ylim=(case.n - 0.5, -0.5))
        cost = case.cost
        for step in range(case.n):
            for place, label in enumerate(columns):
                value, hit = float(cost[step, label]), case.predicted[step] == label
                weight = "bold" if hit else "normal"
                right.text(place, step, f"{value:.2f}", ha="center", va="center", fontweight=weight, fontsize=10)
        for name, shrink, dash in (("mla", 0.08, "--"), ("pla", 0.02, "-")):
            for step, label in enumerate(case.targets(name)):
                corner = (columns.index(label) - 0.5 + shrink, step - 0.5 + shrink)
                side = 1 - 2 * shrink
                style = {"fill": False, "edgecolor": COLOURS[name], "linewidth": 2.0, "linestyle": dash}
                right.add_patch(Rectangle(corner, side, side, label=title(name) if step == 0 else None, **style))  # type: ignore[arg-type]
        right.set_xticks(range(case.n), [printable(names[label]) for label in columns], rotation=25, ha="left")
        wrote = [names[i] if i < len(names) else "(end)" for i in case.predicted]
        right.set_yticks(range(case.n), [f"step {t + 1}: {printable(word)}" for t, word in enumerate(wrote)])
        for tick in right.get_yticklabels():
            tick.set_fontweight("bold")
        right.tick_params(length=0, top=False, labeltop=True, labelbottom=False)
        for spine in right.spines.values():
            spine.set_visible(False)
        right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.02), ncols=2, frameon=False)
    return figure


def _interest(case: _Case) -> tuple[bool, int, bool, int]:
    """The alignments differ; the model has much right; it is MLA's own; there is much to see."""
    right = sum(label in case.targets("pla") for label in set(case.predicted))
    return case.targets("mla") != case.targets("pla"), right, case.run.method == "mla", case.n


def ordered_loss_figure(comparison: Comparison) -> Figure | None:
    """The same prediction under a fixed order and under PLA: what an imposed order costs although labels are right."""
    cases = _cases(comparison, ("pla",))
    if not cases:
        return None
    vocabulary = comparison.vocabulary
    frequent = make_order("frequent", vocabulary)

    def losses(case: _Case, targets: Sequence[int]) -> list[float]:
        return [float(case.cost[step, label]) for step, label in enumerate(targets)]

    def fixed(case: _Case) -> list[int]:
        found: list[int] = frequent(case.logits, case.labels)[0, : case.n].tolist()
        return found

    def gain(case: _Case) -> tuple[bool, int, float]:
        right = sum(bool(i < len(vocabulary) and case.labels[0, i]) for i in set(case.predicted))
        saved = sum(losses(case, fixed(case))) - sum(losses(case, case.targets("pla")))
        return saved > 0, right - case.n, saved

    case = max(cases, key=gain)
    names = [printable(name) for name in (*vocabulary.names, "(end)")]
    orders = {"frequent": fixed(case), "pla": case.targets("pla")}
    top = max(max(losses(case, targets)) for targets in orders.values())
    with inked():
        figure = new_figure(9.5, 1.6 + 0.34 * case.n)
        image, *panels = figure.subplots(1, 3, width_ratios=(1.1, 2, 2))
        image.imshow(Image.open(comparison.thumbnail(case.index)))
        image.axis("off")
        for axes, (name, targets) in zip(panels, orders.items(), strict=True):
            values = losses(case, targets)
            axes.barh(range(case.n), values, color=COLOURS[name], height=0.62)
            for step, value in enumerate(values):
                axes.text(value + 0.02 * top, step, f"{value:.2f}", va="center", fontsize=9)
            texts = [f"{names[p]} → {names[t]}" for p, t in zip(case.predicted, targets, strict=True)]
            axes.set_yticks(range(case.n), texts)
            axes.set(ylim=(case.n - 0.5, -0.5), xlim=(0, 1.18 * top if top else 1))
            axes.set_title(f"{title(name)}: {sum(values):.2f}", loc="left", fontsize=11, fontweight="bold")
            axes.tick_params(left=False)
            axes.set_xlabel("loss of the step, written → asked for", color=INK)
            for side in ("top", "right", "left"):
                axes.spines[side].set_visible(False)
    return figure


def alignments_differ(comparison: Comparison) -> bool:
    """Whether the two alignments part for any example image."""
    return any(case.targets("mla") != case.targets("pla") for case in _cases(comparison, ("mla", "pla")))
