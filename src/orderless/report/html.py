"""Pieces of a page: everything from the data is escaped, nothing is loaded from elsewhere."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape
from importlib.resources import files
from pathlib import Path

from orderless.report.tables import Table, shown
from orderless.text import printable


def safe(text: object) -> str:
    return escape(printable(str(text)))


def document(title: str, body: Sequence[str]) -> str:
    """A whole page in one file."""
    styles = files("orderless.report")
    style = "".join(styles.joinpath(name).read_text(encoding="utf-8") for name in ("data_page.css", "report.css"))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{safe(title)}</title>\n<style>\n{style}</style></head>\n"
        f"<body><main>\n{chr(10).join(part for part in body if part)}\n</main></body></html>\n"
    )


def table_html(table: Table) -> str:
    """A table in a card that scrolls sideways on a small screen."""
    bold = table.bold()
    heads = "".join(f'<th class="n">{safe(head)}</th>' for head in table.heads)
    rows = []
    for i, row in enumerate(table.rows):
        cells = []
        for k, cell in enumerate(row.cells):
            mean, _, spread = shown(cell).partition(" ± ")
            text = f"<b>{mean}</b>" if (i, k) in bold else mean
            text += f'<small class="soft"> ±&#8239;{spread}</small>' if spread else ""
            cells.append(f'<td class="n">{text}</td>')
        badge = ' <span class="source">published</span>' if row.published else ""
        kind = ' class="published"' if row.published else ""
        rows.append(f'<tr{kind}><td class="name">{safe(row.name)}{badge}</td>{"".join(cells)}</tr>')
    return (
        f'<div class="card pad scroll"><table class="numbers"><thead><tr><th></th>{heads}</tr></thead>'
        f'<tbody>{"".join(rows)}</tbody></table></div><p class="soft note">{safe(table.note)}</p>'
    )


def tiles(items: Sequence[tuple[str, str]]) -> str:
    cells = "".join(f'<div class="tile"><b>{safe(value)}</b><span>{safe(what)}</span></div>' for value, what in items)
    return f'<div class="tiles">{cells}</div>'


def figure_html(caption: str, content: str, note: str = "", wide: bool = False) -> str:
    """A figure in a card; `content` is HTML."""
    more = f'<p class="soft note">{safe(note)}</p>' if note else ""
    kind = "card wide" if wide else "card"
    return f'<figure class="{kind}"><figcaption>{safe(caption)}</figcaption>{content}{more}</figure>'


def picture(path: Path, alt: str) -> str:
    """A JPEG from disk, inside the page; a grey field if it is not there."""
    try:
        data = base64.b64encode(path.read_bytes()).decode()
    except OSError:
        return '<div class="none">no picture</div>'
    return jpeg(data, alt)


def jpeg(data: str, alt: str) -> str:
    return f'<img loading="lazy" alt="{safe(alt)}" src="data:image/jpeg;base64,{data}">'
