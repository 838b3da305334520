"""The contact sheet."""

from __future__ import annotations

from pathlib import Path

import pytest

from data.fixtures import save
from orderless.data.sample import Sample
from orderless.errors import UsageError
from orderless.report.contact_sheet import CELL, contact_sheet


def test_grid(tmp_path: Path) -> None:
    samples = [Sample(save(tmp_path / f"{i}.png", i), ("a",)) for i in range(8)]
    sheet = contact_sheet(samples)
    assert sheet.width > 6 * CELL
    assert sheet.height > 2 * CELL
    assert contact_sheet(samples[:1]).width < 2 * CELL
    with pytest.raises(UsageError):
        contact_sheet([])


def test_long_labels_unreadable_images_and_odd_names(tmp_path: Path) -> None:
    labels = tuple(f"quite a long label number {i}" for i in range(40))
    odd = Sample(tmp_path / ("x" * 120 + "\x1b[31m.jpg"), (*labels, "w" * 900, "a\nb"))
    assert contact_sheet([odd, Sample(save(tmp_path / "a.png", 1), ())]).width > CELL


def test_the_picture_is_there(tmp_path: Path) -> None:
    path = save(tmp_path / "a.png", 1, (CELL, CELL))
    sheet = contact_sheet([Sample(path, ())])
    assert len(sheet.crop((40, 40, 200, 200)).getcolors(maxcolors=1 << 20) or ()) > 1000
