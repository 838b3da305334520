"""What `orderless data check` prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from rich.table import Table
from rich.text import Text

from orderless.cli.console import out
from orderless.text import counted, printable

if TYPE_CHECKING:
    from orderless.data.check import Report

SHOWN = 20  # labels
EXAMPLES = 3
BAR = 30


def print_summary(report: Report) -> None:
    """Counts, labels with bars, then what to look at, the worst last so that it stays in sight."""
    shape: Any = report.sizes
    head = Text.assemble((report.format, "bold"), f"  {printable(report.root)}\n")
    boxes = f" ({counted(report.samples, 'sample')})" if report.samples != report.images else ""
    splits = ", ".join(f"{split} {count:,}" for split, count in report.splits.items())
    head.append(f"{counted(report.images, 'image')}{boxes}: {splits}\n")
    card = report.cardinality
    head.append(
        f"{counted(len(report.labels), 'label')}, {card['mean']:.2f} to an image ({card['min']} to {card['max']})"
    )
    if shape:
        small, large = shape["smallest"], shape["largest"]
        head.append(f"\nsizes from {small[0]}x{small[1]} to {large[0]}x{large[1]}")
    out.print(head)
    out.print()
    out.print(_label_table(report))
    pairs: Any = report.cooccurrence["pairs"]
    if pairs:
        text = ", ".join(f"{' + '.join(printable(n) for n in row['labels'])} {row['count']:,}" for row in pairs[:5])
        out.print(Text.assemble(("most often together: ", "dim"), text))
    out.print()
    for note in report.notes:
        out.print(Text.assemble(("note: ", "cyan"), printable(note)))
    lines = list(_findings(report))
    for style, text, examples in lines:
        out.print(Text.assemble((text, style)))
        for example in examples[:EXAMPLES]:
            out.print(Text(f"    {printable(example)}", style="dim"))
        if len(examples) > EXAMPLES:
            out.print(Text(f"    and {len(examples) - EXAMPLES:,} more (--json lists all)", style="dim"))
    if not any(style != "dim" for style, _, _ in lines):
        out.print(Text("every image can be read; no copies, no leaks, no label too rare to learn", style="green"))


def _label_table(report: Report) -> Table:
    table = Table(box=None, pad_edge=False, show_header=True, header_style="dim")
    table.add_column("label", overflow="fold")
    for name in ("images", *report.splits):
        table.add_column(name, justify="right")
    table.add_column("")
    largest = max(report.labels.values(), default=1) or 1
    for label, count in list(report.labels.items())[:SHOWN]:
        own = report.label_splits[label]
        bar = Text("█" * max(1 if count else 0, round(BAR * count / largest)), style="cyan")
        table.add_row(Text(printable(label)), f"{count:,}", *(f"{own[split]:,}" for split in report.splits), bar)
    if len(report.labels) > SHOWN:
        table.add_row(Text(f"… {len(report.labels) - SHOWN:,} more", style="dim"))
    return table


def _findings(report: Report) -> Sequence[tuple[str, str, list[str]]]:
    rows: list[tuple[str, int, str, list[str]]] = [
        ("dim", len(report.odd_modes), "images in an unusual mode, converted when read",
         [f"{row['image']}: {row['mode']}{' (animated)' if row['frames'] != 1 else ''}" for row in report.odd_modes]),
        ("yellow", len(report.rare_labels), f"labels with fewer than {report.rare_threshold} training images",
         [f"{row['label']}: {row['train']}" for row in report.rare_labels]),
        ("yellow", len(report.near_duplicates), "groups of images that look alike",
         [" ~ ".join(group) for group in report.near_duplicates]),
        ("yellow", len(report.duplicates), "files with exact copies", [" = ".join(g) for g in report.duplicates]),
        ("yellow", len(report.conflicts), "images whose copies have other labels",
         [_joined(row["images"], " = ") for row in report.conflicts]),
        ("bold red", len(report.unseen_labels), "labels of val or test that training lacks",
         [str(row["label"]) for row in report.unseen_labels]),
        ("bold red", len(report.leaks), "pictures that are in two splits",
         [f"{_joined(row['splits'])} ({row['kind']}): {_joined(row['images'])}" for row in report.leaks]),
        ("bold red", len(report.unreadable), "images that cannot be read",
         [f"{row['image']}: {row['reason']}" for row in report.unreadable]),
    ]  # fmt: skip
    return [(style, f"{what}: {count:,}", examples) for style, count, what, examples in rows if count]


def _joined(names: object, between: str = ", ") -> str:
    return between.join(str(name) for name in names) if isinstance(names, list) else ""
