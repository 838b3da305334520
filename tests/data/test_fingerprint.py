"""Facts about images, and which look alike."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
from PIL import Image, ImageEnhance

from data.fixtures import picture, save
from orderless.data import fingerprint
from orderless.data.fingerprint import HASH_DISTANCE, Facts, difference_hash, examine, look_alikes, same_bytes
from orderless.data.sample import Sample

pytestmark = pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")


def facts_of(path: Path) -> Facts:
    return examine(Sample(path, ()))


def photo(number: int) -> Image.Image:
    """Something with the smooth structure of a photo."""
    return picture(number, (320, 240))


def test_hash_of_a_known_picture() -> None:
    ramp = Image.new("L", (9, 8))
    ramp.putdata([column * 20 for _ in range(8) for column in range(9)])
    assert difference_hash(ramp) == 2**64 - 1
    assert difference_hash(Image.new("L", (40, 30), 128)) == 0


def test_copies_in_other_sizes_qualities_and_formats_look_alike(tmp_path: Path) -> None:
    original = photo(1)
    original.save(tmp_path / "a.png")
    original.save(tmp_path / "b.jpg", quality=40)
    original.resize((123, 92)).save(tmp_path / "c.webp")
    ImageEnhance.Brightness(original).enhance(1.04).save(tmp_path / "d.bmp")
    photo(2).save(tmp_path / "e.png")
    found = [facts_of(path) for path in sorted(tmp_path.iterdir())]
    assert look_alikes(found) == [[0, 1, 2, 3]]
    assert same_bytes(found) == []


def test_plain_pictures_of_other_colours_do_not(tmp_path: Path) -> None:
    for i, colour in enumerate(["red", "blue", "white", "#fefefe"]):
        Image.new("RGB", (50, 50), colour).save(tmp_path / f"{i}.png")
    assert look_alikes([facts_of(path) for path in sorted(tmp_path.iterdir())]) == [[2, 3]]


def test_buckets_find_what_all_pairs_find() -> None:
    dice = random.Random(0)
    hashes = [dice.getrandbits(64) for _ in range(60)]
    for value in hashes[:40]:
        for bit in dice.sample(range(64), dice.randrange(6)):
            value ^= 1 << bit
        hashes.append(value)
    images = [Facts(hash=value, colours=b"\0" * 48) for value in hashes]
    joined = {
        frozenset((i, j)) for i in range(100) for j in range(i) if (hashes[i] ^ hashes[j]).bit_count() <= HASH_DISTANCE
    }
    found = look_alikes(images)
    assert {frozenset(group) for group in found if len(group) == 2} <= joined
    assert {i for pair in joined for i in pair} == {i for group in found for i in group}


class CountedHash(int):
    """A hash that counts, for all together, how often two are compared."""

    compared = 0

    def __xor__(self, other: int) -> int:
        CountedHash.compared += 1
        assert CountedHash.compared < 1_000_000  # all pairs would be 500 million
        return int(self) ^ int(other)


def test_many_blank_pages_and_many_pictures_need_few_comparisons(monkeypatch: pytest.MonkeyPatch) -> None:
    colours_compared = 0

    def compare(first: Facts, second: Facts) -> bool:
        nonlocal colours_compared
        colours_compared += 1
        assert colours_compared < 1_000_000
        return original(first, second)

    original = fingerprint._colours_agree
    monkeypatch.setattr(fingerprint, "_colours_agree", compare)
    monkeypatch.setattr(CountedHash, "compared", 0)
    dice = random.Random(1)
    images = [Facts(hash=0, colours=b"\xff" * 48) for _ in range(20_000)]
    images += [Facts(hash=1 << i % 60 | 1, colours=b"\xff" * 48) for i in range(2_000)]
    images += [Facts(hash=3, colours=dice.randbytes(48)) for _ in range(3_000)]
    images += [Facts(hash=dice.getrandbits(64), colours=dice.randbytes(48)) for _ in range(30_000)]
    groups = look_alikes([replace(facts, hash=CountedHash(facts.hash)) for facts in images])
    assert len(groups[0]) == 22_000
    assert CountedHash.compared > 0
    assert colours_compared > 0


def test_unreadable_images_take_no_part() -> None:
    assert look_alikes([Facts(problem="gone", kind="missing"), Facts(problem="gone", kind="missing")]) == []
    assert same_bytes([Facts(problem="gone"), Facts(problem="gone")]) == []


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [("cut.jpg", None, "truncated"), ("empty.png", b"", "truncated"), ("text.png", b"<html>", "damaged")],
)
def test_kinds_of_damage(tmp_path: Path, name: str, content: bytes | None, kind: str) -> None:
    path = tmp_path / name
    if content is None:
        photo(3).save(path)
        content = path.read_bytes()[: path.stat().st_size // 2]
    path.write_bytes(content)
    found = facts_of(path)
    assert found.kind == kind
    assert found.problem


def test_missing_oversized_and_odd(tmp_path: Path) -> None:
    assert facts_of(tmp_path / "gone.jpg").kind == "missing"
    assert facts_of(tmp_path).kind == "damaged"
    Image.new("1", (10_001, 10_000)).save(tmp_path / "huge.png")
    assert facts_of(tmp_path / "huge.png").kind == "oversized"
    Image.new("CMYK", (9, 9)).save(tmp_path / "print.jpg")
    assert facts_of(tmp_path / "print.jpg").odd
    frames = [photo(i) for i in range(3)]
    frames[0].save(tmp_path / "moving.webp", save_all=True, append_images=frames[1:])
    assert facts_of(tmp_path / "moving.webp").frames == 3
    assert facts_of(tmp_path / "moving.webp").odd
    assert not facts_of(save(tmp_path / "plain.jpg", 1)).odd
