"""From a file to an upright RGB image: one decoder for training, evaluation, prediction and the service."""

from __future__ import annotations

import io
import os
import re
import stat
import struct
import warnings
import zlib
from pathlib import Path
from typing import BinaryIO

from PIL import Image, UnidentifiedImageError
from PIL.JpegImagePlugin import JpegImageFile
from PIL.TiffImagePlugin import TILELENGTH, TILEWIDTH, TiffImageFile

from orderless.errors import UnreadableImage

PIXEL_LIMIT = 100_000_000  # 100 megapixels: larger than cameras make, small enough to decode anywhere
SIDE_LIMIT = 65_535  # pixels, as JPEG's: resizing a line of some million takes gigabytes
SCAN_LIMIT = 100  # of a JPEG; progressive ones have about ten

IMAGE_SUFFIXES = frozenset(
    {".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".ppm", ".avif", ".jp2"}
)

# What Pillow remarks on (odd EXIF, palettes, large images) is dealt with here. A filter for the whole process and
# not `catch_warnings`, which is not safe in the service's threads.
warnings.filterwarnings("ignore", module=r"PIL\.")

_JPEG_MARKER = re.compile(rb"\xff+[^\x00\xd0-\xd7\xff]")  # none of those that stand within a scan

_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}

# What Pillow's plugins raise on damaged or hostile files, beside OSError.
_DAMAGE = (
    OSError,
    ValueError,
    SyntaxError,
    EOFError,
    MemoryError,
    TypeError,
    LookupError,
    AttributeError,
    ArithmeticError,
    AssertionError,
    RuntimeError,
    struct.error,
    zlib.error,
)


def open_image(
    source: str | os.PathLike[str] | bytes | BinaryIO,
    *,
    box: tuple[float, float, float, float] | None = None,
    size: int | None = None,
    pixel_limit: int = PIXEL_LIMIT,
    formats: tuple[str, ...] | None = None,
) -> Image.Image:
    """Decode to RGB, upright by EXIF, first frame of an animation, transparency on white.

    `size` lets the JPEG decoder work at a fraction of the resolution (draft mode) as long as the result
    stays at least `size` on its short side. `formats` restricts the accepted formats (the service's list).
    Raises `UnreadableImage` for anything that is not a whole image within the limit.
    """
    if not isinstance(source, str | os.PathLike | bytes) and not hasattr(source, "read"):
        raise TypeError(
            f"an image is a path, encoded bytes, an open file or a Pillow image, not {type(source).__name__}"
        )
    name = source if isinstance(source, str | os.PathLike) else "<upload>"
    handle: str | os.PathLike[str] | BinaryIO = io.BytesIO(source) if isinstance(source, bytes) else source
    try:
        if isinstance(source, str | os.PathLike):
            check_regular(source)
        with Image.open(handle, formats=formats) as image:
            width, height = image.size
            if width * height > pixel_limit:
                raise UnreadableImage(name, f"{width}x{height} is more than the limit of {pixel_limit:,} pixels")
            _check_sides(width, height, name)
            _check_effort(image, name, pixel_limit)
            if size is not None and box is None:
                image.draft("RGB", (size, size))
            rgb = _to_rgb(_upright(image))
    except UnreadableImage:
        raise
    except FileNotFoundError:
        raise UnreadableImage(name, "there is no such file") from None
    except PermissionError:
        raise UnreadableImage(name, "no permission to read it") from None
    except IsADirectoryError:
        raise UnreadableImage(name, "it is a folder") from None
    except UnidentifiedImageError:
        if _is_empty(source):
            raise UnreadableImage(name, "the file is empty") from None
        raise UnreadableImage(name, "it is not an image, or of a format that is not accepted") from None
    except Image.DecompressionBombError as error:  # Pillow's own limit, above ours
        raise UnreadableImage(name, f"it is too large ({error})") from None
    except _DAMAGE as error:
        raise UnreadableImage(name, f"it is damaged ({str(error) or type(error).__name__})") from None
    return rgb if box is None else _crop(rgb, box, name)


def upright_rgb(image: Image.Image, size: int | None = None) -> Image.Image:
    """A Pillow image as `open_image` would give it: upright, RGB, transparency on white, whole.

    One that is not decoded yet is decoded for `size`, as a file is.
    """
    if not isinstance(image, Image.Image):
        raise TypeError(f"an image is wanted as Pillow has it, not {type(image).__name__}")
    _check_sides(*image.size, "<image>")
    try:
        if size is not None:
            image.draft("RGB", (size, size))  # does nothing but to a JPEG file that was not read yet
        return _to_rgb(_upright(image))
    except _DAMAGE as error:
        raise UnreadableImage("<image>", f"it is damaged ({str(error) or type(error).__name__})") from None


