"""`open_image`: whatever cameras, scanners, tools and attackers write."""

from __future__ import annotations

import contextlib
import io
import random
import struct
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageFile

from data.fixtures import picture
from orderless.data.images import is_image_file, open_image, upright_rgb
from orderless.errors import UnreadableImage

# pytest puts its own warning filters in front of ours.
pytestmark = pytest.mark.filterwarnings("ignore")

RED, WHITE = (255, 0, 0), (255, 255, 255)


def encoded(image: Image.Image, format: str = "PNG", **options: object) -> bytes:
    memory = io.BytesIO()
    image.save(memory, format, **options)
    return memory.getvalue()


def close(found: object, expected: tuple[int, int, int], tolerance: int = 3) -> bool:
    assert isinstance(found, tuple)
    return all(abs(a - b) <= tolerance for a, b in zip(found, expected, strict=True))


def test_sources(tmp_path: Path) -> None:
    data = encoded(picture(1))
    path = tmp_path / "a.png"
    path.write_bytes(data)
    with path.open("rb") as file:
        images = [open_image(path), open_image(str(path)), open_image(data), open_image(file)]
    assert len({image.tobytes() for image in images}) == 1
    assert {image.mode for image in images} == {"RGB"}


def repeated_scan(times: int) -> bytes:
    """A progressive JPEG that ends with the same scan so many times more; each goes over all pixels."""
    data = encoded(Image.new("L", (64, 64), 128), "JPEG", progressive=True)
    start = data.rindex(b"\xff\xda")
    return data[:-2] + data[start:-2] * times + data[-2:]


def test_a_jpeg_of_countless_scans_is_refused(tmp_path: Path) -> None:
    assert open_image(repeated_scan(20)).size == (64, 64)
    (tmp_path / "bomb.jpg").write_bytes(repeated_scan(500))
    for source in (repeated_scan(500), tmp_path / "bomb.jpg"):
        with pytest.raises(UnreadableImage, match=r"50\d scans, more than the limit of 100"):
            open_image(source)


def test_what_stands_behind_a_jpeg_is_not_counted() -> None:
    """Phones put a video behind a photo, in which any bytes may come."""
    assert open_image(repeated_scan(0) + b"\xff\xda" * 500).size == (64, 64)


def test_a_small_tiff_of_a_huge_tile_is_refused() -> None:
    fields = (
        (256, 4, 16), (257, 4, 16), (258, 3, 8), (259, 3, 1), (262, 3, 1), (277, 3, 1), (284, 3, 1), (322, 4, 40_000),
        (323, 4, 40_000), (324, 4, 146), (325, 4, 4),
    )  # fmt: skip
    head = struct.pack("<2sHIH", b"II", 42, 8, len(fields))
    body = b"".join(struct.pack("<HHII", tag, kind, 1, value) for tag, kind, value in fields)
    with pytest.raises(UnreadableImage, match=r"a tile of 1,600,000,000 pixels"):
        open_image(head + body + struct.pack("<I", 0) + b"\0" * 4)


@pytest.mark.parametrize("thing", [None, [b"x"], 3])
def test_what_is_no_image_at_all_is_a_mistake_of_the_caller(thing: object) -> None:
    with pytest.raises(TypeError, match="a path, encoded bytes"):
        open_image(thing)  # type: ignore[arg-type]


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("format", ["JPEG", "TIFF", "PNG", "WEBP"])
def test_every_exif_orientation(orientation: int, format: str) -> None:
    upright = Image.new("RGB", (32, 48), WHITE)
    upright.paste(RED, (0, 0, 16, 16))  # a mark in the top left corner
    turns = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }
    stored = upright.transpose(turns[orientation]) if orientation in turns else upright
    exif = Image.Exif()
    exif[0x0112] = orientation
    options = {"quality": 95} if format != "TIFF" else {}
    found = open_image(encoded(stored, format, exif=exif, **options))
    assert found.size == (32, 48)
    assert close(found.getpixel((4, 4)), RED, 30)
    assert close(found.getpixel((28, 44)), WHITE, 30)
    assert close(found.getpixel((28, 4)), WHITE, 30)


