"""Where tags go: one small module per format; the table below is the registry.

A module of the kind "text" has `write(results, file, about)`, one of the kind "file" `write(results, path, about)`,
and one of the kind "sidecar", which keeps a small file beside every photo, `write(result, path, about)`.
All take results one by one, so memory does not grow with the number of photos.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Literal

from orderless.errors import UsageError


@dataclass(frozen=True)
class Output:
    """One format: its name for `--to`, the suffixes that mean it, its module."""

    name: str
    kind: Literal["text", "file", "sidecar"]
    module_name: str
    suffixes: tuple[str, ...] = ()

    @property
    def module(self) -> ModuleType:
        return import_module(f"orderless.outputs.{self.module_name}")

    @property
    def resumable(self) -> bool:
        """Can a stopped run go on where it stopped?"""
        return hasattr(self.module, "done_rows")


OUTPUTS = {
    output.name: output
    for output in (
        Output("csv", "text", "csv_table", (".csv",)),
        Output("jsonl", "text", "json_lines", (".jsonl", ".ndjson")),
        Output("parquet", "file", "parquet", (".parquet",)),
        Output("txt", "sidecar", "text_files"),
        Output("xmp", "sidecar", "xmp"),
        Output("label-studio", "text", "label_studio"),
        Output("fiftyone", "text", "fiftyone"),
    )
}


def find_output(name: str | None, out: Path | None) -> Output | None:
    """The format of that name, or the one that the suffix of `out` means; None if neither says any."""
    if name is not None:
        if name not in OUTPUTS:
            raise UsageError(f"there is no output format {name!r}; choose one of: {', '.join(OUTPUTS)}")
        return OUTPUTS[name]
    if out is None:
        return None
    for output in OUTPUTS.values():
        if out.suffix.lower() in output.suffixes:
            return output
    raise UsageError(f"{str(out)!r} does not say its format; add --to with one of: {', '.join(OUTPUTS)}")
