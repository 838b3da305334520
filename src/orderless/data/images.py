"""From a file to an upright RGB image: one decoder for training, evaluation, prediction and the service."""

from __future__ import annotations

import io
import os
import warnings
from pathlib import Path
from struct import error as struct_error
from typing import BinaryIO

from PIL import Image, ImageFile, ImageOps

from orderless.errors import UnreadableImage

PIXEL_LIMIT = 100_000_000  # 100 megapixels: larger than cameras make, small enough to decode anywhere

IMAGE_SUFFIXES = frozenset(
    {".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".ppm", ".avif", ".jp2"}
)

# Pillow's own check would only warn up to twice its limit; ours is exact and names the file.
Image.MAX_IMAGE_PIXELS = None
ImageFile.LOAD_TRUNCATED_IMAGES = False


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
    name = source if isinstance(source, str | os.PathLike) else "<upload>"
    handle: str | os.PathLike[str] | BinaryIO = io.BytesIO(source) if isinstance(source, bytes) else source
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # odd EXIF or palettes: we convert what decodes
            with Image.open(handle, formats=formats) as image:
                width, height = image.size
                if width * height > pixel_limit:
                    raise UnreadableImage(name, f"{width}x{height} is more than the limit of {pixel_limit:,} pixels")
                if size is not None and box is None:
                    image.draft("RGB", (size, size))
                return _upright_rgb(image, box)
    except UnreadableImage:
        raise
    except FileNotFoundError:
        raise UnreadableImage(name, "there is no such file") from None
    except PermissionError:
        raise UnreadableImage(name, "no permission to read it") from None
    except IsADirectoryError:
        raise UnreadableImage(name, "it is a folder") from None
    except Image.UnidentifiedImageError:
        raise UnreadableImage(name, "it is not an image, or of a format that is not accepted") from None
    except (OSError, ValueError, SyntaxError, EOFError, MemoryError, Image.DecompressionBombError) as error:
        raise UnreadableImage(name, f"it is damaged ({str(error) or type(error).__name__})") from None
    except (
        TypeError,
        KeyError,
        IndexError,
        AttributeError,
        ArithmeticError,
        AssertionError,
        NotImplementedError,
        RuntimeError,
        struct_error,
    ) as error:  # what Pillow's plugins raise on mutated headers
        raise UnreadableImage(name, f"it is damaged ({type(error).__name__}: {error})") from None


def _upright_rgb(image: Image.Image, box: tuple[float, float, float, float] | None) -> Image.Image:
    if image.mode in ("I;16", "I;16B", "I;16L", "I;16N", "I", "F"):
        # Pillow clips these to 255; scale 16 bits to 8 instead.
        low, high = image.getextrema()
        scale = 255.0 / 65535.0 if high > 255 else 1.0
        image = image.point(lambda v: v * scale).convert("L") if high > low or high > 255 else image.convert("L")
    upright = ImageOps.exif_transpose(image)
    assert upright is not None
    if upright.mode in ("RGBA", "LA", "PA") or "transparency" in upright.info:
        rgba = upright.convert("RGBA")
        white = Image.new("RGBA", rgba.size, (255, 255, 255, 255))
        upright = Image.alpha_composite(white, rgba)
    rgb = upright.convert("RGB")
    if box is None:
        return rgb
    x, y, w, h = box
    left, top = max(0, int(x)), max(0, int(y))
    right, bottom = min(rgb.width, max(left + 1, round(x + w))), min(rgb.height, max(top + 1, round(y + h)))
    if right <= left or bottom <= top:
        raise ValueError(f"the box {box} lies outside the image of {rgb.width}x{rgb.height}")
    return rgb.crop((left, top, right, bottom))


def is_image_file(path: Path) -> bool:
    return path.suffix.lower() in IMAGE_SUFFIXES and not path.name.startswith(".")
