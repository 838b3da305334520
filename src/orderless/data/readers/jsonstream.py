"""Big JSON files, one element at a time.

The published MS-COCO annotations are 300 MB of text and would take gigabytes as one Python object. They are
a few long lists at the top level, so the standard decoder is run on one list element after another over a
window of the file.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from orderless.errors import UsageError

_CHUNK = 1 << 22
_LARGEST_ELEMENT = 1 << 28  # a value that is not closed by then is not closed at all
_SPACE = " \t\r\n"


def stream(path: Path, skip: str | None = None) -> Iterator[tuple[str, Any]]:
    """Yield `(key, element)` for every element of every list at the top level.

    A top-level value that is no list comes whole, as `(key, value)`; when the file is one list, the key of
    its elements is empty. Lists of numbers under the name `skip` may come as null: they are not converted.
    """
    try:
        with path.open("rb") as file:
            yield from _Window(path, file, skip).values()
    except FileNotFoundError:
        raise UsageError(f"there is no file {str(path)!r}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text") from None


class _Window:
    """The part of the file that is being looked at, and the place in it."""

    def __init__(self, path: Path, file: BinaryIO, skip: str | None) -> None:
        self.path = path
        # Only whole lists match: what follows must close the object or open the next name.
        numbers = r'"\s*:\s*\[[][\d.,\seE+-]*\](?=\s*(?:\}|,\s*"))'
        self.skip = re.compile('"' + re.escape(skip) + numbers) if skip else None
        self.null = f'"{skip}":null'
        self.file = file
        self.decode = codecs.getincrementaldecoder("utf-8-sig")().decode
        self.scan = json.JSONDecoder().raw_decode
        self.text = ""
        self.at = 0
        self.ended = False

    def values(self) -> Iterator[tuple[str, Any]]:
        first = self._peek()
        if first == "[":
            yield from self._elements("")
        elif first == "{":
            yield from self._members()
        else:
            raise UsageError(f"{self.path} is neither a JSON object nor a JSON list")
        if self._peek():
            raise UsageError(f"{self.path} goes on after its end: {self.text[self.at : self.at + 40]!r}")

    def _members(self) -> Iterator[tuple[str, Any]]:
        self.at += 1
        if self._peek() == "}":
            self.at += 1
            return
        while True:
            key = self._value()
            if not isinstance(key, str):
                self._broken()
            self._expect(":")
            if self._peek() == "[":
                yield from self._elements(key)
            else:
                yield key, self._value()
            if self._expect(",}") == "}":
                return

    def _elements(self, key: str) -> Iterator[tuple[str, Any]]:
        self.at += 1
        if self._peek() == "]":
            self.at += 1
            return
        while True:
            yield key, self._value()
            if self._expect(",]") == "]":
                return

    def _peek(self) -> str:
        """The next character that is not space, or an empty string at the end of the file."""
        while True:
            while (found := self.text[self.at : self.at + 1]) and found in _SPACE:
                self.at += 1
            if found or not self._more():
                return found

    def _expect(self, characters: str) -> str:
        found = self._peek()
        if not found or found not in characters:
            self._broken()
        self.at += 1
        return found

    def _value(self) -> Any:
        self._peek()
        while True:
            try:
                value, end = self.scan(self.text, self.at)
            except json.JSONDecodeError:
                if len(self.text) - self.at > _LARGEST_ELEMENT or not self._more():
                    self._broken()
            except RecursionError:
                raise UsageError(f"{self.path} is nested too deeply") from None
            else:
                # A number near the end of the window may go on in the next one: "1" may be "1.5" or "1e+5".
                if len(self.text) - end > 2 or self.ended:
                    self.at = end
                    return value
                self._more()

    def _more(self) -> bool:
        """Move the window on; false at the end of the file."""
        if self.ended:
            return False
        data = self.file.read(_CHUNK)
        self.ended = not data
        # What is read doubles while one value stays open, so that a long value costs linear time.
        if data and len(self.text) - self.at > _CHUNK:
            data += self.file.read(len(self.text) - self.at)
        text = self.text[self.at :] + self.decode(data, final=self.ended)
        self.text = self.skip.sub(self.null, text) if self.skip else text
        self.at = 0
        return not self.ended

    def _broken(self) -> None:
        rest = self.text[self.at : self.at + 40]
        if self.ended or not rest:
            raise UsageError(f"{self.path} ends in the middle: it was not downloaded or written to its end")
        raise UsageError(f"{self.path} is not JSON near {rest!r}")
