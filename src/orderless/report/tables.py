"""The paper's tables for any data set: mean and spread over seeds, best in bold only where the spread allows it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from orderless.evaluation import LOWER_IS_BETTER
from orderless.methods import METHODS
from orderless.report import published
from orderless.report.runs import Comparison, Run, title
from orderless.report.spread import RULE, Spread, best

MAIN = ("CF1", "OF1", "mAP", "duplicate-rate", "order-rigidness", "cooccurrence-error")
SHOWN = {
    "duplicate-rate": "duplicates", "order-rigidness": "rigidness", "cooccurrence-error": "co-occ. error",
    "example-precision": "precision", "example-recall": "recall", "example-F1": "F1", "example-accuracy": "accuracy",
}  # fmt: skip
TIMES = ("forward", "alignment", "backward", "test")
NO_BEST = frozenset({"order-rigidness", *TIMES})  # neither more nor less of it is better, or it is too noisy to say


@dataclass(frozen=True)
class TableRow:
    """A name and its cells; a published row takes no part in the contest.

    Rows of one variant are the same runs at another threshold: they are no rivals of each other.
    """

    name: str
    cells: tuple[Spread | None, ...]
    published: bool = False
    variant: str = ""


@dataclass
class Table:
    """A table in the units it is read in: percent, or milliseconds."""

    key: str  # in file names and CSV
    title: str
    note: str
    metrics: tuple[str, ...]
    rows: list[TableRow] = field(default_factory=list)

    @property
    def heads(self) -> list[str]:
        return [SHOWN.get(metric, metric) for metric in self.metrics]

    def bold(self) -> set[tuple[int, int]]:
        """The cells (row, column) that are better than all others of their column, beyond the spread."""
        own = [(i, row) for i, row in enumerate(self.rows) if not row.published]
        found = set()
        for column, metric in enumerate(self.metrics):
            if metric in NO_BEST:
                continue
            cells = [row.cells[column] for _, row in own]
            variants = [row.variant or row.name for _, row in own]
            place = best(cells, lower=metric in LOWER_IS_BETTER, same=variants)
            if place is not None:  # what does not depend on the threshold stands in both rows of its variant
                alike = zip(own, cells, variants, strict=True)
                found |= {(i, column) for (i, _), c, v in alike if v == variants[place] and c == cells[place]}
        return found


def all_tables(comparison: Comparison) -> list[Table]:
    """The main table, then those of the paper, as far as there are runs for them."""
    tables = [
        main_table(comparison),
        orders_table(comparison),
        results_table(comparison),
        times_table(comparison),
        data_set_table(comparison),
    ]
    # Without published numbers and rivals the last one would only repeat the third.
    if tables[-1].metrics == tables[2].metrics and tables[-1].rows == tables[2].rows:
        tables.pop()
    return [table for table in tables if any(not row.published for row in table.rows)]


def main_table(comparison: Comparison) -> Table:
    counts = {len(comparison.of(variant)) for variant in comparison.variants}
    over = f"{max(counts)} seeds" if len(counts) == 1 else f"{min(counts)} to {max(counts)} seeds"
    spread_over = f"mean ± standard deviation over {over}" if max(counts) > 1 else "one seed"
    note = f"In percent, {spread_over}, on the {comparison.split} split."
    return Table("main", "All methods", note, MAIN, _rows(comparison, comparison.variants, MAIN))


def orders_table(comparison: Comparison) -> Table:
    metrics = ("duplicate-rate", "order-rigidness")
    note = (
        "Images in which a label is written twice, and how fixed the order of labels is (100: always the same), in %."
    )
    orders = [name for name in comparison.variants if _head(name) == "sequence"]
    rows = _rows(comparison, orders, metrics) + _published(published.ORDERS, comparison)
    return Table("table-1", "Table 1 · Duplicates and order-rigidness", note, metrics, rows)


def results_table(comparison: Comparison) -> Table:
    note = "Per class (C) and overall (O) precision, recall and F1 in %."
    orders = [name for name in comparison.variants if _head(name) == "sequence" or name == "bce"]
    theirs = _published(published.RESULTS, comparison)
    note += " Published rows are named as in the paper, which marks attention; ours mark its absence." if theirs else ""
    rows = _rows(comparison, orders, published.SETS) + theirs
    return Table("table-2", "Table 2 · Results by order", note, published.SETS, rows)


def times_table(comparison: Comparison) -> Table:
    frozen = any(not run.times.get("encoder_trained", True) for run in comparison.runs)
    note = "Milliseconds per image: a training step's forward pass, alignment and backward pass, and prediction."
    note += (
        " The encoder is frozen, all of it or all but its last block: the backward pass stops there." if frozen else ""
    )
    rows = []
    for name in comparison.variants:
        times = [run.times for run in comparison.of(name) if run.times]
        if times:
            rows.append(TableRow(title(name), tuple(Spread.of([t[key] for t in times]) for key in TIMES)))
    rows += _published(published.TIMES, comparison)
    return Table("table-3", "Table 3 · Time", note, TIMES, rows)


def data_set_table(comparison: Comparison) -> Table:
    kind = str(comparison.info["format"])
    metrics = published.EXAMPLES if kind == "pa100k" else published.SETS
    theirs = _published(published.DATA_SETS, comparison)
    rows = _rows(comparison, comparison.variants, metrics) + theirs
    number = {"coco": "4", "nus-wide": "5", "wider": "6", "pa100k": "7"}.get(kind) if theirs else None
    heading = f"Table {number} · Comparison on {kind}" if number else "Tables 4–7 · Comparison on this data set"
    what = "Means over images" if kind == "pa100k" else "Per class (C) and overall (O)"
    return Table("table-data-set", heading, f"{what}, in %.", metrics, rows)


def _head(variant: str) -> str:
    return METHODS[variant.removesuffix("-noattention")].head


def _rows(comparison: Comparison, variants: Iterable[str], metrics: Sequence[str]) -> list[TableRow]:
    """A row per variant; one that decides by a threshold has two: at 0.5, and tuned on the validation split."""
    rows = []
    for name in variants:
        runs = comparison.of(name)
        judged = [(comparison.split, "")]
        if METHODS[runs[0].method].thresholded:
            judged = [(comparison.split, " at 0.5"), (f"{comparison.split}-tuned", ", tuned threshold")]
        for key, suffix in judged:
            done = [run for run in runs if key in run.metrics]
            if done:
                cells = tuple(spread(done, key, metric) for metric in metrics)
                rows.append(TableRow(title(name) + suffix, cells, variant=name))
    return rows


def spread(runs: Sequence[Run], split: str, metric: str) -> Spread | None:
    """A metric of several runs in percent; None if they do not have it."""
    values = [100 * run.metrics[split][metric] for run in runs if metric in run.metrics.get(split, {})]
    return Spread.of(values) if values else None


def _published(table: dict[str, tuple[published.Row, ...]], comparison: Comparison) -> list[TableRow]:
    """The paper's rows, if this is the paper's data."""
    kind = str(comparison.info["format"])
    labels, images = published.LABELS_AND_IMAGES.get(kind, (0, 0))
    judged = comparison.info["images"].get(comparison.split, 0)
    rows = table.get(kind, ()) if len(comparison.vocabulary) == labels and judged >= images else ()
    return [
        TableRow(name, tuple(None if value is None else Spread(value) for value in values), published=True)
        for name, values in rows
    ]


def shown(cell: Spread | None) -> str:
    """A cell as text: mean, and the spread if there is more than one seed."""
    if cell is None:
        return "–"
    return f"{cell.mean:.2f} ± {cell.sd:.2f}" if cell.n > 1 else f"{cell.mean:.2f}"


def to_markdown(tables: Sequence[Table]) -> str:
    parts = [f"Best in bold where the spread allows it. {RULE} Published rows take no part.\n"]
    for table in tables:
        bold = table.bold()
        lines = [f"## {table.title}\n", f"{table.note}\n", f"| | {' | '.join(table.heads)} |"]
        lines.append("|---|" + "---:|" * len(table.metrics))
        for i, row in enumerate(table.rows):
            cells = [f"**{shown(c)}**" if (i, k) in bold else shown(c) for k, c in enumerate(row.cells)]
            name = f"{row.name} *(published)*" if row.published else row.name
            lines.append(f"| {name} | {' | '.join(cells)} |")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def to_csv(tables: Sequence[Table]) -> str:
    """One row per cell, for scripts."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["table", "row", "metric", "mean", "sd", "seeds", "source", "best"])
    for table in tables:
        bold = table.bold()
        for i, row in enumerate(table.rows):
            for k, (metric, cell) in enumerate(zip(table.metrics, row.cells, strict=True)):
                if cell is None:
                    continue
                own = ["", "", "published"] if row.published else [f"{cell.sd:.4f}", cell.n, "measured"]
                writer.writerow([table.key, row.name, metric, f"{cell.mean:.4f}", *own, int((i, k) in bold)])
    return text.getvalue()
