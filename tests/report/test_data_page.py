"""The page of the data check: self-contained, escaped, and whole whatever the data."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from data.fixtures import BUILDERS, save, write_csv
from data.test_check import make_troubled
from orderless.data import open_data
from orderless.data.check import check
from orderless.report.data_page import data_page

NASTY = '<script>alert("x")</script> & $x_1$ \'"'

pytestmark = pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")


class Tags(HTMLParser):
    """Collects the elements and checks that they close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag not in ("meta", "img", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def page_of(root: Path) -> str:
    collection = open_data(root)
    return data_page(check(collection, workers=0), collection, root.name)


def test_everything_from_the_data_is_escaped(tmp_path: Path) -> None:
    root = tmp_path / "<b>photos"
    rows: list[list[object]] = [["file_name", "labels"]]
    for i in range(6):
        name = f"<img onerror=x> & '{i}.png"
        save(root / name, i)
        rows.append([name, f"{NASTY}|other"])
    write_csv(root / "metadata.csv", rows)
    page = page_of(root)
    tags = Tags()
    tags.feed(page)
    assert not tags.open
    assert "script" not in tags.seen
    assert "<b>photos" not in page
    assert "<img onerror" not in page
    assert "&lt;script&gt;" in page


@pytest.mark.parametrize("format", [*BUILDERS, "troubled"])
def test_whole_and_self_contained(tmp_path: Path, format: str) -> None:
    build = make_troubled if format == "troubled" else BUILDERS[format]
    folder = tmp_path / "data"
    folder.mkdir()
    page = page_of(build(folder))
    tags = Tags()
    tags.feed(page)
    assert not tags.open
    assert "img" in tags.seen
    assert page.count("<svg") >= 2
    outside = [
        address
        for address in re.findall(r"""(?:src|href|url\()\s*=?\s*["']?([^"'\s>)]+)""", page)
        if not address.startswith(("data:", "#"))
    ]
    assert outside == []


def test_trouble_is_shown(tmp_path: Path) -> None:
    page = page_of(make_troubled(tmp_path))
    for text in (
        "4 images cannot be read",
        "2 pictures are in two splits",
        "1 label is missing from training",
        "1 file has copies",
        "2 labels have fewer than 10 training images",
        "One picture in two splits",
        "cannot be read</div>",
    ):
        assert text in page
