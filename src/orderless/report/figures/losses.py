"""Loss curves of all orders in one plot (the paper's loss figure), and how the validation metric grows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from orderless.methods import METHODS
from orderless.report.runs import Comparison, Run, title
from orderless.report.style import colour, inked, new_figure, tidy


def loss_figure(comparison: Comparison, metric: str = "OF1") -> Figure | None:
    """Left: training loss of the orders, which share one scale. Right: a validation metric of every method."""
    methods = list(dict.fromkeys(run.method for run in comparison.runs))
    curves = {method: comparison.main(method) for method in methods}
    if not any(run.rows for runs in curves.values() for run in runs):
        return None
    with inked():
        figure = new_figure(9.5, 4.0)
        left, right = figure.subplots(1, 2)
        for method, runs in curves.items():
            if METHODS[method].head == "sequence":
                _curve(left, runs, "loss", 1)
            _curve(right, runs, metric, 100)
        tidy(left, "Training loss by order", "epoch", "cross-entropy per label")
        tidy(right, f"{metric} on the validation split", "epoch", f"{metric} in %")
        for axes in (left, right):
            if axes.lines:
                axes.legend(frameon=False, fontsize=8.5)
            axes.xaxis.get_major_locator().set_params(integer=True)
    return figure


def _curve(axes: Axes, runs: Sequence[Run], column: str, scale: float) -> None:
    """Mean over seeds, with a band of one standard deviation."""
    series = [[scale * float(row[column]) for row in run.rows if column in row and row[column] != ""] for run in runs]
    length = min((len(values) for values in series), default=0)  # an early stop makes one shorter
    if not length:
        return
    values = np.array([row[:length] for row in series])  # [seeds, epochs]
    epochs = np.arange(1, length + 1)
    tone, middle = colour(runs[0].method), values.mean(0)
    marker = "o" if length < 25 else None
    axes.plot(epochs, middle, color=tone, label=title(runs[0].method), linewidth=2, marker=marker, markersize=3)
    if len(values) > 1:
        spread = values.std(0, ddof=1)
        axes.fill_between(epochs, middle - spread, middle + spread, color=tone, alpha=0.14, linewidth=0)
