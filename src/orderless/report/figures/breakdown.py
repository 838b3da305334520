"""Where methods are good: F1 by number of labels, by label frequency, by object size."""

from __future__ import annotations

from collections.abc import Callable

from matplotlib.figure import Figure

from orderless.evaluation import Band, by_frequency, by_label_count, by_object_size
from orderless.report.runs import Comparison, Run, title
from orderless.report.style import colour, inked, new_figure, tidy

Judge = Callable[[Run], list[Band]]


def breakdown_figure(comparison: Comparison) -> Figure | None:
    """One panel per question; a line per method, mean over seeds."""
    split, frequencies, areas = comparison.split, comparison.vocabulary.frequencies, comparison.areas

    def by_count(run: Run) -> list[Band]:
        judged = run.predictions[split]
        return by_label_count(judged["truth"], judged["predicted"], judged["ignore"])

    def by_rank(run: Run) -> list[Band]:
        judged = run.predictions[split]
        return by_frequency(
            judged["truth"], judged["predicted"], frequencies, judged["ignore"], min(4, len(frequencies))
        )

    def by_size(run: Run) -> list[Band]:
        judged = run.predictions[split]
        assert areas is not None
        return by_object_size(judged["truth"], judged["predicted"], areas[judged["index"]], judged["ignore"])

    panels: list[tuple[str, str, Judge]] = [
        ("By number of labels", "labels of the image", by_count),
        ("By label frequency", "training images of the label", by_rank),
    ]
    if areas is not None:
        panels.append(("By object size", "object's share of the image", by_size))
    methods = list(dict.fromkeys(run.method for run in comparison.runs))
    with inked():
        figure = new_figure(3.4 * len(panels), 3.7)
        grid = figure.subplots(1, len(panels), sharey=True)
        for axes, (heading, what, judge) in zip(grid, panels, strict=True):
            names: list[str] = []
            for method in methods:
                bands = [judge(run) for run in comparison.main(method)]  # the same for all: they follow from the truth
                names = [band.name for band in bands[0]]
                means = [100 * sum(band.F1 for band in same) / len(same) for same in zip(*bands, strict=True)]
                axes.plot(
                    range(len(means)), means, color=colour(method), label=title(method),
                    marker="o", markersize=3.5, linewidth=1.8,
                )  # fmt: skip
            tidy(axes, heading, what, "F1 in %" if axes is grid[0] else "")
            axes.set_xticks(range(len(names)), names)
            axes.tick_params(labelsize=8.5)
        handles, labels = grid[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=min(6, len(labels)), frameon=False)
    return figure
