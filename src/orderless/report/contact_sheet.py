"""A contact sheet: photos in a grid with their labels below."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PIL import Image, ImageDraw, ImageFont, ImageOps

from orderless.data.sample import Sample
from orderless.errors import UnreadableImage, UsageError
from orderless.text import printable

CELL, GAP, MARGIN = 240, 18, 28
LINE, LINES = 19, 3
INK, SOFT, PAPER, FIELD = "#1f2926", "#8a948f", "#fbfaf7", "#eceae3"


def contact_sheet(samples: Sequence[Sample], columns: int | None = None) -> Image.Image:
    """Draw the samples in reading order; an image that cannot be read is a grey field that says why."""
    if not samples:
        raise UsageError("there is no image to show")
    columns = columns or min(6, len(samples))
    bold, plain = _font("DejaVuSans-Bold.ttf", 14), _font("DejaVuSans.ttf", 11)
    measure = ImageDraw.Draw(Image.new("RGB", (1, 1)))
    captions = [_wrapped(" · ".join(sample.labels) or "no label", bold, measure) for sample in samples]
    rows = [range(start, min(start + columns, len(samples))) for start in range(0, len(samples), columns)]
    heights = [CELL + 12 + LINE * (1 + max(len(captions[i]) for i in row)) for row in rows]
    width = 2 * MARGIN + columns * CELL + (columns - 1) * GAP
    sheet = Image.new("RGB", (width, 2 * MARGIN + sum(heights) + (len(rows) - 1) * GAP), PAPER)
    draw = ImageDraw.Draw(sheet)
    y = MARGIN
    for row, height in zip(rows, heights, strict=True):
        for place, i in enumerate(row):
            sample, x = samples[i], MARGIN + place * (CELL + GAP)
            _picture(sheet, draw, sample, x, y, plain)
            for k, line in enumerate(captions[i]):
                draw.text((x, y + CELL + 8 + k * LINE), line, INK if sample.labels else SOFT, bold)
            name = _shortened(sample.path.name, plain, draw)
            draw.text((x, y + CELL + 9 + len(captions[i]) * LINE), name, SOFT, plain)
        y += height + GAP
    return sheet


def _picture(
    sheet: Image.Image, draw: ImageDraw.ImageDraw, sample: Sample, x: int, y: int, font: ImageFont.FreeTypeFont
) -> None:
    draw.rounded_rectangle((x, y, x + CELL, y + CELL), 8, FIELD)
    try:
        image = sample.load(size=CELL)
    except UnreadableImage as error:
        for k, line in enumerate(_wrapped(f"cannot be read: {error.reason}", font, draw, CELL - 24)):
            draw.text((x + 12, y + CELL // 2 - 12 + k * LINE), line, SOFT, font)
        return
    image = ImageOps.contain(image, (CELL, CELL))
    sheet.paste(image, (x + (CELL - image.width) // 2, y + (CELL - image.height) // 2))


def _font(name: str, size: int) -> ImageFont.FreeTypeFont:
    # matplotlib brings fonts along; the machine may have none.
    import matplotlib

    return ImageFont.truetype(str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / name), size)


def _wrapped(text: str, font: ImageFont.FreeTypeFont, draw: ImageDraw.ImageDraw, width: int = CELL) -> list[str]:
    """At most `LINES` lines that fit; what does not fit ends in an ellipsis."""
    words = printable(text).split(" ")
    lines = [""]
    for word in words:
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and draw.textlength(longer, font) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    if len(lines) > LINES:
        lines = [*lines[: LINES - 1], " ".join(lines[LINES - 1 :])]
    return [_shortened(line, font, draw, width) for line in lines]


def _shortened(text: str, font: ImageFont.FreeTypeFont, draw: ImageDraw.ImageDraw, width: int = CELL) -> str:
    text = printable(text)[:400]
    if draw.textlength(text, font) <= width:
        return text
    while text and draw.textlength(text + "…", font) > width:
        text = text[:-1]
    return text + "…"
