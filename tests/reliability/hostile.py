"""Images that nobody should have to open, and a machine that makes more of them."""

from __future__ import annotations

import io
import os
import random
import socket
import struct
import zlib
from pathlib import Path

from PIL import Image

FORMATS = {"JPEG": ".jpg", "PNG": ".png", "WEBP": ".webp", "GIF": ".gif", "TIFF": ".tif", "BMP": ".bmp"}


def encoded(image: Image.Image, format: str, **options: object) -> bytes:
    memory = io.BytesIO()
    image.save(memory, format, **options)
    return memory.getvalue()


def png_header(width: int, height: int) -> bytes:
    """A PNG that promises far more than it holds."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    data = chunk(b"IDAT", zlib.compress(b"\0" * 100_000))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + data + chunk(b"IEND", b"")


def write_zoo(folder: Path, photo: Image.Image) -> dict[str, set[bytes]]:
    """Fill the folder; returns the names that must be tagged and those that must be named as failed."""
    folder.mkdir()
    jpeg, png = encoded(photo, "JPEG"), encoded(photo, "PNG")
    exif = Image.Exif()
    exif[0x0112] = 6
    frames = [photo.rotate(90 * n) for n in range(4)]
    palette = photo.convert("P")
    palette.info["transparency"] = 0
    good: dict[bytes, bytes] = {
        b"plain.jpg": jpeg,
        b"png named.jpg": png,
        b"cmyk.jpg": encoded(photo.convert("CMYK"), "JPEG"),
        b"sixteen-bit.png": encoded(photo.convert("L").convert("I;16"), "PNG"),
        b"palette.png": encoded(palette, "PNG", transparency=0),
        b"clear.png": encoded(photo.convert("RGBA"), "PNG"),
        b"one-bit.png": encoded(photo.convert("1"), "PNG"),
        b"animated.gif": encoded(frames[0], "GIF", save_all=True, append_images=frames[1:]),
        b"animated.webp": encoded(frames[0], "WEBP", save_all=True, append_images=frames[1:]),
        b"turned.jpg": encoded(photo, "JPEG", exif=exif),
        b"dot.png": encoded(Image.new("RGB", (1, 1)), "PNG"),
        b"line.png": encoded(Image.new("RGB", (30_000, 1)), "PNG"),
        b"wall.jpg": encoded(Image.new("RGB", (1, 30_000)), "JPEG"),
        b"with spaces.jpg": jpeg,
        b'quote\'d "twice".jpg': jpeg,
        b"new\nline.jpg": jpeg,
        b"\xff\xfe not utf-8.jpg": jpeg,
        b"--help.jpg": jpeg,
        "ünïcödé 猫.jpg".encode(): jpeg,
        b"[bold]<script>alert(1)<.jpg": jpeg,
    }
    bad: dict[bytes, bytes] = {
        b"bomb.png": png_header(50_000, 50_000),
        b"promise.png": png_header(9_000, 9_000),
        b"cut.jpg": jpeg[: len(jpeg) // 2],
        b"cut.png": png[: len(png) // 2],
        b"nothing.jpg": b"",
        b"text.jpg": b"once upon a time",
        b"page.png": b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>",
    }
    root = os.fsencode(folder)
    for name, content in (good | bad).items():
        with open(os.path.join(root, name), "wb") as file:  # noqa: PTH118, PTH123  names in bytes
            file.write(content)
    (folder / "link.jpg").symlink_to("plain.jpg")
    (folder / "broken.jpg").symlink_to("nowhere.jpg")
    (folder / "loop.jpg").symlink_to("loop.jpg")
    (folder / "endless").symlink_to(folder)
    os.mkfifo(folder / "pipe.jpg")
    (folder / "device.jpg").symlink_to("/dev/zero")
    (folder / "terminal.jpg").symlink_to("/dev/tty")
    with socket.socket(socket.AF_UNIX) as listener:
        here = Path.cwd()
        os.chdir(folder)  # names of sockets are short
        try:
            listener.bind("socket.jpg")
        finally:
            os.chdir(here)
    (folder / "folder.jpg").mkdir()
    special = {b"broken.jpg", b"loop.jpg", b"pipe.jpg", b"device.jpg", b"terminal.jpg", b"socket.jpg"}
    return {"tagged": {*good, b"link.jpg"}, "failed": {*bad, *special}}


def write_mutants(folder: Path, photo: Image.Image, count: int, seed: int) -> None:
    """Whole images of every format with some bytes flipped, cut out, repeated, or taken from another."""
    folder.mkdir()
    dice = random.Random(seed)
    whole = {format: encoded(photo, format) for format in FORMATS}
    for number in range(count):
        format = dice.choice(list(FORMATS))
        data = bytearray(whole[format])
        for _ in range(dice.randint(1, 8)):
            place, length = dice.randrange(len(data)), dice.randint(1, 64)
            match dice.choice(["flip", "header", "number", "cut", "end", "repeat", "splice"]):
                case "flip":
                    data[place] ^= 1 << dice.randrange(8)
                case "header":
                    data[dice.randrange(min(64, len(data)))] = dice.randrange(256)
                case "number":
                    data[place : place + 4] = dice.choice([b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x7f\xff\xff\xff"])
                case "cut":
                    del data[place : place + length]
                case "end":
                    del data[max(8, place) :]
                case "repeat":
                    data[place:place] = data[place : place + length]
                case "splice":
                    other = whole[dice.choice(list(FORMATS))]
                    start = dice.randrange(len(other))
                    data[place : place + length] = other[start : start + length]
            data = data or bytearray(b"\0")
        (folder / f"{number:05d}{FORMATS[format]}").write_bytes(data)
