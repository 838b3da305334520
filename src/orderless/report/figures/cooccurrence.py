"""Which labels are put together too often or too seldom: prediction minus truth, BCE and PLA side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, leaves_list, linkage
from torch import Tensor

from orderless.evaluation import cooccurrence_difference, cooccurrence_matrix
from orderless.report.runs import Comparison, title
from orderless.report.style import inked, new_figure
from orderless.text import printable

MOST_GROUPS = 8
NAMED = 30  # labels whose names fit beside a matrix
LONGEST = 18  # characters of a name
NUMBERED = 12  # labels whose numbers fit into its cells
TOO_MANY, TOO_FEW = "#c0392b", "#2471a3"


def label_groups(comparison: Comparison) -> dict[str, list[int]]:
    """The labels by super-category if the data has them, else by clusters of what comes together in truth."""
    vocabulary = comparison.vocabulary
    groups: dict[str, list[int]] = {}
    if vocabulary.groups:
        for index, group in enumerate(vocabulary.groups):
            groups.setdefault(group or "other", []).append(index)
        return groups
    tree = _tree(comparison.runs[0].predictions[comparison.split]["truth"])
    if tree is None:
        return {"all": list(range(len(vocabulary)))}
    cluster = fcluster(tree, max(2, len(vocabulary) // 6), "maxclust")
    rank = sorted(leaves_list(tree).tolist(), key=lambda i: (int(cluster[i]),))
    for number in dict.fromkeys(int(cluster[i]) for i in rank):
        members = [i for i in rank if cluster[i] == number]
        chief = max(members, key=lambda i: vocabulary.frequencies[i])
        groups[f"around {vocabulary.names[chief]}"] = members
    return groups


def _tree(truth: Tensor) -> NDArray[np.float64] | None:
    """Labels are near each other if they share many of their images."""
    if truth.shape[1] < 4:
        return None
    together = cooccurrence_matrix(truth).double()
    own = truth.sum(0).double()
    either = own[:, None] + own[None, :] - together
    distance = 1 - together / either.clamp(min=1)
    upper = torch.triu_indices(len(own), len(own), offset=1)
    tree: NDArray[np.float64] = linkage(distance[upper[0], upper[1]].numpy(), "average")
    return tree


def differences(comparison: Comparison, method: str) -> Tensor | None:
    """[labels, labels] prediction minus truth in images, mean over seeds."""
    found = []
    for run in comparison.main(method):
        judged = run.predictions[comparison.split]
        found.append(cooccurrence_difference(judged["predicted"], judged["truth"], judged["ignore"]).double())
    return torch.stack(found).mean(0) if found else None


def cooccurrence_figure(comparison: Comparison) -> Figure | None:
    """The whole matrices, labels arranged by group."""
    matrices = _matrices(comparison)
    if not matrices:
        return None
    order = [index for members in label_groups(comparison).values() for index in members]
    names = [_short(comparison.vocabulary.names[i]) for i in order]
    with inked():
        figure = new_figure(4.9 * len(matrices), min(3.3, 0.36 * len(order)) + 1.2)
        grid = figure.subplots(1, len(matrices), squeeze=False)[0]
        _row(grid, matrices, order, names, "")
        bar = figure.colorbar(grid[0].collections[0], ax=list(grid), shrink=0.6, aspect=20)
        bar.outline.set_visible(False)
        bar.ax.tick_params(length=0, labelsize=7.5)
    return figure


def group_figure(comparison: Comparison) -> Figure | None:
    """The parts of the matrices inside each group, those with most wrong pairs first; two groups in a row."""
    matrices = _matrices(comparison)

    def wrong(members: list[int]) -> float:
        return sum(float(matrix[members][:, members].abs().sum()) for matrix in matrices.values())

    groups = {name: members for name, members in label_groups(comparison).items() if wrong(members)}
    chosen = sorted(groups, key=lambda name: -wrong(groups[name]))[:MOST_GROUPS]
    if not chosen or not matrices:
        return None
    columns = min(2, len(chosen))
    rows = -(-len(chosen) // columns)
    side = 0.115 * max(min(len(groups[name]), NAMED) for name in chosen)  # inches that the names of a matrix take
    names = [_short(name) for name in comparison.vocabulary.names]
    with inked():
        figure = new_figure(max(2.7, side + 1.3) * columns * len(matrices), max(2.75, side + 1.4) * rows)
        grid = figure.subplots(rows, columns * len(matrices), squeeze=False)
        for axes in grid.flat:
            axes.axis("off")
        for place, group in enumerate(chosen):
            members, start = groups[group], place % columns * len(matrices)
            part = grid[place // columns][start : start + len(matrices)]
            _row(part, matrices, members, [names[i] for i in members], _short(group))
    return figure


def _short(name: str) -> str:
    return printable(name if len(name) <= LONGEST else name[: LONGEST - 1] + "…")


def _matrices(comparison: Comparison) -> dict[str, Tensor]:
    found = {method: differences(comparison, method) for method in ("bce", "pla")}
    return {method: matrix for method, matrix in found.items() if matrix is not None}


def _row(grid: Sequence[Axes], matrices: dict[str, Tensor], members: list[int], names: list[str], group: str) -> None:
    """The same part of every matrix, on one scale."""
    parts = {method: matrix[members][:, members] for method, matrix in matrices.items()}
    most = max(1.0, *(float(part.abs().max()) for part in parts.values()))
    for axes, (method, part) in zip(grid, parts.items(), strict=True):
        wrong = float(part.abs().sum()) / 2
        _matrix(axes, part, names, most)
        heading = f"{group} · {title(method)}: {wrong:,.0f}" if group else f"{title(method)}: {wrong:,.0f} wrong pairs"
        axes.set_title(heading, loc="left", fontsize=9.5, fontweight="bold")


def _matrix(axes: Axes, part: Tensor, names: Sequence[str], most: float) -> None:
    values = part.numpy().copy()
    np.fill_diagonal(values, np.nan)
    few, many = to_rgb(TOO_FEW), to_rgb(TOO_MANY)
    stops = [(0.0, (*few, 1.0)), (0.5, (*few, 0.0)), (0.5, (*many, 0.0)), (1.0, (*many, 1.0))]
    ramp = LinearSegmentedColormap.from_list("wrong", stops)
    axes.axis("on")
    axes.pcolormesh(values, cmap=ramp, vmin=-most, vmax=most, edgecolors=(0.5, 0.5, 0.5, 0.15), linewidth=0.3)
    axes.set_aspect("equal")
    axes.invert_yaxis()
    axes.tick_params(length=0, labelsize=7.5)
    places = [i + 0.5 for i in range(len(names))] if len(names) <= NAMED else []
    shown = list(names) if places else []
    axes.set_xticks(places, shown, rotation=90)
    axes.set_yticks(places, shown)
    for spine in axes.spines.values():
        spine.set_visible(False)
    if len(names) <= NUMBERED:
        for i in range(len(names)):
            for j in range(len(names)):
                if i != j and round(values[i, j]):
                    axes.text(j + 0.5, i + 0.5, f"{values[i, j]:+.0f}", ha="center", va="center", fontsize=7.5)
