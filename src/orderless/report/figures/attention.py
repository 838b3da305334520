"""Where a model looked at every step, on some images."""

from __future__ import annotations

import base64
import io

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from orderless.report.attention import overlaid
from orderless.report.html import jpeg, picture, safe
from orderless.report.runs import Comparison, Run
from orderless.report.style import inked, new_figure
from orderless.results import grid_shape
from orderless.text import printable

SHOWN = 4
PREFERRED = ("pla", "mla", "frequent", "rare", "dictionary", "random", "order-free")
SIDE = 200  # pixels of a step's picture on the page

Steps = list[tuple[str, NDArray[np.float32]]]  # label and attention [rows, columns]


def attended(comparison: Comparison, count: int = SHOWN) -> dict[int, Steps]:
    """Example images with what was written and where the model looked; empty if no run has attention."""
    run = with_attention(comparison)
    if run is None:
        return {}
    names, looked = comparison.vocabulary.names, run.examples
    found: dict[int, Steps] = {}
    for row, index in enumerate(looked["index"].tolist()):
        steps = []
        for step, label in enumerate(looked["sequence"][row].tolist()):
            if label >= 0:
                weights = looked["attention"][row, step]
                steps.append((names[label], weights.reshape(grid_shape(len(weights))).numpy()))
        if steps and index in comparison.examples:
            found[index] = steps
    richest = sorted(found, key=lambda index: (-min(len(found[index]), 5), index))[:count]
    return {index: found[index] for index in sorted(richest)}


def with_attention(comparison: Comparison) -> Run | None:
    """The first run that looked anywhere: PLA's, if it did."""
    for method in PREFERRED:
        for run in comparison.of(method):
            if "attention" in run.examples:
                return run
    return None


def attention_html(comparison: Comparison, found: dict[int, Steps]) -> str:
    """A row of pictures for every image: the photo, then each step."""
    rows = []
    for index, steps in found.items():
        cells = [f"<div>{picture(comparison.thumbnail(index), 'photo')}photo</div>"]
        image = Image.open(comparison.thumbnail(index)).convert("RGB")
        for number, (label, region) in enumerate(steps, start=1):
            cells.append(f"<div>{jpeg(_encoded(overlaid(image, region)), label)}{number}. {safe(label)}</div>")
        rows.append(f'<div class="steps">{"".join(cells)}</div>')
    return "".join(rows)


def attention_figure(comparison: Comparison) -> Figure | None:
    """The same as a picture."""
    found = attended(comparison)
    if not found:
        return None
    columns = 1 + max(len(steps) for steps in found.values())
    with inked():
        figure = new_figure(1.9 * columns, 2.15 * len(found))
        grid = figure.subplots(len(found), columns, squeeze=False)
        for axes in grid.flat:
            axes.axis("off")
        for row, (index, steps) in zip(grid, found.items(), strict=True):
            image = Image.open(comparison.thumbnail(index)).convert("RGB")
            row[0].imshow(image)
            for number, (axes, (label, region)) in enumerate(zip(row[1:], steps, strict=False), start=1):
                axes.imshow(overlaid(image, region))
                axes.set_title(f"{number}. {printable(label)}", fontsize=10)
    return figure


def _encoded(image: Image.Image) -> str:
    image = image.copy()
    image.thumbnail((SIDE, SIDE))
    memory = io.BytesIO()
    image.save(memory, "JPEG", quality=80)
    return base64.b64encode(memory.getvalue()).decode()
