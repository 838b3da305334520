"""`orderless push` and `orderless pull`: runs on the Hugging Face Hub."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def push_command(
    run: Annotated[Path, typer.Argument(help="Run folder.")],
    repository: Annotated[str, typer.Argument(metavar="OWNER/NAME", help="Where to; made if it is not there.")],
    private: Annotated[bool, typer.Option("--private", help="A new repository is private.")] = False,
) -> None:
    """Upload a run to the Hugging Face Hub, with a model card."""
    from orderless.hub.sharing import push

    print(push(run, repository, private=private))


def pull_command(
    repository: Annotated[str, typer.Argument(metavar="OWNER/NAME", help="Where from.")],
    out: Annotated[Path | None, typer.Option(help="Folder to write; default runs/NAME.")] = None,
    revision: Annotated[str | None, typer.Option(help="Branch, tag or commit.")] = None,
) -> None:
    """Download a run from the Hugging Face Hub and check it. Nothing in it can run code."""
    from orderless.hub.sharing import pull

    print(pull(repository, out, revision=revision))
