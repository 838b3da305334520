"""One look for every figure."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from pathlib import Path
from typing import Any

import matplotlib
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
    "joint": "#2ca02c",
    "asl": "#8c564b",
    "ml-decoder": "#e377c2",
    "order-free": "#393b79",
    "sr-cnn-rnn": "#637939",
    "lsep": "#d6a300",
}


def colour(method: str) -> str:
    """The same colour for a method in every figure."""
    return COLOURS[method]


def new_figure(width: float, height: float) -> Figure:
    return Figure(figsize=(width, height), dpi=130, layout="constrained")


def tidy(axes: Axes, title: str, xlabel: str, ylabel: str) -> None:
    """Light grid, no box, labels."""
    axes.set_title(title, loc="left", fontsize=11, fontweight="bold")
    axes.set_xlabel(xlabel)
    axes.set_ylabel(ylabel)
    axes.grid(True, color="#808080", alpha=0.18, linewidth=0.8)  # light on paper, and on a dark page
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def save(figure: Figure, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


INK = "#010203"  # nearly black on paper; on a page it stands for the page's own text colour
_INKED: dict[Any, Any] = {
    "font.family": "sans-serif", "font.size": 9.5, "text.parse_math": False,  # a label may hold a dollar sign
    "text.color": INK, "axes.edgecolor": INK, "axes.labelcolor": INK, "xtick.color": INK, "ytick.color": INK,
    "axes.linewidth": 0.6, "svg.fonttype": "none",
}  # fmt: skip


@contextmanager
def inked(key: str = "") -> Iterator[None]:
    """Draw and save in here what should look right on paper and on a page, light or dark."""
    with matplotlib.rc_context({**_INKED, "svg.hashsalt": key or "orderless"}), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")  # a reader's machine may have more letters
        yield


def save_both(figure: Figure, folder: Path, key: str) -> str:
    """As PNG and as SVG; returns the SVG."""
    memory = io.StringIO()
    with inked(key):
        save(figure, folder / f"{key}.png")
        figure.savefig(memory, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    (folder / f"{key}.svg").write_text(memory.getvalue(), encoding="utf-8")
    return memory.getvalue()


def inline_svg(svg: str, description: str) -> str:
    """For a page: without a size of its own, in the page's text colour."""
    head, rest = svg[svg.index("<svg") :].replace(INK, "currentColor").split(">", 1)
    view = head[head.index("viewBox=") :].split('"')[1]
    rest = rest.replace("'sans-serif'", "sans-serif")  # in quotes it would name a font
    return (
        f'<svg role="img" aria-label="{escape(description)}" viewBox="{view}" '
        f'xmlns:xlink="http://www.w3.org/1999/xlink">{rest}'
    )
