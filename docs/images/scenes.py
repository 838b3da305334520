"""Draws `scenes.png` beside this file: 24 generated scenes with their labels.

python docs/images/scenes.py
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont

from orderless.data.scenes import SceneSample, scenes

COLUMNS, ROWS, SIZE, GAP, TEXT = 6, 4, 172, 10, 34
PAPER, INK = (250, 248, 243), (62, 58, 66)


def diverse(candidates: list[SceneSample], count: int) -> list[SceneSample]:
    """Pick one scene after another, each time the one that shows most of what has been shown least."""
    shown: Counter[str] = Counter()
    chosen: list[SceneSample] = []
    left = [sample for sample in candidates if 2 <= len(sample.labels) <= 6 and min(sample.areas) > 0.003]
    for _ in range(count):
        best = max(left, key=lambda s: sum(0.3 ** shown[x] for x in s.labels) + 2 * 0.5 ** shown[s.scene().setting])
        left.remove(best)
        chosen.append(best)
        shown.update((*best.labels, best.scene().setting))
    return chosen


def main() -> None:
    samples = [s for s in scenes(train=0, val=400, test=0, size=SIZE)["val"] if isinstance(s, SceneSample)]
    chosen = sorted(diverse(samples, COLUMNS * ROWS), key=lambda s: s.index)
    sheet = Image.new("RGB", (COLUMNS * (SIZE + GAP) + GAP, ROWS * (SIZE + TEXT + GAP) + GAP), PAPER)
    ink, font = ImageDraw.Draw(sheet), ImageFont.load_default(11)
    for i, sample in enumerate(chosen):
        x, y = GAP + (i % COLUMNS) * (SIZE + GAP), GAP + (i // COLUMNS) * (SIZE + TEXT + GAP)
        sheet.paste(sample.load(), (x, y))
        lines = [""]
        for label in sample.labels:
            longer = f"{lines[-1]}, {label}" if lines[-1] else label
            if ink.textlength(longer, font) > SIZE:
                lines[-1] += ","
                lines.append(label)
            else:
                lines[-1] = longer
        ink.multiline_text((x, y + SIZE + 3), "\n".join(lines), INK, font, spacing=2)
    out = Path(__file__).with_name("scenes.png")
    palette = sheet.quantize(256, method=Image.Quantize.MEDIANCUT, kmeans=3)  # a third of the full-colour file
    sheet.quantize(palette=palette, dither=Image.Dither.FLOYDSTEINBERG).save(out, optimize=True)
    print(f"{out}: {out.stat().st_size // 1000} kB")


if __name__ == "__main__":
    main()
