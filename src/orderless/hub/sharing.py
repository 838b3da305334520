"""`push` and `pull`: a run to the Hub and back. What is pulled is checked before it is a run."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from orderless.config import dump_config
from orderless.errors import OrderlessError, UsageError
from orderless.files import sha256, write_text
from orderless.hub.card import data_name, model_card
from orderless.run_folder import RunFolder

CHECKSUMS = "checksums.json"
NEEDED = ("config.yaml", "labels.json", "model.safetensors", CHECKSUMS)
ALLOWED = (*NEEDED, "metrics.json", "metrics.csv", "predictions.safetensors", "README.md")  # none can run code


def push(folder: str | Path, repository: str, *, private: bool = False) -> str:
    """Upload a finished run with its model card; returns its address."""
    _check_name(repository)
    run = RunFolder.open(folder)
    hub = _hub()
    if hub.get_token() is None:
        raise UsageError("pushing needs a token of the Hub with write permission: set HF_TOKEN, or run: hf auth login")
    with tempfile.TemporaryDirectory() as place, _hub_errors(hub, repository):
        stage(run, repository, Path(place))
        api = hub.HfApi(library_name="orderless")
        api.create_repo(repository, private=private, exist_ok=True)
        info = api.upload_folder(repo_id=repository, folder_path=place, commit_message="orderless push")
    return str(info.repo_url)


def stage(run: RunFolder, repository: str, place: Path) -> None:
    """What is uploaded: files of the run, its card, and the checksums of all."""
    for name in ALLOWED:
        if name != "metrics.json" and (run.path / name).is_file():
            shutil.copyfile(run.path / name, place / name)
    metrics = {name: value for name, value in run.metrics().items() if name != "unreadable"}  # paths of photos
    if metrics:
        write_text(place / "metrics.json", json.dumps(metrics, indent=1, ensure_ascii=False) + "\n")
    config = run.config()
    data = config.data.model_copy(update={"path": data_name(config.data.path)})
    weights = data_name(config.model.weights)
    model = config.model.model_copy(update={"weights": weights})
    write_text(place / "config.yaml", dump_config(config.model_copy(update={"data": data, "model": model})))
    write_text(place / "README.md", model_card(run, repository))
    sums = {path.name: sha256(path) for path in sorted(place.iterdir())}
    write_text(place / CHECKSUMS, json.dumps({"sha256": sums}, indent=1) + "\n")


def pull(repository: str, out: Path | None = None, *, revision: str | None = None) -> Path:
    """Download a run and check it; the folder appears only when it is whole."""
    _check_name(repository)
    out = out or Path("runs") / repository.rpartition("/")[2]
    if out.exists():
        raise UsageError(f"{str(out)!r} is there already; choose another --out")
    hub = _hub()
    with _hub_errors(hub, repository, revision):
        info = hub.HfApi(library_name="orderless").model_info(repository, revision=revision)
        there = {sibling.rfilename for sibling in info.siblings or ()}
        missing = [name for name in NEEDED if name not in there]
        if missing:
            raise UsageError(f"{repository!r} is not a run that orderless pushed: it has no {missing[0]}")
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=out.parent, prefix=".pull-") as place:
            found = hub.snapshot_download(
                repository,
                revision=info.sha,  # one state of the repository, whatever is pushed meanwhile
                allow_patterns=[name for name in ALLOWED if name in there],
                local_dir=Path(place) / "download",
                library_name="orderless",
            )
            whole = Path(place) / "run"
            whole.mkdir()
            for name in ALLOWED:
                source = Path(found) / name
                if source.is_file() and not source.is_symlink():
                    source.rename(whole / name)
            check(whole, repository)
            whole.rename(out)
    return out


def check(folder: Path, repository: str) -> None:
    """Every file is what its checksum says, and they are a run."""
    try:
        sums = json.loads((folder / CHECKSUMS).read_text(encoding="utf-8"))["sha256"]
        listed = {str(name): str(value) for name, value in sums.items()}
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        raise UsageError(f"{repository!r} is not a run that orderless pushed: its {CHECKSUMS} is damaged") from None
    for path in sorted(folder.iterdir()):
        if path.name in (CHECKSUMS, "README.md"):  # a card may be edited on the Hub
            continue
        if listed.get(path.name) != sha256(path):
            raise OrderlessError(f"{path.name} of {repository!r} is not what its checksum says; nothing was written")
    run = RunFolder.open(folder)
    run.config()
    run.vocabulary()


def _check_name(repository: str) -> None:
    part = r"[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?"
    if not re.fullmatch(f"{part}/{part}", repository) or ".." in repository:
        raise UsageError(f"{repository!r} is no name of a repository: write owner/name")


def _hub() -> Any:
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    try:
        import huggingface_hub
        import huggingface_hub.errors
        from huggingface_hub.utils.tqdm import disable_progress_bars
    except ImportError:
        raise UsageError(
            "the Hub needs huggingface_hub, which is not installed: pip install 'orderless[hub]'"
        ) from None
    if not sys.stderr.isatty():
        disable_progress_bars()
    return huggingface_hub


@contextmanager
def _hub_errors(hub: Any, repository: str, revision: str | None = None) -> Iterator[None]:
    """Whatever the Hub or the network does, as one sentence."""
    errors = hub.errors
    try:
        yield
    except errors.RevisionNotFoundError:
        raise UsageError(f"{repository!r} has no revision {revision!r}") from None
    except errors.RepositoryNotFoundError:
        raise UsageError(
            f"there is no repository {repository!r} on the Hub, or it is private and HF_TOKEN does not open it"
        ) from None
    except errors.HfHubHTTPError as error:
        status = error.response.status_code
        if status in (401, 403):
            raise UsageError(f"the Hub does not let this token do that with {repository!r}; check HF_TOKEN") from None
        raise OrderlessError(f"the Hub answered {status} for {repository!r}; try again later") from None
    except (errors.HTTPError, errors.LocalEntryNotFoundError, ConnectionError, TimeoutError) as error:
        raise OrderlessError(f"the Hub cannot be reached ({str(error).splitlines()[0]})") from None
