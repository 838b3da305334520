"""The page of a single run: metrics, curves, labels from best to worst, examples."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import ImageOps
from torch import Tensor

from orderless.data.sample import Collection, Sample
from orderless.errors import OrderlessError, UnreadableImage, UsageError
from orderless.evaluation import ClassResult, per_class
from orderless.files import write_text
from orderless.labels import Vocabulary
from orderless.report.curves import curves_figure
from orderless.report.html import document, figure_html, jpeg, safe, tiles
from orderless.report.runs import title
from orderless.report.style import inked, inline_svg, save_both
from orderless.run_folder import RunFolder
from orderless.training.history import read_rows

HEADLINES = ("OF1", "CF1", "mAP", "OP", "OR", "subset-accuracy", "duplicate-rate", "order-rigidness")
EXAMPLES = 12
THUMBNAIL = 300
LISTED = 15  # labels from either end


def write_run_report(folder: Path) -> Path:
    """Write report.html (and its curves as figures) into a run's folder; returns the page."""
    run = RunFolder.open(folder)
    metrics = run.metrics()
    if not metrics:
        raise UsageError(f"{folder} has no metrics.json; finish it with orderless train --resume --out {folder}")
    write_text(run.report_file, run_page(run, metrics))
    return run.report_file


def run_page(run: RunFolder, metrics: dict[str, Any]) -> str:
    """The page as text."""
    config, vocabulary, predictions = run.config(), run.vocabulary(), run.predictions()
    split = "test" if "test" in predictions else "val"
    judged = predictions[split]
    results = per_class(judged["truth"], judged["predicted"], judged["scores"], judged["ignore"])
    numbers = metrics[split]
    where = f"{numbers['images']:,} {split} images"
    body = [
        f"<h1>{safe(title(config.method))} on {safe(_data_name(config.data.path))}</h1>",
        f'<p class="soft">Judged on {where}, {len(vocabulary)} labels; encoder {safe(config.model.backbone)} at '
        f"{config.data.image_size} px, seed {config.seed}.</p>",
        tiles([(f"{100 * numbers[name]:.1f} %", name) for name in HEADLINES if name in numbers]),
        _tuned(metrics),
        _curves(run),
        "<h2>Labels</h2>",
        _labels(vocabulary, results),
        _examples(run, judged, split),
        f'<footer>Written by <code>orderless report</code>. The same settings are in '
        f"<code>{safe(run.config_file.name)}</code>.</footer>",
    ]  # fmt: skip
    return document(f"{config.method} – run", body)


def _data_name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2].partition(":")[0] or path


def _tuned(metrics: dict[str, Any]) -> str:
    if "test-tuned" not in metrics:
        return ""
    tuned = metrics["test-tuned"]
    return (
        f'<p class="soft note">At the threshold that validation chose, {metrics["threshold"]:.2f}: '
        f"OF1 {100 * tuned['OF1']:.1f} %, CF1 {100 * tuned['CF1']:.1f} %.</p>"
    )


def _curves(run: RunFolder) -> str:
    rows = read_rows(run.metrics_csv)
    if not rows:
        return ""
    method = run.config().method
    with inked():
        figure = curves_figure({method: rows}, [method])
    svg = save_both(figure, run.path / "figures", "curves")
    return f"<h2>Learning</h2>{figure_html('Loss and quality of the last stage', inline_svg(svg, 'learning curves'))}"


def _labels(vocabulary: Vocabulary, results: Sequence[ClassResult]) -> str:
    """Labels by F1, the best and the worst if there are many."""
    order = sorted(range(len(vocabulary)), key=lambda i: (-results[i].F1, vocabulary.names[i]))
    order = [i for i in order if results[i].tp + results[i].fn + results[i].fp]  # neither true nor predicted: nothing
    if len(order) <= 2 * LISTED:
        return _label_table(vocabulary, results, order)
    best, worst = order[:LISTED], order[-LISTED:]
    return (
        f'<h3>Best</h3>{_label_table(vocabulary, results, best)}<h3>Worst</h3>'
        f"{_label_table(vocabulary, results, worst)}"
    )  # fmt: skip


def _label_table(vocabulary: Vocabulary, results: Sequence[ClassResult], order: Sequence[int]) -> str:
    heads = "".join(f'<th class="n">{head}</th>' for head in ("F1", "precision", "recall", "AP", "images", "training"))
    rows = []
    for i in order:
        result = results[i]
        shares = (result.F1, result.precision, result.recall, result.AP)
        cells = "".join(f'<td class="n">{"–" if share is None else f"{100 * share:.1f}"}</td>' for share in shares)
        rows.append(
            f'<tr><td class="name">{safe(vocabulary.names[i])}</td>{cells}<td class="n">{result.tp + result.fn:,}</td>'
            f'<td class="n">{vocabulary.frequencies[i]:,}</td></tr>'
        )
    return (
        f'<div class="card pad scroll"><table class="numbers"><thead><tr><th></th>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _examples(run: RunFolder, judged: dict[str, Tensor], split: str) -> str:
    """Photos with what was written; without the data there are none, and the page is whole all the same."""
    samples = _samples(run, split)
    names = run.vocabulary().names
    cards: list[str] = []
    step = max(1, len(judged["index"]) // EXAMPLES)
    for row in range(0, len(judged["index"]), step):
        index = int(judged["index"][row])
        if index >= len(samples) or len(cards) == EXAMPLES:
            break
        photo = _thumbnail(samples[index])
        if photo is None:
            continue
        truth = judged["truth"][row]
        line = _written(judged, row)
        tags = "".join(
            f'<span class="tag{"" if truth[label] else " wrong"}">{safe(names[label])}</span>'
            for label in dict.fromkeys(line)
        )
        missed = [names[i] for i in truth.nonzero().flatten().tolist() if i not in line]
        more = f'<p class="truth soft">missed: {safe(", ".join(missed))}</p>' if missed else ""
        cards.append(f'<div class="photo card">{photo}<div>{tags or "<i>no tag</i>"}{more}</div></div>')
    note = '<p class="soft note">In the order they were written; wrong labels are underlined.</p>'
    return f'<h2>Examples</h2><div class="photos">{"".join(cards)}</div>{note}' if cards else ""


def _written(judged: dict[str, Tensor], row: int) -> list[int]:
    if "sequences" in judged:
        return [label for label in judged["sequences"][row].tolist() if label >= 0]
    chosen: list[int] = judged["predicted"][row].nonzero().flatten().tolist()
    return sorted(chosen, key=lambda label: -float(judged["scores"][row, label]))


def _samples(run: RunFolder, split: str) -> list[Sample]:
    from orderless.data import open_data

    config = run.config()
    try:
        seed, data = config.data_seed, config.data
        collection: Collection = open_data(data.path, data.format, seed=seed, **data.options)
        return collection.limited(data.limit, seed)[split]
    except OrderlessError:
        return []


def _thumbnail(sample: Sample) -> str | None:
    try:
        image = ImageOps.contain(sample.load(size=THUMBNAIL), (THUMBNAIL, THUMBNAIL))
    except UnreadableImage:
        return None
    memory = io.BytesIO()
    image.save(memory, "JPEG", quality=80)
    return jpeg(base64.b64encode(memory.getvalue()).decode(), sample.path.name)
