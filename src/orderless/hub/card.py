"""The model card of a run: what it learned from, how good it is, what it is for and what it is not."""

from __future__ import annotations

import re
from html import escape
from typing import Any

import yaml

from orderless.config import Config
from orderless.labels import Vocabulary
from orderless.methods import METHODS
from orderless.run_folder import RunFolder
from orderless.text import counted, printable

SHOWN = 5  # labels from either end
HEADLINES = {
    "OF1": "overall F1",
    "CF1": "per-class F1",
    "mAP": "mean average precision",
    "subset-accuracy": "exact sets",
}


def model_card(run: RunFolder, repository: str) -> str:
    """README.md of the repository."""
    config, vocabulary, metrics = run.config(), run.vocabulary(), run.metrics()
    split, numbers, tuned = run.final_numbers()
    name = repository.rpartition("/")[2]
    front = yaml.safe_dump(_front_matter(config, name, split, numbers), sort_keys=False, allow_unicode=True)
    parts = [
        f"---\n{front}---\n\n# {_text(name)}",
        f"Tags images with sets of labels, out of {len(vocabulary)}. Trained with "
        f"`orderless`, method `{config.method}` "
        f"({METHODS[config.method].summary}), encoder `{config.model.backbone}` at {config.data.image_size} pixels.",
        _use(repository, name),
        _data(config, vocabulary, metrics),
        _metrics(split, numbers),
        _labels(run, vocabulary, f"{split}-tuned" if tuned else split),
        _limits(config, vocabulary),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def data_name(path: str) -> str:
    """The last part of a data set's path: where it lay on somebody's disk is nobody's business."""
    return path if path.startswith("scenes") else re.split(r"[/\\]", path.rstrip("/\\"))[-1]


def _front_matter(config: Config, name: str, split: str, numbers: dict[str, Any]) -> dict[str, Any]:
    measured = [
        {"type": name, "name": HEADLINES[name], "value": round(float(numbers[name]), 4)}
        for name in HEADLINES
        if numbers.get(name) is not None
    ]
    found: dict[str, Any] = {
        "library_name": "orderless",
        "pipeline_tag": "image-classification",
        "tags": ["orderless", "multi-label", "image-tagging", config.method],
    }
    if measured:
        data = data_name(config.data.path)
        result = {
            "task": {"type": "image-classification", "name": "multi-label image classification"},
            "dataset": {"name": data, "type": data, "split": split},
            "metrics": measured,
        }
        found |= {
            "metrics": [entry["type"] for entry in measured],
            "model-index": [{"name": name, "results": [result]}],
        }
    return found


def _use(repository: str, name: str) -> str:
    return f"""## Use

```bash
pip install 'orderless[hub]'
orderless pull {repository} --out runs/{name}
orderless predict runs/{name} photo.jpg
```"""


def _data(config: Config, vocabulary: Vocabulary, metrics: dict[str, Any]) -> str:
    sizes = [f"{metrics[split]['images']:,} for {split}" for split in ("val", "test") if split in metrics]
    counts = sorted(zip(vocabulary.frequencies, vocabulary.names, strict=True), reverse=True)
    most, least = counts[0], counts[-1]
    return (
        f"## Data\n\nData set: {_text(data_name(config.data.path))}"
        f"{' (images: ' + ', '.join(sizes) + ')' if sizes else ''}. "
        f"The training images carry {counted(sum(vocabulary.frequencies), 'label')}; the most frequent is "
        f"{_text(most[1])} ({counted(most[0], 'image')}), the rarest {_text(least[1])} ({least[0]:,}).\n\n"
        f"All labels: {', '.join(_text(label) for label in vocabulary.names)}."
    )


def _metrics(split: str, numbers: dict[str, Any]) -> str:
    if not numbers:
        return "## Metrics\n\nNone were measured."
    rows = [
        f"| {title} (`{name}`) | {100 * numbers[name]:.1f} % |"
        for name, title in HEADLINES.items()
        if numbers.get(name) is not None
    ]
    return (
        f"## Metrics\n\nOn {counted(numbers['images'], f'{split} image')}.\n\n| metric | value |\n|---|---|\n"
        + "\n".join(rows)
    )


def _labels(run: RunFolder, vocabulary: Vocabulary, judgement: str) -> str:
    """The best and the worst labels by F1; all if they are few."""
    from orderless.evaluation import per_class

    if not run.predictions_file.is_file():
        return ""
    judged = run.predictions().get(judgement)
    if judged is None:
        return ""
    results = per_class(judged["truth"], judged["predicted"], judged["scores"], judged["ignore"])
    order = [i for i in range(len(vocabulary)) if results[i].tp + results[i].fn]
    order.sort(key=lambda i: (-results[i].F1, vocabulary.names[i]))
    split = judgement.removesuffix("-tuned")
    parts = {"Every label": order} if len(order) <= 2 * SHOWN else {"Best": order[:SHOWN], "Worst": order[-SHOWN:]}
    tables = []
    for title, chosen in parts.items():
        rows = [
            f"| {_text(vocabulary.names[i])} | {100 * results[i].F1:.1f} | {100 * results[i].precision:.1f} | "
            f"{100 * results[i].recall:.1f} | {results[i].tp + results[i].fn:,} | {vocabulary.frequencies[i]:,} |"
            for i in chosen
        ]
        head = f"| {title} | F1 | precision | recall | {split} images | training images |\n|---|---|---|---|---|---|\n"
        tables.append(head + "\n".join(rows))
    return "## Labels\n\nIn %.\n\n" + "\n\n".join(tables)


def _limits(config: Config, vocabulary: Vocabulary) -> str:
    rare = sum(count < 10 for count in vocabulary.frequencies)
    few = f" {counted(rare, 'label has', 'labels have')} fewer than 10 training images." if rare else ""
    origin = {"auto": "published ImageNet weights", "none": "random weights"}.get(config.model.weights)
    origin = origin or f"the weights {_text(data_name(config.model.weights))}"
    encoder = {
        "none": "was not trained further",
        "tail": "was trained further on this data (its last block)",
        "all": "was trained further on this data",
    }[config.learning]
    return f"""## Intended use and limits

- For sorting and searching photos like those it was trained on, where a wrong tag does no harm. Not for decisions
  about people.
- It knows the labels above and no other: whatever else a photo shows, it is silent or takes it for one of them.
- It learned the habits of its data: what stands together there is expected together elsewhere, and places, people or
  cameras that are rare there are judged worse.{few}
- The encoder `{config.model.backbone}` started from {origin} and {encoder}; the bias and the licence of what it
  started from hold here too.
- The heat maps show where the model looked, which is not a proof of why it chose a label."""


def _text(text: str) -> str:
    """A name as Markdown and HTML show it, whatever it holds."""
    return re.sub(r"([\\`*_\[\]()|#~!])", r"\\\1", escape(" ".join(printable(text).split())))
