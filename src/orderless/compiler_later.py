"""Lets torchvision and timm be imported without PyTorch's compiler.

Both touch `torch._dynamo` while they are imported: one asks what it could compile, the other marks functions that it
should leave alone. That brings in the whole compiler and a computer algebra system, and takes as long as importing
torch itself, for something that tagging a photo never uses. So a stand-in answers those two; whoever wants anything
else from it gets the real compiler, and so does everybody afterwards.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

COMPILER = "torch._dynamo"
PARTS = (COMPILER, f"{COMPILER}.utils")


@contextmanager
def compiler_later() -> Iterator[None]:
    """Within it, `torch._dynamo` is a stand-in, unless it is there already."""
    if COMPILER in sys.modules:
        yield
        return
    stand_ins = {name: _StandIn(name) for name in PARTS}
    sys.modules.update(stand_ins)
    try:
        yield
    finally:
        _remove()


class _StandIn(ModuleType):
    __path__: list[str] = []  # noqa: RUF012  it looks like a package

    @staticmethod
    def is_compile_supported(device_type: Any) -> Any:
        return import_module(f"{COMPILER}.utils").is_compile_supported(device_type)

    @staticmethod
    def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None, wrapping: bool = True) -> Any:
        """The mark by which the compiler knows what to leave alone."""

        def mark(function: Callable[..., Any]) -> Callable[..., Any]:
            function._torchdynamo_disable = True  # type: ignore[attr-defined]
            return function

        return mark if fn is None else mark(fn)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        _remove()
        return getattr(import_module(self.__name__), name)


def _remove() -> None:
    for name in PARTS:
        if isinstance(sys.modules.get(name), _StandIn):
            del sys.modules[name]
