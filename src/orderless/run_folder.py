"""A run is a folder that explains itself; this is the one place that knows its files.

config.yaml        every setting, after defaults and overrides
labels.json        vocabulary with frequencies
model.safetensors  best weights; loading runs no code
last/              what --resume needs
metrics.csv        a row per epoch
metrics.json       the final numbers
predictions.safetensors  what the finished model says of every validation and test image
summary.json       the same in plain facts: good and bad labels, examples, photos to look at again
report.html        one page, pictures inside
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from orderless.config import Config, dump_config, load_config
from orderless.errors import OrderlessError, UsageError
from orderless.files import alone_with, write_bytes, write_text
from orderless.labels import Vocabulary

if TYPE_CHECKING:
    from torch import Tensor, nn


ENCODER = "encoder"  # beside the names of splits


class RunFolder:
    """The files of one run, by name."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.config_file = self.path / "config.yaml"
        self.labels_file = self.path / "labels.json"
        self.weights_file = self.path / "model.safetensors"
        self.last = self.path / "last"
        self.metrics_csv = self.path / "metrics.csv"
        self.metrics_file = self.path / "metrics.json"
        self.predictions_file = self.path / "predictions.safetensors"
        self.summary_file = self.path / "summary.json"
        self.report_file = self.path / "report.html"
        self.basis_file = self.last / "basis.json"
        self.penalisation_file = self.last / "penalisation.json"

    @classmethod
    def open(cls, path: str | Path) -> RunFolder:
        """A finished run; anything else is a UsageError that says what is missing."""
        run = cls(path)
        if run.path.suffix == ".onnx" and run.path.is_file():
            raise UsageError(
                f"{str(path)!r} is an exported file, not a run: orderless.OnnxTagger({str(path)!r}) opens it"
            )
        if not run.path.is_dir():
            raise UsageError(f"there is no run folder {str(path)!r}")
        for file in (run.config_file, run.labels_file, run.weights_file):
            if not file.is_file():
                hint = "; finish it with orderless train --resume" if run.last.is_dir() else ""
                raise UsageError(f"{str(path)!r} is not a finished run: it has no {file.name}{hint}")
        return run

    def config(self) -> Config:
        return load_config(self.config_file)

    def vocabulary(self) -> Vocabulary:
        return Vocabulary.load(self.labels_file)

    def check_labels(self, vocabulary: Vocabulary) -> None:
        """Weights know labels by their number: a run cannot go on when the data has others."""
        if not self.labels_file.is_file():
            return
        before, now = self.vocabulary().names, vocabulary.names
        if before == now:
            return
        changed = sorted(set(before) ^ set(now))
        what = f"{changed[0]!r} is new or gone" if changed else "they come in another order"
        raise UsageError(
            f"the labels of the data have changed since {self.path} was begun ({what}); undo that, or train a new run"
        )

    def check_basis(self, basis: dict[str, str]) -> None:
        """Nor can it go on when the data or the encoder that it was begun with are others now."""
        try:
            before = json.loads(self.basis_file.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):  # of an older version
            return
        changed = [name for name in basis if before.get(name) != basis[name]] if isinstance(before, dict) else []
        if changed:
            what = "the encoder's first weights" if changed[0] == ENCODER else f"the images or labels of {changed[0]}"
            raise UsageError(f"{what} have changed since {self.path} was begun; undo that, or train a new run")

    @contextmanager
    def in_training(self) -> Iterator[None]:
        """No other process may train this run meanwhile."""
        try:
            self.last.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OrderlessError(f"cannot write {self.path}: {error.strerror or error}") from None
        with alone_with(self.last) as alone:
            if not alone:
                raise UsageError(f"another process is training {self.path}; wait for it, or choose another --out")
            yield

    def begin(self, config: Config, vocabulary: Vocabulary, basis: dict[str, str] | None = None) -> None:
        """Write what is known before the first step; remove what a killed process was writing.

        `basis` has checksums of what the run must find again to go on: of each split, and of the encoder.
        """
        for folder in (self.path, self.last):
            for leftover in folder.glob(".*.tmp"):
                leftover.unlink(missing_ok=True)
        header = f"# orderless train --config {self.config_file.name}   starts this run again\n"
        write_text(self.config_file, header + dump_config(config))
        write_text(self.labels_file, vocabulary.to_json() + "\n")
        if basis is not None:
            write_text(self.basis_file, json.dumps(basis, indent=1) + "\n")

    def save_metrics(self, metrics: dict[str, Any]) -> None:
        write_text(self.metrics_file, json.dumps(metrics, indent=1, ensure_ascii=False) + "\n")

    def save_predictions(self, splits: dict[str, dict[str, Tensor]]) -> None:
        """Tensors by split and name, such as `test` and `truth`; stored as `test.truth`."""
        from safetensors.torch import save

        flat = {f"{split}.{name}": t.contiguous() for split, tensors in splits.items() for name, t in tensors.items()}
        write_bytes(self.predictions_file, save(flat))

    def predictions(self) -> dict[str, dict[str, Tensor]]:
        """What `save_predictions` wrote."""
        from safetensors import SafetensorError
        from safetensors.torch import load_file

        try:
            flat = load_file(self.predictions_file)
        except (SafetensorError, OSError) as error:
            raise UsageError(f"{self.predictions_file} is missing or damaged ({error}); train the run again") from None
        splits: dict[str, dict[str, Tensor]] = {}
        for key, tensor in flat.items():
            split, _, name = key.rpartition(".")
            splits.setdefault(split, {})[name] = tensor
        return splits

    def metrics(self) -> dict[str, Any]:
        """The final numbers, or nothing if the run has none yet; what is damaged is left out."""
        try:
            found = json.loads(self.metrics_file.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(found, dict):
            return {}
        judgements = {f"{split}{tuned}" for split in ("val", "test") for tuned in ("", "-tuned")}
        return {name: value for name, value in found.items() if name not in judgements or _is_judgement(value)}

    def final_numbers(self) -> tuple[str, dict[str, Any], bool]:
        """The split that the run was judged on, its numbers as the saved model decides, and whether that is by the
        threshold that validation chose."""
        metrics = self.metrics()
        split = "test" if "test" in metrics else "val"
        tuned = self.config().threshold == "tuned" and f"{split}-tuned" in metrics
        return split, metrics.get(f"{split}-tuned" if tuned else split, {}), tuned


def resume_command(path: Path) -> str:
    """What to type."""
    return f"orderless train --resume --out {shlex.quote(str(path))}"


def _is_judgement(value: Any) -> bool:
    """A number for each metric (none where it has no meaning), and how many images they are of."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("images"), int)
        and all(number is None or isinstance(number, int | float) for number in value.values())
    )


def save_weights(model: nn.Module, path: Path) -> None:
    """Every parameter and buffer as safetensors, contiguous and on the CPU."""
    from safetensors.torch import save

    state = {name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}
    write_bytes(path, save(state))


def load_weights(model: nn.Module, path: Path) -> None:
    """Strict: a file that does not fit the model, or is damaged, is a UsageError."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        state = load_file(path)
    except (SafetensorError, OSError) as error:
        raise UsageError(f"{path} is damaged or not a safetensors file ({error})") from None
    try:
        model.load_state_dict(state)
    except RuntimeError as error:
        detail = str(error).splitlines()[-1].strip()
        raise UsageError(f"{path} does not fit its config.yaml: {detail}") from None
