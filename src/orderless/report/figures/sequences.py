"""What frequent-first and PLA write for the same images, in their order; wrong and repeated labels are underlined."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import OffsetFrom
from PIL import Image

from orderless.report.html import picture, safe
from orderless.report.runs import Comparison, Run, title
from orderless.report.style import COLOURS, inked, new_figure
from orderless.text import printable

METHODS = ("frequent", "pla")
SHOWN = 6


@dataclass(frozen=True)
class Written:
    """One image: its labels, and for each method what it wrote, with a mark on what is wrong or repeated."""

    index: int
    truth: tuple[str, ...]
    lines: dict[str, tuple[tuple[str, bool], ...]]


def written(comparison: Comparison, count: int = SHOWN) -> list[Written]:
    """The example images on which the two methods differ most in faults, then others."""
    runs = {method: comparison.main(method)[0] for method in METHODS if comparison.main(method)}
    if not runs:
        return []
    sheets = [_sheet(comparison, runs, index) for index in comparison.examples]
    known = [sheet for sheet in sheets if sheet is not None]

    def faults(sheet: Written, method: str) -> int:
        return sum(wrong for _, wrong in sheet.lines.get(method, ()))

    # Where PLA does best against frequent-first, and one in three where it does worst: both are worth seeing.
    against = sorted(known, key=lambda sheet: faults(sheet, METHODS[1]) - faults(sheet, METHODS[0]))
    for_it = [sheet for sheet in reversed(against) if faults(sheet, METHODS[1]) > faults(sheet, METHODS[0])]
    others = for_it[: count // 3]
    chosen = [sheet for sheet in against if sheet not in others][: count - len(others)] + others
    return sorted(chosen, key=lambda sheet: sheet.index)


def _sheet(comparison: Comparison, runs: dict[str, Run], index: int) -> Written | None:
    names = comparison.vocabulary.names
    lines, truth = {}, ()
    for method, run in runs.items():
        judged = run.predictions[comparison.split]
        rows = (judged["index"] == index).nonzero().flatten().tolist()
        if not rows or "sequences" not in judged:
            return None
        ignored = set(judged["ignore"][rows[0]].nonzero().flatten().tolist())  # neither right nor wrong: not shown
        labels = set(judged["truth"][rows[0]].nonzero().flatten().tolist()) - ignored
        truth = tuple(names[label] for label in sorted(labels))
        seen: set[int] = set()
        line = []
        for label in judged["sequences"][rows[0]].tolist():
            if label >= 0 and label not in ignored:
                line.append((names[label], label not in labels or label in seen))
                seen.add(label)
        lines[method] = tuple(line)
    return Written(index, truth, lines)


def sequences_caption(comparison: Comparison) -> tuple[str, str]:
    """A heading and a note: who wrote, and how the images were chosen."""
    methods = [title(method) for method in METHODS if comparison.main(method)]
    note = "Above: the true labels; wrong or repeated ones are underlined. By the models of the first seed."
    if len(methods) < 2:
        return f"What {''.join(methods)} wrote", note
    chosen = "Chosen: where PLA does best against the fixed order, and for up to a third of them where it does worst."
    return f"The same images, written by {' and '.join(methods)}", f"{note} {chosen}"


def sequences_html(comparison: Comparison, sheets: list[Written]) -> str:
    """Cards for the page."""
    cards = []
    for sheet in sheets:
        columns = "".join(
            f"<div><b>{safe(title(method))}</b><ol>{''.join(_item(*part) for part in line)}</ol></div>"
            for method, line in sheet.lines.items()
        )
        truth = ", ".join(sheet.truth) or "no label"
        cards.append(
            f'<div class="photo card">{picture(comparison.thumbnail(sheet.index), truth)}'
            f'<div><p class="truth soft">{safe(truth)}</p><div class="pair">{columns}</div></div></div>'
        )
    return f'<div class="cards">{"".join(cards)}</div>'


def _item(label: str, wrong: bool) -> str:
    return f'<li><span class="wrong">{safe(label)}</span></li>' if wrong else f"<li>{safe(label)}</li>"


def sequences_figure(comparison: Comparison) -> Figure | None:
    """The same as a picture."""
    sheets = written(comparison)
    if not sheets:
        return None
    columns = 3
    rows = -(-len(sheets) // columns)
    longest = max((len(line) for sheet in sheets for line in sheet.lines.values()), default=1)
    with inked():
        figure = new_figure(4.0 * columns, rows * (2.1 + 0.2 * longest))
        FigureCanvasAgg(figure)
        grid = figure.subplots(2 * rows, columns, squeeze=False, height_ratios=[2.0, 0.35 + 0.2 * longest] * rows)
        for axes in grid.flat:
            axes.axis("off")
        for place, sheet in enumerate(sheets):
            image, text = (
                grid[2 * (place // columns)][place % columns],
                grid[2 * (place // columns) + 1][place % columns],
            )
            image.imshow(Image.open(comparison.thumbnail(sheet.index)))
            text.set(xlim=(0, 1), ylim=(longest + 1.2, 0))
            for column, (method, line) in enumerate(sheet.lines.items()):
                x = 0.04 + 0.5 * column
                text.text(x, 0.6, title(method), color=COLOURS[method], fontweight="bold", va="center")
                for step, (label, wrong) in enumerate(line):
                    _write(text, x, step + 1.6, f"{step + 1}. {printable(label)}", wrong)
    return figure


def _write(axes: Axes, x: float, y: float, words: str, wrong: bool) -> None:
    text = axes.text(x, y, words, va="center", fontsize=9)
    if not wrong:
        return
    text.set_color("#c0392b")
    # Where the text will be is not known before the layout: the line hangs on it, in points, as wide as the words.
    width = text.get_window_extent().width * 72 / axes.figure.dpi
    below: Any = OffsetFrom(text, (0, 0.5), unit="points")
    line = {"arrowstyle": "-", "color": "#c0392b", "linewidth": 1.3, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", (0, -5.5), (width, -5.5), xycoords=below, textcoords=below, arrowprops=line)
