"""The verbs as a Typer application, each imported when it is called."""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

from orderless.cli.main import VERBS, help_page
from orderless.errors import UsageError


class Verbs(TyperGroup):
    """The group of all verbs, of which it knows only the table until one is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in VERBS:
            near = get_close_matches(cmd_name, VERBS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else "orderless --help lists them"
            raise UsageError(f"there is no verb {cmd_name!r}; {hint}")
        module, _, name = VERBS[cmd_name][0].partition(":")
        verb = getattr(import_module(module), name)
        if not isinstance(verb, typer.Typer):  # a plain function; `data` is a group of verbs itself
            function, verb = verb, typer.Typer(add_completion=False)
            verb.command(cmd_name)(function)
        return get_command(verb)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        formatter.write(help_page())


app = typer.Typer(
    name="orderless", cls=Verbs, no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False
)


@app.callback()
def about() -> None:
    """Tag images with sets of labels."""
