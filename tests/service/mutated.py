"""Images that were damaged on purpose: bytes changed, cut, repeated, joined, swapped between formats."""

from __future__ import annotations

import io
import random
from collections.abc import Iterator

from PIL import Image


def mutated_images(count: int, seed: int = 0) -> Iterator[bytes]:
    """Every one follows from the seed and its number."""
    originals = _originals()
    for number in range(count):
        dice = random.Random(f"{seed}/{number}")
        data = bytearray(dice.choice(originals))
        for _ in range(dice.choice((0, 1, 1, 2, 4, 16, 64))):
            _change(data, dice, originals)
        yield bytes(data[:200_000])


def _originals() -> list[bytes]:
    noise = Image.effect_noise((64, 48), 80)
    colour = Image.merge("RGB", (noise, noise.rotate(90), noise.rotate(180)))
    kinds = [
        ("JPEG", colour, {"exif": _exif(colour)}), ("JPEG", colour.convert("CMYK"), {}),
        ("JPEG", colour, {"progressive": True}), ("PNG", colour, {}), ("PNG", colour.convert("RGBA"), {}),
        ("PNG", colour.convert("P"), {"transparency": 3}), ("PNG", noise.convert("I;16"), {}), ("WEBP", colour, {}),
        ("WEBP", colour, {"lossless": True}), ("BMP", colour, {}), ("TIFF", colour, {"compression": "tiff_lzw"}),
        ("GIF", colour, {"save_all": True, "append_images": [noise]}), ("TIFF", noise.convert("F"), {}),
        ("TIFF", colour, {"compression": "jpeg"}), ("PNG", noise.resize((3000, 1)), {}),
    ]  # fmt: skip
    found = []
    for format, image, options in kinds:
        memory = io.BytesIO()
        image.save(memory, format, **options)  # type: ignore[arg-type]
        found.append(memory.getvalue())
    return found


def _exif(image: Image.Image) -> Image.Exif:
    exif = image.getexif()
    exif[0x0112] = 6
    return exif


def _change(data: bytearray, dice: random.Random, originals: list[bytes]) -> None:
    place = dice.randrange(len(data)) if data else 0
    kind = dice.randrange(7)
    if kind == 0 and data:
        data[place] = dice.randrange(256)
    elif kind == 1 and data:
        data[place] ^= 1 << dice.randrange(8)
    elif kind == 2:
        del data[place:]
    elif kind == 3:
        del data[place : place + dice.randrange(1, 40)]
    elif kind == 4:
        data[place:place] = data[place : place + dice.randrange(1, 200)]
    elif kind == 5:
        other = dice.choice(originals)
        data[place:] = other[dice.randrange(len(other)) :]
    else:
        data[place : place + 4] = dice.choice((b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x7f\xff\xff\xff", b"\x80\0\0\0"))