def _check_sides(width: int, height: int, name: object) -> None:
    if min(width, height) < 1:
        raise UnreadableImage(name, "it has no pixels")
    if max(width, height) > SIDE_LIMIT:
        raise UnreadableImage(name, f"{width}x{height}: a side is longer than {SIDE_LIMIT:,} pixels")


def _check_effort(image: Image.Image, name: object, pixel_limit: int) -> None:
    """Refuse what is small in its head but not to a decoder."""
    if isinstance(image, TiffImageFile):  # libtiff takes memory for a whole tile, however little of it is picture
        tile = int(image.tag_v2.get(TILEWIDTH, 0)) * int(image.tag_v2.get(TILELENGTH, 0))
        if tile > pixel_limit:
            raise UnreadableImage(name, f"a tile of {tile:,} pixels is more than the limit of {pixel_limit:,}")
    elif isinstance(image, JpegImageFile) and "progressive" in image.info and image.fp is not None:
        place = image.fp.tell()
        image.fp.seek(0)
        scans = _count_scans(image.fp.read())  # each goes over all pixels, and may be a few bytes
        image.fp.seek(place)
        if scans > SCAN_LIMIT:
            raise UnreadableImage(name, f"it has {scans} scans, more than the limit of {SCAN_LIMIT}")


def _count_scans(jpeg: bytes) -> int:
    """Of the picture itself: a preview may stand before it, and a video behind it."""
    scans = jpeg.count(b"\xff\xda")  # no fewer than there are
    if scans <= SCAN_LIMIT:
        return scans
    scans, place = 0, 2
    while (marker := _JPEG_MARKER.search(jpeg, place)) and marker[0][-1] != 0xD9:  # the end of the picture
        scans += marker[0][-1] == 0xDA
        place = marker.end() + int.from_bytes(jpeg[marker.end() : marker.end() + 2], "big")
    return scans


def check_regular(path: str | os.PathLike[str]) -> None:
    """A pipe or a device may keep its reader waiting for ever."""
    kind = os.stat(path).st_mode  # noqa: PTH116  Path's own takes as long as opening the file
    if not stat.S_ISREG(kind) and not stat.S_ISDIR(kind):
        raise UnreadableImage(path, "it is a pipe, a socket or a device, not a file")


def _is_empty(source: str | os.PathLike[str] | bytes | BinaryIO) -> bool:
    if isinstance(source, bytes):
        return not source
    return isinstance(source, str | os.PathLike) and Path(source).stat().st_size == 0


def _upright(image: Image.Image) -> Image.Image:
    image.load()  # some formats turn themselves upright here, and then have no orientation left
    try:
        orientation = image.getexif().get(0x0112)
    except _DAMAGE:
        return image  # broken EXIF does not make a picture unreadable
    turn = _TURNS.get(orientation) if isinstance(orientation, int) else None
    if turn is None:
        return image
    turned = image.transpose(turn)
    # Not EXIF and XMP: they would still say that it is to be turned.
    turned.info = {name: value for name, value in turned.info.items() if name == "transparency"}
    return turned


def _to_rgb(image: Image.Image) -> Image.Image:
    if image.mode.startswith("I") or image.mode == "F":
        image = _to_eight_bits(image)
    if image.mode in ("RGBA", "LA", "PA", "RGBa", "La") or "transparency" in image.info:
        rgba = image.convert("RGBA")
        white = Image.new("RGBA", rgba.size, (255, 255, 255, 255))
        image = Image.alpha_composite(white, rgba)
    return image if image.mode == "RGB" else image.convert("RGB")  # a copy costs half as much as decoding


def _to_eight_bits(image: Image.Image) -> Image.Image:
    """16-bit greys to 8 bits. Pillow would clip them at 255, which makes medical and depth images white."""
    if image.mode.startswith("I;16"):
        image = image.convert("I")
        scale = 255 / 65535
    else:
        _, high = image.getextrema()
        assert isinstance(high, int | float)
        scale = 255.0 if image.mode == "F" and high <= 1 else 1.0 if high <= 255 else 255 / max(65535, high)
    image = image.convert("F").point(lambda value: value * scale + 0.5)
    return image.convert("L")


def _crop(rgb: Image.Image, box: tuple[float, float, float, float], name: object) -> Image.Image:
    """The part of the box that lies inside the image, at least one pixel."""
    x, y, width, height = box
    if not (x < rgb.width and y < rgb.height and x + width > 0 and y + height > 0):
        raise UnreadableImage(name, f"the box {box} lies outside the image of {rgb.width}x{rgb.height}")
    left, top = max(0, int(x)), max(0, int(y))
    right, bottom = min(rgb.width, round(x + width)), min(rgb.height, round(y + height))
    return rgb.crop((left, top, max(right, left + 1), max(bottom, top + 1)))


def is_image_file(path: Path) -> bool:
    return path.suffix.lower() in IMAGE_SUFFIXES and not path.name.startswith(".")
