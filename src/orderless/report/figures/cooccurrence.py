"""Which labels are put together too often or too seldom: prediction minus truth, BCE and PLA side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, TwoSlopeNorm, to_rgb
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, leaves_list, linkage
from torch import Tensor

from orderless.evaluation import cooccurrence_difference, cooccurrence_matrix
from orderless.report.runs import Comparison, title
from orderless.report.style import INK, inked, new_figure
from orderless.text import printable

MOST_GROUPS = 8
NAMED = 45  # labels whose names fit beside a matrix
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
    order = [index for members in label_groups(comparison).values() for index in members]
    return _figure(comparison, {"": order})


def group_figure(comparison: Comparison) -> Figure | None:
    """The parts of the matrices inside each group, those with most wrong pairs first."""
    matrices = [m for m in (differences(comparison, method) for method in ("bce", "pla")) if m is not None]

    def wrong(members: list[int]) -> float:
        return sum(float(matrix[members][:, members].abs().sum()) for matrix in matrices)

    groups = {name: members for name, members in label_groups(comparison).items() if len(members) > 1}
    chosen = sorted(groups, key=lambda name: -wrong(groups[name]))[:MOST_GROUPS]
    return _figure(comparison, {name: groups[name] for name in chosen}) if chosen else None


def _figure(comparison: Comparison, blocks: dict[str, list[int]]) -> Figure | None:
    found = {method: differences(comparison, method) for method in ("bce", "pla")}
    matrices = {method: matrix for method, matrix in found.items() if matrix is not None}
    if not matrices:
        return None
    names = [printable(name) for name in comparison.vocabulary.names]
    # A matrix, then its names below and its title above.
    sizes = [min(3.3, 0.36 * len(members)) + 1.15 for members in blocks.values()]
    with inked():
        figure = new_figure(4.9 * len(matrices), sum(sizes))
        grid = figure.subplots(len(blocks), len(matrices), squeeze=False, height_ratios=sizes)
        for row, (group, members) in enumerate(blocks.items()):
            parts = {m: matrix[members][:, members] for m, matrix in matrices.items()}
            most = max(1.0, *(float(part.abs().max()) for part in parts.values()))  # one scale for the whole row
            for axes, (method, part) in zip(grid[row], parts.items(), strict=True):
                wrong = float(part.abs().sum()) / 2
                heading = f"{printable(group)} · {title(method)}" if group else title(method)
                _matrix(axes, part, [names[i] for i in members], most)
                axes.set_title(f"{heading}: {wrong:,.0f} wrong pairs", loc="left", fontsize=10, fontweight="bold")
    return figure


def _matrix(axes: Axes, part: Tensor, names: Sequence[str], most: float) -> None:
    values = part.numpy().copy()
    np.fill_diagonal(values, np.nan)
    ramp = LinearSegmentedColormap.from_list(
        "wrong", [(*to_rgb(TOO_FEW), 1), (*to_rgb(INK), 0.02), (*to_rgb(TOO_MANY), 1)]
    )
    mesh = axes.pcolormesh(
        values, cmap=ramp, norm=TwoSlopeNorm(0, -most, most), edgecolors=(0.5, 0.5, 0.5, 0.12), linewidth=0.3
    )
    axes.set_aspect("equal")
    axes.invert_yaxis()
    axes.tick_params(length=0, labelsize=7.5)
    places = [i + 0.5 for i in range(len(names))] if len(names) <= NAMED else []
    shown = list(names) if places else []
    axes.set_xticks(places, shown, rotation=90)
    axes.set_yticks(places, shown)
    for spine in axes.spines.values():
        spine.set_visible(False)
    if len(names) <= 12:
        for i in range(len(names)):
            for j in range(len(names)):
                if i != j and abs(values[i, j]) >= 0.5:
                    axes.text(j + 0.5, i + 0.5, f"{values[i, j]:+.0f}", ha="center", va="center", fontsize=7.5)
    bar = axes.figure.colorbar(mesh, ax=axes, shrink=0.7, aspect=18)
    bar.outline.set_visible(False)
    bar.ax.tick_params(length=0, labelsize=7.5)
