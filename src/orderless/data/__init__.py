"""Data: samples, readers, decoding, transforms, generated scenes.

`open_data` looks at a folder and returns its samples by split; nothing is decoded until a sample is loaded.
"""

from __future__ import annotations

import inspect
from pathlib import Path

from orderless.data.readers import FORMATS, Reader, detect, reader_for
from orderless.data.sample import SPLITS, Box, Collection, Sample
from orderless.errors import UsageError

__all__ = ["FORMATS", "SPLITS", "Box", "Collection", "Sample", "open_data", "parse_options"]


def open_data(path: str | Path, format: str | None = None, *, seed: int = 0, **options: object) -> Collection:
    """Open a data set as it was downloaded or exported.

    `format` names a reader (see `FORMATS`) when looking at the folder is not enough; `seed` decides the
    splits that the data set does not bring itself; `options` go to the reader (docs/data.md lists them).
    The word `scenes` (or `scenes:train=2000,val=300,test=500,seed=1`) stands for the generated scenes.
    """
    text = str(path)
    if text.partition(":")[0] == "scenes" and not Path(text).exists():
        return _open_scenes(text.partition(":")[2], seed, options)
    root = Path(path).expanduser()
    if not root.exists():
        raise UsageError(f"there is no file or folder {text!r}")
    try:
        if root.is_dir() and not any(root.iterdir()):
            raise UsageError(f"the folder {text!r} is empty")
    except PermissionError:
        raise UsageError(f"there is no permission to read {text!r}") from None
    reader = reader_for(format) if format is not None else detect(root)
    collection = reader.read(root, seed, **_checked_options(reader, options))
    if not len(collection):
        raise UsageError(f"{text!r} holds no image that the {reader.FORMAT} reader can use")
    return collection.with_composed_labels()


def _checked_options(reader: Reader, options: dict[str, object]) -> dict[str, object]:
    """The options of `read`, by its signature: known names, and true or false where it wants that."""
    parameters = inspect.signature(reader.read).parameters
    known = {name: parameter.default for name, parameter in parameters.items() if name not in ("root", "seed")}
    checked = dict(options)
    for name, value in options.items():
        if name not in known:
            has = f"it has: {', '.join(known)}" if known else "it has none"
            raise UsageError(f"the {reader.FORMAT} reader has no option {name!r} ({has})")
        if isinstance(known[name], bool) and not isinstance(value, bool):
            raise UsageError(f"the option {name} wants true or false, not {value!r}")
        if isinstance(known[name], str):
            checked[name] = str(value)
    return checked


def parse_options(pairs: list[str]) -> dict[str, object]:
    """`["keep_empty=true", "split=official"]` as options for `open_data`."""
    options: dict[str, object] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise UsageError(f"{pair!r} is not an option: write name=value")
        options[name.replace("-", "_")] = _option_value(value)
    return options


def _option_value(text: str) -> object:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def _open_scenes(settings: str, seed: int, options: dict[str, object]) -> Collection:
    # Imported late: drawing needs NumPy, and `orderless.data` must stay cheap to import.
    from orderless.data.scenes import scenes

    arguments: dict[str, int] = {"seed": seed}
    for name, value in {**parse_options([pair for pair in settings.split(",") if pair]), **options}.items():
        if name not in ("train", "val", "test", "seed", "size"):
            raise UsageError(f"the generated scenes have no setting {name!r} (they have: train, val, test, seed, size)")
        if type(value) is not int or (value < 0 and name != "seed"):
            raise UsageError(f"the generated scenes want a whole number for {name!r}, not {value!r}")
        arguments[name] = value
    collection: Collection = scenes(**arguments)
    return collection
