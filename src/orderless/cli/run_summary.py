"""What `orderless train` says at its end, for people who did not come for metrics."""

from __future__ import annotations

from collections.abc import Iterator

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from orderless.cli.console import out
from orderless.report.summary import Photo, Summary
from orderless.report.wording import (
    helps,
    how_good,
    judged_on,
    photos,
    right_and_wrong,
    second_look,
    second_look_intro,
)
from orderless.text import printable

LISTED = 8  # photos to look at again; the page has all


def print_run_summary(summary: Summary) -> None:
    """How good, good and bad labels, examples, what would help, photos to look at again."""
    _heading("How good it is")
    good = summary.tags_written and summary.tags_true
    out.print(Text(f"  {how_good(summary)}", style="bold green" if good else "bold yellow"))
    _paragraph(judged_on(summary))
    if summary.strong or summary.weak:
        _heading("Labels")
        out.print(_labels(summary))
    if summary.right or summary.wrong:
        _heading("Examples")
        for line in _examples(summary):
            out.print(line)
    advice = helps(summary)
    if advice:
        _heading("What would help")
        for what, lines in advice:
            out.print(f"  {what}:", markup=False)
            for item in lines:
                out.print(Text(f"    {printable(item)}"))
    _heading("Photos to look at again")
    _paragraph(second_look_intro(summary))
    for line in _second_look(summary):
        out.print(line)


def _heading(text: str) -> None:
    out.print()
    out.print(Text(text, style="bold"))


def _paragraph(text: str) -> None:
    """Indented, also where a terminal breaks its lines."""
    out.print(Padding(text, (0, 0, 0, 2)) if out.is_terminal else f"  {text}")


def _labels(summary: Summary) -> Table:
    table = Table(box=None, pad_edge=True, padding=(0, 1), header_style="dim")
    for head in ("", "label", "finds of 100", "right of 100", "judged on", "learnt from"):
        table.add_column(head, justify="right" if len(head) > 5 else "left", overflow="fold")
    for what, style, names in (("good", "green", summary.strong), ("bad", "yellow", summary.weak)):
        for place, name in enumerate(names):
            facts = summary.label(name)
            table.add_row(
                Text("" if place else what, style=style),
                Text(printable(name)),
                f"{100 * facts.recall:.0f}",
                f"{100 * facts.precision:.0f}",
                photos(facts.photos),
                photos(facts.training_photos),
            )
    return table


def _examples(summary: Summary) -> Iterator[Text]:
    """A line per photo: its name, what was written, what was not."""
    width = max(len(photo.name) for photo in (*summary.right, *summary.wrong))
    for what, style, chosen in (("right", "green", summary.right), ("wrong", "yellow", summary.wrong)):
        for place, photo in enumerate(chosen):
            line = Text.assemble("  ", ("     " if place else what, style), "  ", printable(photo.name).ljust(width))
            yield line.append("  ").append(_tags(photo))


def _tags(photo: Photo) -> Text:
    right, wrong, missed = right_and_wrong(photo)
    text = Text(printable(", ".join(right)))
    for what, labels in (("wrongly", wrong), ("missed", missed)):
        if labels:
            text.append("; " if text else "").append(f"{what}: ", style="dim")
            text.append(printable(", ".join(labels)), style="yellow")
    return text


def _second_look(summary: Summary) -> Iterator[Text]:
    shown = summary.second_look[:LISTED]
    width = max((len(look.photo.name) for look in shown), default=0)
    for look in shown:
        line = Text.assemble("  ", (printable(look.photo.name).ljust(width), "cyan"))
        for question, labels in second_look(look):
            line.append("  ").append(question, style="dim").append(f" {printable(labels)}")
        yield line
    more = len(summary.second_look) - LISTED
    if more > 0:
        yield Text(f"  and {more} more", style="dim")