@pytest.mark.parametrize("name", ["turned.jpg", "clear.png", "deep.png"])
def test_a_pillow_image_is_read_as_its_file_is(name: str, tmp_path: Path) -> None:
    file, exif = tmp_path / name, Image.Exif()
    exif[0x0112] = 6
    noise = np.random.default_rng(0).integers(0, 256, (20, 30, 4), dtype=np.uint8)
    kinds = {
        "turned.jpg": Image.fromarray(noise[:, :, :3].copy()),
        "clear.png": Image.fromarray(noise),
        "deep.png": Image.fromarray(noise[:, :, 0].astype(np.uint16) * 200),
    }
    kinds[name].save(file, exif=exif)
    with Image.open(file) as image:
        assert upright_rgb(image).tobytes() == open_image(file).tobytes()
    assert open_image(file).size == (20, 30)


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("format", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_what_is_upright_stays_so(orientation: int, format: str) -> None:
    exif, file = Image.Exif(), io.BytesIO()
    exif[0x0112] = orientation
    noise = np.random.default_rng(0).integers(0, 256, (20, 30, 3), dtype=np.uint8)
    Image.fromarray(noise).save(file, format, exif=exif)
    upright = open_image(file.getvalue())
    assert upright_rgb(upright).tobytes() == upright.tobytes()
    assert upright_rgb(upright).size == upright.size == ((30, 20) if orientation < 5 else (20, 30))


def test_broken_exif_does_not_matter() -> None:
    data = encoded(picture(2), "JPEG")
    for junk in (b"Exif\0\0MM\0*\xff\xff\xff\xff", b"Exif\0\0II*\0\x08\0\0\0\xff\xff" + b"\x12\x01" * 40, b"Exif\0\0"):
        segment = b"\xff\xe1" + struct.pack(">H", len(junk) + 2) + junk
        assert open_image(data[:2] + segment + data[2:]).size == (48, 40)


def test_transparency_stands_on_white() -> None:
    clear = Image.new("RGBA", (4, 4), (255, 0, 0, 0))
    half = Image.new("RGBA", (4, 4), (255, 0, 0, 128))
    assert open_image(encoded(clear)).getpixel((0, 0)) == WHITE
    assert close(open_image(encoded(half)).getpixel((0, 0)), (255, 127, 127))
    assert open_image(encoded(Image.new("LA", (4, 4), (0, 0)))).getpixel((0, 0)) == WHITE
    palette = Image.new("P", (4, 4), 1)
    palette.putpalette([0, 0, 0, 255, 0, 0])
    assert open_image(encoded(palette, transparency=1)).getpixel((0, 0)) == WHITE
    assert open_image(encoded(palette, transparency=0)).getpixel((0, 0)) == RED
    assert open_image(encoded(Image.new("RGB", (4, 4), RED), transparency=RED)).getpixel((0, 0)) == WHITE


@pytest.mark.parametrize("mode", ["1", "L", "P", "RGB", "RGBA", "LA", "CMYK", "YCbCr", "I", "F", "I;16"])
def test_modes(mode: str) -> None:
    format = "PNG" if mode in ("1", "L", "P", "RGB", "RGBA", "LA") else "JPEG" if mode == "YCbCr" else "TIFF"
    image = Image.new(mode, (6, 5))
    found = open_image(encoded(image, format))
    assert (found.mode, found.size) == ("RGB", (6, 5))


@pytest.mark.parametrize(("value", "expected"), [(0, 0), (128, 0), (32768, 128), (65535, 255)])
@pytest.mark.parametrize("format", ["PNG", "TIFF"])
def test_sixteen_bits_are_scaled_and_not_clipped(value: int, expected: int, format: str) -> None:
    image = Image.new("I;16", (3, 3), value)
    assert close(open_image(encoded(image, format)).getpixel((1, 1)), (expected,) * 3, 1)


@pytest.mark.parametrize(
    ("mode", "values", "expected"),
    [("F", (0.0, 1.0), 255), ("F", (0.0, 200.0), 200), ("I", (0, 200), 200), ("I", (0, 65535), 255), ("I", (7, 7), 7)],
)
def test_wide_greys(mode: str, values: tuple[float, float], expected: int) -> None:
    image = Image.new(mode, (2, 1), values[0])
    image.putpixel((1, 0), values[1])
    assert open_image(encoded(image, "TIFF")).getpixel((1, 0)) == (expected,) * 3


def test_first_frame_of_an_animation() -> None:
    frames = [Image.new("RGB", (5, 5), colour) for colour in (RED, (0, 0, 255))]
    for format in ("GIF", "PNG", "WEBP"):
        data = encoded(frames[0], format, save_all=True, append_images=frames[1:])
        assert close(open_image(data).getpixel((2, 2)), RED, 8)


def test_draft_mode_decodes_small_but_not_too_small() -> None:
    data = encoded(picture(3, (1600, 1200)), "JPEG")
    small = open_image(data, size=224)
    assert small.size == (400, 300)
    assert min(open_image(data, size=1000).size) >= 1000
    assert open_image(data).size == (1600, 1200)
    assert open_image(data, size=224, box=(0, 0, 1600, 1200)).size == (1600, 1200)  # boxes are in full pixels
    assert open_image(encoded(picture(3, (1600, 1200))), size=224).size == (1600, 1200)


@pytest.mark.parametrize(
    ("box", "size"),
    [
        ((10, 5, 20, 10), (20, 10)),
        ((-10, -5, 20, 10), (10, 5)),
        ((40, 30, 100, 100), (8, 10)),
        ((10.4, 5.6, 0.2, 0.2), (1, 1)),
        ((47.9, 39.9, 0, 0), (1, 1)),
        ((0, 0, 48, 40), (48, 40)),
    ],
)
def test_boxes(box: tuple[float, float, float, float], size: tuple[int, int]) -> None:
    assert open_image(encoded(picture(4)), box=box).size == size


@pytest.mark.parametrize(
    "box", [(48, 0, 5, 5), (0, 40, 5, 5), (-20, 0, 10, 10), (0, -20, 10, 20), (float("nan"), 0, 1, 1)]
)
def test_boxes_outside(box: tuple[float, float, float, float]) -> None:
    with pytest.raises(UnreadableImage, match="lies outside the image of 48x40"):
        open_image(encoded(picture(4)), box=box)


def test_limit() -> None:
    data = encoded(picture(5, (100, 50)))
    assert open_image(data, pixel_limit=5000).size == (100, 50)
    with pytest.raises(UnreadableImage, match="100x50 is more than the limit of 4,999 pixels"):
        open_image(data, pixel_limit=4999)


def test_a_bomb_is_refused_before_it_is_decoded() -> None:
    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    import zlib

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    bomb = (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
    )
    with pytest.raises(UnreadableImage, match=r"too large|more than the limit"):
        open_image(bomb)


def test_missing_folder_empty_and_text(tmp_path: Path) -> None:
    (tmp_path / "empty.jpg").touch()
    (tmp_path / "text.jpg").write_text("<html>404</html>")
    cases = {"gone.jpg": "no such file", "empty.jpg": "the file is empty", "text.jpg": "not an image", "": "folder"}
    for name, reason in cases.items():
        with pytest.raises(UnreadableImage, match=reason) as caught:
            open_image(tmp_path / name)
        assert str(tmp_path / name) in str(caught.value)
    with pytest.raises(UnreadableImage, match=r"<upload>.*empty"):
        open_image(b"")
    with pytest.raises(UnreadableImage, match=r"no such file|damaged"):
        open_image("a\0b.jpg")


def test_accepted_formats() -> None:
    assert open_image(encoded(picture(6)), formats=("PNG", "JPEG")).size == (48, 40)
    with pytest.raises(UnreadableImage, match="format that is not accepted"):
        open_image(encoded(picture(6), "BMP"), formats=("PNG", "JPEG"))


@pytest.mark.parametrize("format", ["JPEG", "PNG", "GIF", "BMP", "TIFF", "WEBP"])
def test_truncated_files(format: str) -> None:
    data = encoded(picture(7, (200, 150)), format)
    for share in (0.3, 0.6, 0.9):
        with pytest.raises(UnreadableImage):
            open_image(data[: int(len(data) * share)])


@pytest.mark.parametrize("format", ["JPEG", "PNG", "GIF", "BMP", "TIFF", "WEBP", "PPM", "JPEG2000", "AVIF"])
def test_mutated_files_decode_or_are_unreadable(format: str) -> None:
    dice = random.Random(format)
    data = bytearray(encoded(picture(8), format))
    for _ in range(120):
        mutated = bytearray(data)
        for _ in range(dice.randrange(1, 8)):
            # Mostly in the header, where plugins trip.
            mutated[dice.randrange(len(data) if dice.random() < 0.3 else min(64, len(data)))] = dice.randrange(256)
        with contextlib.suppress(UnreadableImage):
            assert open_image(bytes(mutated), pixel_limit=1_000_000).mode == "RGB"


def test_importing_changes_no_setting_of_pillow() -> None:
    assert Image.MAX_IMAGE_PIXELS is not None
    assert not ImageFile.LOAD_TRUNCATED_IMAGES


def test_threads_leave_the_warning_filters_alone() -> None:
    before = list(warnings.filters)
    data = encoded(picture(9))
    threads = [threading.Thread(target=lambda: [open_image(data) for _ in range(20)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(warnings.filters) == before


def test_image_files() -> None:
    assert is_image_file(Path("a/B.JPG"))
    assert not is_image_file(Path("a/._B.jpg"))
    assert not is_image_file(Path("a/b.txt"))


@pytest.mark.parametrize("size", [(1, 70_000), (70_000, 1)])
def test_long_lines_are_refused(size: tuple[int, int]) -> None:
    memory = io.BytesIO()
    Image.new("L", size).save(memory, "PNG")
    for refused in (lambda: open_image(memory.getvalue(), size=64), lambda: upright_rgb(Image.new("L", size))):
        with pytest.raises(UnreadableImage, match="longer than 65,535"):
            refused()


def test_what_is_no_image_for_upright_rgb() -> None:
    with pytest.raises(UnreadableImage, match="no pixels"):
        upright_rgb(Image.new("RGB", (0, 5)))
    with pytest.raises(TypeError, match="not ndarray"):
        upright_rgb(np.zeros((3, 3, 3)))  # type: ignore[arg-type]


def test_an_image_that_is_only_opened_is_read_as_its_file(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (400, 500, 3), dtype=np.uint8)
    Image.fromarray(noise).save(tmp_path / "a.jpg")
    with Image.open(tmp_path / "a.jpg") as image:
        assert upright_rgb(image, 64).tobytes() == open_image(tmp_path / "a.jpg", size=64).tobytes()
