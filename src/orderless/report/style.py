"""One look for every figure."""

from __future__ import annotations

from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.figure import Figure

COLOURS = {
    "bce": "#7f7f7f",
    "random": "#bcbd22",
    "frequent": "#1f77b4",
    "rare": "#17becf",
    "dictionary": "#9467bd",
    "mla": "#ff7f0e",
    "pla": "#d62728",
}
_SPARE = ("#2ca02c", "#8c564b", "#e377c2", "#393b79", "#637939")


def colour(method: str) -> str:
    """The same colour for a method in every figure."""
    return COLOURS.get(method) or _SPARE[sum(map(ord, method)) % len(_SPARE)]


def new_figure(width: float, height: float) -> Figure:
    return Figure(figsize=(width, height), dpi=130, layout="constrained")


def tidy(axes: Axes, title: str, xlabel: str, ylabel: str) -> None:
    """Light grid, no box, labels."""
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.grid(True, color="#e6e6e6", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def save(figure: Figure, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)
