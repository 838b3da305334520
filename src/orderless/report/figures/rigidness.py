"""Which pairs of labels PLA writes in one order, and which in any."""

from __future__ import annotations

from matplotlib.figure import Figure

from orderless.evaluation import order_rigidness
from orderless.report.runs import Comparison
from orderless.report.style import COLOURS, inked, new_figure
from orderless.text import printable

PAIRS = 12
OFTEN = 8  # images that hold both labels: fewer say little about an order


def rigidness_figure(comparison: Comparison, method: str = "pla") -> Figure | None:
    """Left: the pairs that come in either order; right: those that come in one. Of the first seed's model."""
    runs = comparison.main(method)
    if not runs or "sequences" not in runs[0].predictions[comparison.split]:
        return None
    names = [printable(name) for name in comparison.vocabulary.names]
    before = order_rigidness(runs[0].predictions[comparison.split]["sequences"], len(names)).before
    pairs = []
    for i in range(len(names)):
        for j in range(i + 1, len(names)):
            there, back = int(before[i, j]), int(before[j, i])
            if there + back >= OFTEN:
                first, second = (i, j) if there >= back else (j, i)
                pairs.append((max(there, back) / (there + back), there + back, first, second))
    if not pairs:
        return None
    free = sorted(pairs, key=lambda pair: (pair[0], -pair[1]))
    panels = {"Pairs of labels": free}
    if len(pairs) > 3:
        half = min(PAIRS, len(pairs) // 2)
        free = [pair for pair in free[:half] if pair[0] < 1]
        fixed = sorted(set(pairs) - set(free), key=lambda pair: (-pair[0], -pair[1], pair[2:]))[:half]
        panels = {"The freest pairs": free, "The most fixed pairs": fixed}
        panels = {heading: chosen for heading, chosen in panels.items() if chosen}
    longest = max(map(len, panels.values()))
    with inked():
        figure = new_figure(9.5, 1.1 + 0.27 * longest)
        grid = figure.subplots(1, len(panels), squeeze=False)[0]
        for axes, (heading, chosen) in zip(grid, panels.items(), strict=True):
            for place, (share, count, *_) in enumerate(chosen):
                axes.barh(place, 100 * share, color=COLOURS[method], height=0.7)
                axes.barh(place, 100 - 100 * share, left=100 * share, color=COLOURS[method], alpha=0.28, height=0.7)
                axes.text(101.5, place, f"{count}", va="center", fontsize=8)
            axes.set_yticks(range(len(chosen)), [f"{names[i]} → {names[j]}" for *_, i, j in chosen])
            axes.set(xlim=(0, 110), ylim=(longest - 0.4, -0.6))
            axes.axvline(50, color="#808080", linewidth=0.8, linestyle=":")
            axes.set_xticks([0, 50, 100], ["0", "50", "100 %"])
            axes.tick_params(left=False, labelsize=8.5)
            axes.set_title(heading, loc="left", fontsize=11, fontweight="bold")
            for side in ("top", "right", "left"):
                axes.spines[side].set_visible(False)
    return figure
