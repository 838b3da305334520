"""`open_data`: detection, options, and one clear sentence for whatever is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from data.fixtures import BUILDERS, make_folder, save
from orderless.data import FORMATS, open_data, parse_options
from orderless.data.readers import reader_for
from orderless.errors import UsageError


@pytest.mark.parametrize("format", list(BUILDERS))
def test_every_format_is_recognised_and_can_be_named(tmp_path: Path, format: str) -> None:
    root = BUILDERS[format](tmp_path)
    found = open_data(root)
    assert found.format == format
    assert found.splits == open_data(root, format=format).splits
    assert "train" in found
    found.vocabulary()
    for sample in found:
        assert sample.load().mode == "RGB"


@pytest.mark.parametrize("format", list(BUILDERS))
def test_the_wrong_format_is_a_clear_error(tmp_path: Path, format: str) -> None:
    save(tmp_path / "photo.jpg", 1)
    with pytest.raises(UsageError) as caught:
        open_data(tmp_path, format=format)
    assert "\n" not in str(caught.value)


def test_every_format_has_a_fixture() -> None:
    assert set(BUILDERS) == set(FORMATS)
    assert [reader_for(format).FORMAT for format in FORMATS] == list(FORMATS)


def test_wrong_paths(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no file or folder"):
        open_data(tmp_path / "nothing")
    with pytest.raises(UsageError, match="is empty"):
        open_data(tmp_path)
    (tmp_path / "notes.md").write_text("hello")
    with pytest.raises(UsageError, match=r"no known format: add a metadata\.csv"):
        open_data(tmp_path)
    with pytest.raises(UsageError, match="no known format"):
        open_data(tmp_path / "notes.md")


def test_unknown_format_and_option(tmp_path: Path) -> None:
    make_folder(tmp_path)
    with pytest.raises(UsageError, match="no format 'cocoa'; choose one of"):
        open_data(tmp_path, format="cocoa")
    with pytest.raises(UsageError, match=r"folder reader has no option 'year' \(it has: separator\)"):
        open_data(tmp_path, year=2014)


def test_options_of_the_wrong_kind(tmp_path: Path) -> None:
    root = BUILDERS["coco"](tmp_path)
    with pytest.raises(UsageError, match="keep_empty wants true or false, not 'yes'"):
        open_data(root, keep_empty="yes")
    with pytest.raises(UsageError, match="not soon"):
        open_data(root, year="soon")


def test_options_from_the_command_line() -> None:
    assert parse_options(["keep-empty=true", "year=2017", "split=official", "val_share=0.2", "separator=="]) == {
        "keep_empty": True,
        "year": 2017,
        "split": "official",
        "val_share": 0.2,
        "separator": "=",
    }
    with pytest.raises(UsageError, match="'year' is not an option"):
        parse_options(["year"])


def test_a_bad_share(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="val_share wants a share"):
        open_data(BUILDERS["coco"](tmp_path), val_share=2)


@pytest.mark.parametrize("text", ["scenes:weather=1", "scenes:train=many", "scenes:train=-1", "scenes:train"])
def test_settings_of_the_scenes(text: str) -> None:
    pytest.importorskip("orderless.data.scenes")
    with pytest.raises(UsageError):
        open_data(text)


def test_import_is_cheap() -> None:
    heavy = "{'torch', 'numpy', 'pandas', 'pyarrow', 'scipy', 'matplotlib'}"
    code = f"import sys, orderless.data; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
