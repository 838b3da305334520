"""`orderless train`: from tagged photos to a run."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from orderless.errors import UsageError

if TYPE_CHECKING:
    from orderless.config import EncoderPart
    from orderless.run_folder import RunFolder


def train_command(
    data: Annotated[str | None, typer.Argument(help="Folder with tagged photos, or 'scenes' for generated ones.")] = None,
    out: Annotated[Path | None, typer.Option(help="Run folder to write (default: runs/<data>-<method>).")] = None,
    method: Annotated[str | None, typer.Option(help="joint, pla, mla, bce, …: see orderless methods (default: joint; pla with --recipe paper).")] = None,
    recipe: Annotated[str | None, typer.Option(help="quick (small data, CPU), paper, or a file as those in recipes/ (default: quick).")] = None,
    config: Annotated[Path | None, typer.Option(help="Start from a config.yaml instead of a recipe.")] = None,
    backbone: Annotated[str | None, typer.Option(help="lite0, resnet50, resnet101, vgg16, … any timm name.")] = None,
    weights: Annotated[str | None, typer.Option(help="auto, none, or a .safetensors file.")] = None,
    image_size: Annotated[int | None, typer.Option(help="Side of the square that images are resized to.")] = None,
    attention: Annotated[bool | None, typer.Option("--attention/--no-attention", help="Let the decoder look again at every step.")] = None,
    finetune: Annotated[bool, typer.Option("--finetune", help="Train the whole encoder, not only its last block; slow without a GPU.")] = False,
    freeze: Annotated[bool, typer.Option("--freeze", help="Leave the encoder as it is.")] = False,
    epochs: Annotated[int | None, typer.Option(help="Epochs of the last stage.")] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of everything random.")] = None,
    limit: Annotated[int | None, typer.Option(help="Use at most so many images of every split.")] = None,
    format: Annotated[str | None, typer.Option(help="Data format, if looking at the folder is not enough.")] = None,
    option: Annotated[list[str] | None, typer.Option("--option", "-O", help="Option of the reader, name=value (docs/data.md).")] = None,
    ignore_unknown: Annotated[bool, typer.Option("--ignore-unknown", help="Leave out labels that training lacks.")] = False,
    workers: Annotated[int | None, typer.Option(help="Processes that decode images.")] = None,
    cache_images: Annotated[bool, typer.Option("--cache-images", help="Keep resized images on disk (with --finetune).")] = False,
    set_: Annotated[list[str] | None, typer.Option("--set", help="Any setting, e.g. model.hidden=256.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
    tensorboard: Annotated[bool, typer.Option("--tensorboard", help="Log for TensorBoard too.")] = False,
    json_: Annotated[bool, typer.Option("--json", help="Print the final metrics and the summary as JSON.")] = False,
) -> None:  # fmt: skip
    """Train a tagger on your photos."""
    from orderless.cli.watch import ConsoleWatcher, WarningWatcher
    from orderless.data import parse_options
    from orderless.run_folder import RunFolder
    from orderless.training.run import train

    rank, alone = int(os.environ.get("RANK", "0")), os.environ.get("WORLD_SIZE", "1") == "1"  # as torchrun says
    if not alone and out is None:
        raise UsageError("several processes need to be told where to write: --out runs/NAME")
    changes: dict[str, Any]
    if resume:
        given = {
            "PHOTOS": data, "--method": method, "--recipe": recipe, "--config": config, "--backbone": backbone,
            "--weights": weights, "--image-size": image_size, "--attention": attention, "--finetune": finetune or None,
            "--freeze": freeze or None, "--epochs": epochs, "--seed": seed, "--limit": limit, "--format": format,
            "--option": option, "--ignore-unknown": ignore_unknown or None, "--workers": workers,
            "--cache-images": cache_images or None, "--set": set_,
        }  # fmt: skip
        settings, run = _resumed(out, [name for name, value in given.items() if value is not None])
    else:
        if recipe is not None and config is not None:
            raise UsageError("--recipe and --config both say where to start from; give one of them")
        changes = {
            "method": method, "seed": seed,
            "data.path": _absolute(data), "data.format": format, "data.options": parse_options(option or []) or None,
            "data.image_size": image_size, "data.limit": limit, "data.ignore_unknown": ignore_unknown or None, "data.workers": workers,
            "data.cache_images": cache_images or None,
            "model.backbone": backbone, "model.weights": weights, "model.attention": attention,
        }  # fmt: skip
        if recipe is not None and Path(recipe).suffix in (".yaml", ".yml"):
            config, recipe = Path(recipe), None
        learning = _learning(finetune, freeze, config)
        settings = _configured(config, recipe or "quick", method, learning, changes, epochs, set_ or [])
        if data is None and config is None:
            raise UsageError("say what to train on: orderless train PHOTOS (or 'scenes' for generated photos)")
        run = RunFolder(out or _free_folder(settings.data.path, settings.method))
    watcher = ConsoleWatcher() if rank == 0 else WarningWatcher(rank)
    try:
        metrics = train(settings, run, resume=resume, tensorboard=tensorboard, watcher=watcher)
    finally:
        watcher.end()
    if rank == 0:
        _print_summary(metrics, run, json_)


def _configured(
    file: Path | None, recipe_name: str, method: str | None, learning: EncoderPart | None, changes: dict[str, Any],
    epochs: int | None, assignments: list[str],
) -> Any:  # fmt: skip
    from orderless.config import load_config, override, parse_config
    from orderless.recipes import recipe

    config = load_config(file) if file else recipe(recipe_name, method, learning=learning)
    values = config.model_dump(mode="json")
    for key, value in changes.items():
        if value is not None:
            room, _, name = key.rpartition(".")
            (values[room] if room else values)[name] = value
    if epochs is not None:
        values["stages"][-1] |= {"epochs": epochs, "least_steps": 0}
    return override(parse_config(values, "the command line"), assignments)


def _learning(finetune: bool, freeze: bool, file: Path | None) -> EncoderPart | None:
    if finetune and freeze:
        raise UsageError("--finetune trains the encoder and --freeze does not: choose one of them")
    if (finetune or freeze) and file:
        raise UsageError("what of the encoder learns stands in the stages of --config: change it there, or by --set")
    return "all" if finetune else "none" if freeze else None


def _resumed(out: Path | None, given: list[str]) -> tuple[Any, Any]:
    from orderless.config import load_config
    from orderless.run_folder import RunFolder

    if out is None:
        raise UsageError("say which run to go on with: orderless train --resume --out runs/NAME")
    if given:
        raise UsageError(f"--resume goes on as the run's config.yaml says; leave out {', '.join(given)}")
    run = RunFolder(out)
    if not run.config_file.is_file():
        raise UsageError(f"{out} is not a run that could be resumed: it has no config.yaml")
    return load_config(run.config_file), run


def _absolute(data: str | None) -> str | None:
    """A run must find its photos again from any folder."""
    if data is None or data.partition(":")[0] == "scenes":
        return data
    return str(Path(data).expanduser().resolve())


def _free_folder(data: str, method: str) -> Path:
    stem = f"{Path(data.partition(':')[0]).name or 'data'}-{method}"
    folder, number = Path("runs") / stem, 2
    while folder.exists():
        folder, number = Path("runs") / f"{stem}-{number}", number + 1
    return folder


def _print_summary(metrics: dict[str, Any], run: RunFolder, as_json: bool) -> None:
    import json

    from orderless.cli.console import out as console
    from orderless.report.run_page import write_run_report

    page, summary = write_run_report(run.path)
    if as_json:
        facts = json.loads(run.summary_file.read_text(encoding="utf-8"))
        print(json.dumps(metrics | {"summary": facts}, indent=1, ensure_ascii=False))
        return
    from orderless.cli.run_summary import print_run_summary
    from orderless.cli.tables import metrics_table, percent

    split, numbers, tuned = run.final_numbers()
    console.print(metrics_table(numbers, f"{metrics['method']} on the {split} split"))
    if f"{split}-tuned" in metrics and not tuned:
        console.print(f"OF1 at the threshold that validation chose, {metrics['threshold']:.2f}: "
                      f"{percent(metrics[f'{split}-tuned']['OF1'])}", markup=False)  # fmt: skip
    print_run_summary(summary)
    console.print(f"\nrun written to {run.path}", markup=False)
    console.print(f"all this with photos:  {page}", markup=False)
    console.print(
        f"tag photos with:       orderless predict {shlex.quote(str(run.path))} PHOTO…", markup=False, style="bold"
    )
