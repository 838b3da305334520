"""Learning curves of several runs in one picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from orderless.methods import METHODS
from orderless.report.style import colour, new_figure, tidy

Rows = Sequence[Mapping[str, Any]]  # of a metrics.csv


def curves_figure(runs: Mapping[str, Rows], sequence_methods: Sequence[str], metric: str = "OF1") -> Figure:
    """Left: the training loss of the sequence methods, which share one scale; right: a validation metric of all."""
    figure = new_figure(9.5, 3.8)
    left, right = figure.subplots(1, 2)
    for method, rows in runs.items():
        own = [row for row in rows if row["stage"] == rows[-1]["stage"]]
        epochs = [row["epoch"] for row in own]
        style = {"color": colour(method), "label": method, "linewidth": 2.2, "marker": "o", "markersize": 3.5}
        if method in sequence_methods:
            left.plot(epochs, [row["loss"] for row in own], **style)
        right.plot(epochs, [100 * row[metric] for row in own], **style)
    alike = all(METHODS[method].head == "sequence" for method in sequence_methods)
    heading = "training loss by order" if len(runs) > 1 else "training loss"
    tidy(left, heading, "epoch", "cross-entropy per label" if alike else "loss")
    tidy(right, f"{metric} on the validation split", "epoch", f"{metric} in %")
    for axes in (left, right):
        axes.legend(frameon=False)
    return figure
