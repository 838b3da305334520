"""Errors that a user can act on: one sentence that says what is wrong and what to do."""

from __future__ import annotations


class OrderlessError(Exception):
    """The work failed (exit code 1)."""

    exit_code = 1


class UsageError(OrderlessError):
    """What was asked for cannot be done as asked: wrong path, option, file or label (exit code 2)."""

    exit_code = 2


class Stopped(OrderlessError):
    """A signal stopped the work; what is done so far is kept. The exit code is the shell's for that signal."""

    def __init__(self, message: str, signal: int) -> None:
        super().__init__(message, signal)
        self.message, self.signal, self.exit_code = message, signal, 128 + signal

    def __str__(self) -> str:
        return self.message


class UnreadableImage(OrderlessError):
    """One image that cannot be decoded; `reason` is half a sentence, without the path."""

    def __init__(self, path: object, reason: str) -> None:
        super().__init__(f"cannot read image {str(path)!r}: {reason}")
        self.path = path
        self.reason = reason

    def __reduce__(self) -> tuple[type, tuple[object, str]]:
        # The default would call the class with the message alone, which breaks in worker processes.
        return type(self), (self.path, self.reason)
