"""Pictures of where the model looked: one panel per tag, in the order it wrote them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from PIL import Image

from orderless.results import Result


def heat_map(region: NDArray[np.float32], size: tuple[int, int]) -> NDArray[np.float32]:
    """Attention [rows, columns] as a smooth map of the photo's size (width, height), scaled to [0, 1]."""
    low, high = float(region.min()), float(region.max())
    scaled = (region - low) / (high - low) if high > low else np.zeros_like(region)
    smooth = Image.fromarray(scaled.astype(np.float32)).resize(size, Image.Resampling.BICUBIC)
    return np.clip(np.asarray(smooth, dtype=np.float32), 0.0, 1.0)


def attention_figure(image: Image.Image, result: Result, columns: int = 4) -> Figure:
    """The photo, then one panel per tag with its heat map."""
    panels = 1 + len(result.tags)
    columns = min(columns, panels)
    rows = -(-panels // columns)
    width, height = image.size
    figure = Figure(figsize=(3.0 * columns, 3.0 * rows * height / width + 0.35 * rows), dpi=110, layout="constrained")
    axes = np.atleast_1d(figure.subplots(rows, columns)).ravel()
    for axis in axes:
        axis.axis("off")
    axes[0].imshow(image)
    axes[0].set_title(Path(result.name).name, fontsize=10, color="#444444")
    for step, (axis, tag) in enumerate(zip(axes[1:], result.tags, strict=False), start=1):
        axis.imshow(image.convert("L"), cmap="gray", alpha=0.9)
        if tag.region is not None:
            heat = heat_map(tag.region, image.size)
            axis.imshow(heat, cmap="inferno", alpha=np.clip(0.15 + 0.6 * heat, 0, 0.75), vmin=0, vmax=1)
        axis.set_title(f"{step}. {tag.label}  {tag.score:.2f}", fontsize=11, fontweight="bold")
    return figure


def save_attention(image: Image.Image, result: Result, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    attention_figure(image, result).savefig(path)
