"""How often MLA punishes a right prediction in training, by label."""

from __future__ import annotations

from matplotlib.figure import Figure

from orderless.report.runs import Comparison
from orderless.report.style import COLOURS, inked, new_figure, tidy
from orderless.text import printable

MOST = 20


def penalisation_figure(comparison: Comparison) -> Figure | None:
    """The labels that are punished most, in the last epoch of training, all seeds together."""
    rates = {label: 100 * rate for label, rate in comparison.punished().items()}
    if not rates:
        return None
    most = sorted(rates, key=lambda label: -rates[label])[:MOST]
    with inked():
        figure = new_figure(9.5, 3.2)
        axes = figure.subplots()
        axes.bar(range(len(most)), [rates[label] for label in most], color=COLOURS["mla"], width=0.72)
        tidy(axes, "Right predictions that MLA punished", "", "% of the label's right predictions")
        axes.set_xticks(range(len(most)), [printable(label) for label in most], rotation=40, ha="right")
        axes.grid(False, axis="x")
        axes.set_ylim(bottom=0, top=max(1.0, 1.1 * max(rates.values())))
        axes.set_xlim(-0.6, max(len(most), 8) - 0.4)
    return figure
