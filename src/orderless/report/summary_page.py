"""The summary of a run as parts of its page: plain sentences first, photos beside what is said about them."""

from __future__ import annotations

from collections.abc import Iterable

from orderless.data.sample import Collection
from orderless.report.html import safe
from orderless.report.summary import Photo, Summary, find_sample
from orderless.report.thumbnail import thumbnail
from orderless.report.wording import helps, how_good, judged_on, right_and_wrong, second_look, second_look_intro


def headline(summary: Summary) -> str:
    """How good, in two sentences."""
    return (
        f'<div class="card headline"><p class="large">{safe(how_good(summary))}</p>'
        f'<p class="soft">{safe(judged_on(summary))}</p></div>'
    )


def good_and_bad(summary: Summary) -> str:
    """The best and the worst labels side by side."""
    if not summary.strong and not summary.weak:
        return ""
    columns = "".join(
        f'<div class="card pad"><h3>{heading}</h3><table><thead><tr><th></th><th class="n">finds of 100</th>'
        f'<th class="n">right of 100</th><th class="n">photos</th></tr></thead><tbody>{rows}</tbody></table></div>'
        for heading, rows in (
            ("Good at", _label_rows(summary, summary.strong)),
            ("Bad at", _label_rows(summary, summary.weak)),
        )
        if rows
    )
    note = '<p class="soft note">Photos: how many have the label, among those it was judged on.</p>'
    return f'<h2>Good and bad labels</h2><div class="halves">{columns}</div>{note}'


def advice(summary: Summary) -> str:
    """What would help, as cards."""
    cards = "".join(
        f'<div class="card pad advice"><h3>{safe(heading)}</h3><ul>{_items(lines)}</ul></div>'
        for heading, lines in helps(summary)
    )
    return f'<h2>What would help</h2><div class="halves">{cards}</div>' if cards else ""


def looks(summary: Summary, collection: Collection | None) -> str:
    """Photos whose tags may be wrong."""
    cards = []
    for look in summary.second_look:
        doubted = [scored.label for scored in look.doubtful]
        tags = "".join(_tag(label, "wrong" if label in doubted else "") for label in look.photo.true)
        reasons = "".join(f"<p><b>{question}</b> {_unbroken(labels)}</p>" for question, labels in second_look(look))
        content = f"<b>tagged</b>{tags or '<i>nothing</i>'}{reasons}"
        cards.append(_card(look.photo, content, collection))
    return (
        f"<h2>Worth a second look</h2><p>{safe(second_look_intro(summary))}</p>"
        + (f'<div class="photos">{"".join(cards)}</div>' if cards else "")
    )  # fmt: skip


def right_or_wrong(summary: Summary, collection: Collection | None) -> str:
    """Photos that it got wholly right, and photos that it got most wrong."""
    parts = []
    for heading, chosen in (("Right", summary.right), ("Wrong", summary.wrong)):
        cards = "".join(photo_card(photo, collection) for photo in chosen)
        if cards:
            parts.append(f'<h3>{heading}</h3><div class="photos">{cards}</div>')
    note = '<p class="soft note">Wrong tags are underlined. These are the worst photos, not the usual ones.</p>'
    return f"<h2>Examples</h2>{''.join(parts)}{note}" if parts else ""


def photo_card(photo: Photo, collection: Collection | None) -> str:
    """A photo with what was written and what was missed."""
    return _card(photo, _written(photo), collection)


def _label_rows(summary: Summary, names: Iterable[str]) -> str:
    rows = []
    for facts in map(summary.label, names):
        numbers = (f"{100 * facts.recall:.0f}", f"{100 * facts.precision:.0f}", f"{facts.photos:,}")
        cells = "".join(f'<td class="n">{number}</td>' for number in numbers)
        rows.append(f'<tr><td class="name">{safe(facts.label)}</td>{cells}</tr>')
    return "".join(rows)


def _unbroken(text: str) -> str:
    """With percentages that stay on one line."""
    return safe(text).replace(" %)", "&nbsp;%)")


def _items(lines: Iterable[str]) -> str:
    return "".join(f"<li>{safe(line)}</li>" for line in lines)


def _card(photo: Photo, content: str, collection: Collection | None) -> str:
    sample = find_sample(collection, photo.split, photo.index, photo.true)
    picture = (thumbnail(sample, photo.name) if sample else None) or '<div class="none">no picture</div>'
    return f'<div class="photo card">{picture}<div><code>{safe(photo.name)}</code>{content}</div></div>'


def _written(photo: Photo) -> str:
    right, _, missed = right_and_wrong(photo)
    tags = "".join(_tag(label, "" if label in right else "wrong") for label in photo.written) or "<i>no tag</i>"
    return tags + (f'<p class="truth soft">missed: {safe(", ".join(missed))}</p>' if missed else "")


def _tag(label: str, kind: str) -> str:
    return f'<span class="tag{f" {kind}" if kind else ""}">{safe(label)}</span>'
