"""Plots of a data set as SVG that takes its text colour from the page, for light and dark."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from orderless.text import printable

SPLIT_COLOURS = {"train": "#2a9d8f", "val": "#e9a23b", "test": "#b5588f"}
ACCENT = SPLIT_COLOURS["train"]
_INK = "#010203"  # stands for the page's own text colour


def _svg(draw: Callable[[Any], None], size: tuple[float, float], description: str) -> str:
    """Draw into an axes and return inline SVG without fixed size."""
    # Imported late: only the page needs it. The figure is made without pyplot, which keeps global state.
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    style: dict[Any, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": description,
        "font.family": "sans-serif",
        "font.size": 9,
        "text.color": _INK,
        "axes.edgecolor": _INK,
        "axes.labelcolor": _INK,
        "xtick.color": _INK,
        "ytick.color": _INK,
        "axes.linewidth": 0.5,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "text.parse_math": False,  # a label may hold a dollar sign
    }
    with matplotlib.rc_context(style), warnings.catch_warnings():
        # The reader's browser draws the letters, and it has more of them.
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure.add_subplot())
        memory = io.StringIO()
        figure.savefig(memory, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    svg = memory.getvalue()
    svg = svg[svg.index("<svg") :].replace(_INK, "currentColor")
    # The page's own font instead of a list of fonts that the reader may not have.
    svg = svg.replace("font: 9px 'sans-serif'", "font: 9px sans-serif")
    head, rest = svg.split(">", 1)
    view = head[head.index("viewBox=") :].split('"')[1]
    return (
        f'<svg role="img" aria-label="{description}" viewBox="{view}" xmlns:xlink="http://www.w3.org/1999/xlink">{rest}'
    )


def cardinality_plot(histogram: Mapping[str, int]) -> str:
    """How many images have how many labels."""
    counts = {int(k): n for k, n in histogram.items()}
    last = min(max(counts, default=0), 24)
    values = [counts.get(k, 0) for k in range(last)] + [sum(n for k, n in counts.items() if k >= last)]
    ticks = [str(k) for k in range(last)] + [str(last) if max(counts, default=0) == last else f"{last}+"]

    def draw(axes: Any) -> None:
        axes.bar(range(last + 1), values, color=ACCENT, width=0.82)
        step = 1 if last < 13 else 2
        axes.set_xticks(range(0, last + 1, step), ticks[::step])
        axes.set_xlabel("labels per image")
        axes.set_ylabel("images")
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.yaxis.get_major_locator().set_params(integer=True, nbins=5)

    return _svg(draw, (4.4, 2.6), "Number of images by number of labels")


def frequency_plot(counts: Sequence[int], rare: int) -> str:
    """Labels from the most to the least frequent in training: the long tail."""

    def draw(axes: Any) -> None:
        ordered = sorted(counts, reverse=True)
        axes.plot(range(1, len(ordered) + 1), ordered, color=ACCENT, marker="o", markersize=3, linewidth=1.2)
        if min(ordered) < rare * 3:
            axes.axhline(rare, color=SPLIT_COLOURS["val"], linewidth=1, linestyle=(0, (4, 3)))
            axes.text(1, rare, "rare", color=SPLIT_COLOURS["val"], va="bottom", fontsize=8)
        if min(ordered) > 0 and max(ordered) > 20 * min(ordered):
            axes.set_yscale("log")
        else:
            axes.set_ylim(bottom=0)
            axes.yaxis.get_major_locator().set_params(integer=True)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.xaxis.get_major_locator().set_params(integer=True)
        axes.set_xlabel("labels, most frequent first")
        axes.set_ylabel("training images")

    return _svg(draw, (4.4, 2.6), "Training images of each label, most frequent first")


def cooccurrence_plot(names: Sequence[str], matrix: Sequence[Sequence[int]], limit: int = 20) -> str:
    """Of the images with the row's label, the share that has the column's label too."""
    names = [printable(name if len(name) <= 18 else name[:17] + "…") for name in names[:limit]]
    count = len(names)
    shares = [
        [matrix[i][j] / matrix[i][i] if i != j and matrix[i][i] else float("nan") for j in range(count)]
        for i in range(count)
    ]

    def draw(axes: Any) -> None:
        from matplotlib.colors import LinearSegmentedColormap, to_rgb

        tone = to_rgb(ACCENT)
        ramp = LinearSegmentedColormap.from_list("accent", [(*tone, 0.0), (*tone, 1.0)])
        mesh = axes.pcolormesh(shares, cmap=ramp, vmin=0, vmax=1, edgecolors=(*tone, 0.12), linewidth=0.4)
        axes.set_aspect("equal")
        axes.invert_yaxis()
        places = [i + 0.5 for i in range(count)]
        axes.set_xticks(places, names, rotation=90)
        axes.set_yticks(places, names)
        axes.tick_params(length=0, labelsize=8)
        axes.xaxis.tick_top()
        for spine in axes.spines.values():
            spine.set_visible(False)
        bar = axes.figure.colorbar(mesh, ax=axes, shrink=0.5, aspect=16, format=lambda value, _: f"{value:.0%}")
        bar.outline.set_visible(False)
        bar.solids.set(edgecolor="none", alpha=None)

    side = 2.2 + 0.23 * count
    return _svg(draw, (side + 0.6, side), "Share of images with the row's label that have the column's label too")
