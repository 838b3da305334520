"""Pictures of where the model looked: one panel per tag, in the order it wrote them; or one per step, for papers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from orderless.report.style import inked, save
from orderless.text import printable

if TYPE_CHECKING:
    from orderless.results import Result, Step

RUNNERS_UP = 2  # that have room under a panel


def heat_map(region: NDArray[np.float32], size: tuple[int, int]) -> NDArray[np.float32]:
    """Attention [rows, columns] as a smooth map of the photo's size (width, height), scaled to [0, 1]."""
    low, high = float(region.min()), float(region.max())
    scaled = (region - low) / (high - low) if high > low else np.zeros_like(region)
    smooth = Image.fromarray(scaled.astype(np.float32)).resize(size, Image.Resampling.BICUBIC)
    return np.clip(np.asarray(smooth, dtype=np.float32), 0.0, 1.0)


def overlaid(image: Image.Image, region: NDArray[np.float32] | None) -> Image.Image:
    """The photo in grey under a warm map of the attention; without attention the grey photo."""
    grey = np.asarray(image.convert("L"), dtype=np.float32)[..., None] / 255
    if region is None:
        return Image.fromarray(np.uint8(255 * grey[..., 0]))
    heat = heat_map(region, image.size)  # [height, width]
    warm = colormaps["inferno"](heat)[..., :3]
    share = np.clip(0.15 + 0.6 * heat, 0, 0.75)[..., None]
    return Image.fromarray(np.uint8(255 * (grey * (1 - share) + warm * share)))


def attention_figure(image: Image.Image, result: Result, columns: int = 4) -> Figure:
    """The photo, then one panel per tag with its heat map."""
    figure, axes = _panels(image, 1 + len(result.tags), columns, note=0.0)
    axes[0].imshow(image)
    axes[0].set_title(printable(Path(result.name).name), fontsize=10, color="#444444")
    for number, (axis, tag) in enumerate(zip(axes[1:], result.tags, strict=False), start=1):
        _show(axis, overlaid(image, tag.region))
        axis.set_title(f"{number}. {printable(tag.label)}  {tag.score:.2f}", fontsize=11, fontweight="bold")
    return figure


def save_attention(image: Image.Image, result: Result, path: Path) -> None:
    with inked():
        save(attention_figure(image, result), path)


def steps_figure(image: Image.Image, result: Result, columns: int = 4) -> Figure:
    """The photo, then every step: what it wrote and how surely, where it looked, and what else it considered."""
    figure, axes = _panels(image, 1 + len(result.steps), columns, note=0.2 * RUNNERS_UP)
    axes[0].imshow(image)
    axes[0].set_title("photo")
    written: set[str] = set()
    for number, (axis, step) in enumerate(zip(axes[1:], result.steps, strict=False), start=1):
        _show(axis, overlaid(image, step.region))
        again = " (again)" if step.label in written else ""
        axis.set_title(f"{number}. {_token(step.label)}{again}  {step.probability:.2f}", fontweight="bold")
        _write_runners_up(axis, step)
        written.add(step.label or "")
    return figure


def save_steps(image: Image.Image, result: Result, path: Path) -> None:
    """As PNG, SVG or PDF, by the suffix; text stays text."""
    with inked(path.stem):
        save(steps_figure(image, result), path)


def _panels(image: Image.Image, count: int, columns: int, note: float) -> tuple[Figure, list[Axes]]:
    """Empty panels of the photo's shape, `note` inches of room under each."""
    columns = min(columns, count)
    rows = -(-count // columns)
    tall = 3.0 * min(4.0, image.height / image.width)  # a photo one pixel wide would make a figure of a kilometre
    figure = Figure(figsize=(3.0 * columns, (tall + 0.35 + note) * rows), dpi=110, layout="constrained")
    axes = list(np.atleast_1d(figure.subplots(rows, columns)).ravel())
    for axis in axes:
        axis.axis("off")
    return figure, axes


def _show(axis: Axes, picture: Image.Image) -> None:
    axis.imshow(picture, cmap="gray", vmin=0, vmax=255)


def _write_runners_up(axis: Axes, step: Step) -> None:
    lines = [f"{_token(label)}  {probability:.2f}" for label, probability in step.runners_up[:RUNNERS_UP]]
    axis.text(
        0.5, -0.02, "\n".join(lines), transform=axis.transAxes, ha="center", va="top", fontsize=8.5, color="#666666"
    )


def _token(label: str | None) -> str:
    return "end" if label is None else printable(label)
