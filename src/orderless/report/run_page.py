"""The page of a single run: the summary in plain words, metrics, examples, curves, all labels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from orderless.data.sample import Collection
from orderless.errors import UsageError
from orderless.evaluation import ClassResult, per_class
from orderless.files import write_text
from orderless.labels import Vocabulary
from orderless.report.curves import curves_figure
from orderless.report.html import document, figure_html, safe, tiles
from orderless.report.runs import title
from orderless.report.style import inked, inline_svg, save_both
from orderless.report.summary import (
    Judged,
    JudgedPhotos,
    Summary,
    final_predictions,
    open_collection,
    write_summary,
)
from orderless.report.summary_page import advice, good_and_bad, headline, looks, photo_card, right_or_wrong
from orderless.run_folder import RunFolder, resume_command
from orderless.text import counted
from orderless.training.history import read_rows

HEADLINES = ("OF1", "CF1", "mAP", "OP", "OR", "subset-accuracy", "duplicate-rate", "order-rigidness")
EXAMPLES = 10
LISTED = 15  # labels from either end


def write_run_report(folder: Path) -> tuple[Path, Summary]:
    """Write report.html (with its curves as figures) and summary.json into a run's folder; returns page and summary."""
    run = RunFolder.open(folder)
    metrics = run.metrics()
    if not metrics:
        raise UsageError(f"{folder} has no metrics.json; finish it with {resume_command(folder)}")
    collection = open_collection(run)
    summary = write_summary(run, collection)
    write_text(run.report_file, run_page(run, metrics, summary, collection))
    return run.report_file, summary


def run_page(run: RunFolder, metrics: dict[str, Any], summary: Summary, collection: Collection | None) -> str:
    """The page as text."""
    config, vocabulary, split = run.config(), run.vocabulary(), summary.split
    judged = final_predictions(run)[split]
    results = per_class(judged["truth"], judged["predicted"], judged["scores"], judged["ignore"])
    _, numbers, tuned = run.final_numbers()
    where, labels = counted(numbers["images"], f"{split} image"), counted(len(vocabulary), "label")
    body = [
        f"<h1>{safe(title(config.method))} on {safe(_data_name(config.data.path))}</h1>",
        f'<p class="soft">Judged on {where}, {labels}; encoder {safe(config.model.backbone)} at '
        f"{config.data.image_size} px, seed {config.seed}.</p>",
        headline(summary),
        tiles([(f"{100 * numbers[name]:.1f} %", name) for name in HEADLINES if name in numbers]),
        _threshold(metrics, split, tuned),
        good_and_bad(summary),
        advice(summary),
        looks(summary, collection),
        right_or_wrong(summary, collection),
        _as_they_come(judged, vocabulary, split, collection),
        _curves(run),
        _labels(vocabulary, results),
        f'<footer>Written by <code>orderless report</code>. The same settings are in '
        f"<code>{safe(run.config_file.name)}</code>, the facts in <code>{safe(run.summary_file.name)}</code>.</footer>",
    ]  # fmt: skip
    return document(f"{config.method} – run", body)


def _data_name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2].partition(":")[0] or path


def _threshold(metrics: dict[str, Any], split: str, tuned: bool) -> str:
    """The numbers above are of one threshold; those of the other are worth a line."""
    if f"{split}-tuned" not in metrics:
        return ""
    chosen = f"the threshold that validation chose, {metrics['threshold']:.2f}"
    at, other, numbers = (chosen, "0.5", metrics[split]) if tuned else ("0.5", chosen, metrics[f"{split}-tuned"])
    return (
        f'<p class="soft note">These are at {at}. At {other}: '
        f"OF1 {100 * numbers['OF1']:.1f} %, CF1 {100 * numbers['CF1']:.1f} %.</p>"
    )


def _curves(run: RunFolder) -> str:
    rows = read_rows(run.metrics_csv)
    if not rows:
        return ""
    method = run.config().method
    with inked():
        figure = curves_figure({method: rows}, [method])
    svg = inline_svg(save_both(figure, run.path / "figures", "curves"), "learning curves")
    return f"<h2>Learning</h2>{figure_html('Loss and quality of the last stage', f'<div>{svg}</div>')}"


def _labels(vocabulary: Vocabulary, results: Sequence[ClassResult]) -> str:
    """Labels by F1, the best and the worst if there are many."""
    order = sorted(range(len(vocabulary)), key=lambda i: (-results[i].F1, vocabulary.names[i]))
    order = [i for i in order if results[i].tp + results[i].fn + results[i].fp]  # neither true nor predicted: nothing
    absent = [name for i, name in enumerate(vocabulary.names) if i not in {*order}]
    unjudged = f"<p>On no photo here, and never predicted: {safe(', '.join(absent[:LISTED]))}" if absent else ""
    unjudged += f" and {len(absent) - LISTED:,} more.</p>" if len(absent) > LISTED else ".</p>" if absent else ""
    if len(order) <= 2 * LISTED:
        return f"<h2>All labels</h2>{_label_table(vocabulary, results, order)}{unjudged}"
    best, worst = order[:LISTED], order[-LISTED:]
    return (
        f'<h2>The best and the worst of {len(order):,} labels</h2>'
        f'<h3>Best</h3>{_label_table(vocabulary, results, best)}<h3>Worst</h3>'
        f"{_label_table(vocabulary, results, worst)}{unjudged}"
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


def _as_they_come(judged: Judged, vocabulary: Vocabulary, split: str, collection: Collection | None) -> str:
    """Photos at equal distances, good or bad; without the data there are none, and the page is whole all the same."""
    photos = JudgedPhotos(vocabulary, {split: judged}, collection)
    step = max(1, len(judged["index"]) // EXAMPLES)
    rows = range(0, len(judged["index"]), step)[:EXAMPLES]
    cards = [photo_card(photo, collection) for photo in (photos.at(split, row) for row in rows)]
    shown = f'<div class="photos">{"".join(cards)}</div>'
    return f"<h3>As they come</h3>{shown}" if collection else ""
