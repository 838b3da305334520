"""The report of a comparison, from what is on disk: tables, figures and one page."""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from orderless.files import write_text
from orderless.report.claims import judge_claims
from orderless.report.figures.alignment import alignments_differ, cost_figure, ordered_loss_figure
from orderless.report.figures.attention import attended, attention_figure, attention_html, with_attention
from orderless.report.figures.breakdown import breakdown_figure
from orderless.report.figures.cooccurrence import cooccurrence_figure, group_figure
from orderless.report.figures.losses import loss_figure
from orderless.report.figures.penalisation import penalisation_figure
from orderless.report.figures.rigidness import rigidness_figure
from orderless.report.figures.sequences import sequences_caption, sequences_figure, sequences_html, written
from orderless.report.html import figure_html
from orderless.report.page import comparison_page
from orderless.report.runs import Comparison, title
from orderless.report.style import inline_svg, save_both
from orderless.report.tables import all_tables, to_csv, to_markdown


def write_report(folder: Path) -> Path:
    """Write tables.md, tables.csv, figures/ and report.html into the folder of a comparison; returns the page."""
    comparison = Comparison.read(folder)
    tables = all_tables(comparison)
    write_text(folder / "tables.md", to_markdown(tables))
    write_text(folder / "tables.csv", to_csv(tables))
    page = folder / "report.html"
    write_text(page, comparison_page(comparison, tables, judge_claims(comparison), sections(comparison)))
    return page


def sections(comparison: Comparison) -> list[tuple[str, str]]:
    """Draw every figure that the runs allow, save it, and return the page's parts: a heading and HTML."""
    same = "" if alignments_differ(comparison) else " For no example image do the two part."
    run = with_attention(comparison)
    looking = title(run.variant) if run else "the model"
    parts = {
        "Learning": [
            _drawn(comparison, "losses", loss_figure(comparison), "Loss and quality while training",
                   "Lines are means over seeds, bands one standard deviation."),
        ],
        "Orders": [
            _pictured(comparison, "sequences", sequences_figure(comparison),
                      sequences_html(comparison, written(comparison)), *sequences_caption(comparison)),
            _drawn(comparison, "order-rigidness", rigidness_figure(comparison), "PLA's order of label pairs",
                   "How often a pair's first label is written before its second; behind the bar: images with both. "
                   "The model of the first seed."),
        ],
        "One image under the loss": [
            _drawn(comparison, "cost-matrix", cost_figure(comparison), "Cost matrix with both alignments",
                   "−log P of every true label at every step; bold: what the model writes. Framed: the label that the "
                   f"alignment asks for at that step.{same}"),
            _drawn(comparison, "ordered-loss", ordered_loss_figure(comparison), "Ordered against orderless loss",
                   "One prediction of PLA's model, its loss under frequent first and under PLA. Of the example images "
                   "with most labels right, the one that the order matters most for."),
            _drawn(comparison, "penalisation", penalisation_figure(comparison), "Punished although right",
                   "In the last epoch of training under MLA, all seeds together; under PLA it cannot happen."),
        ],
        "Attention by step": [
            _pictured(comparison, "attention", attention_figure(comparison),
                      attention_html(comparison, attended(comparison)), f"Where {looking} looked for each label",
                      "The model of the first seed, images with most labels."),
        ],
        "Labels that come together": [
            _drawn(comparison, "cooccurrence", cooccurrence_figure(comparison), "Co-occurrence, prediction minus truth",
                   "In images, mean over seeds; red: put together too often, blue: too seldom.", wide=True),
            _drawn(comparison, "cooccurrence-groups", group_figure(comparison), "The same inside groups of labels",
                   "Super-categories of the data, or clusters of labels that share images.", wide=True),
        ],
        "Where each method is good": [
            _drawn(comparison, "breakdown", breakdown_figure(comparison), "F1 by labels, frequency and size",
                   "Means over seeds; methods with a threshold at 0.5."),
        ],
    }  # fmt: skip
    return [(heading, "".join(figures)) for heading, figures in parts.items() if any(figures)]


def _drawn(comparison: Comparison, key: str, figure: Figure | None, caption: str, note: str, wide: bool = False) -> str:
    if figure is None:
        return ""
    svg = save_both(figure, comparison.folder / "figures", key)
    return figure_html(caption, f"<div>{inline_svg(svg, caption)}</div>", note, wide)


def _pictured(comparison: Comparison, key: str, figure: Figure | None, html: str, caption: str, note: str) -> str:
    """A figure of photos: a picture on disk, HTML that suits any screen on the page."""
    if figure is None:
        return ""
    save_both(figure, comparison.folder / "figures", key)
    return figure_html(caption, html, note)
