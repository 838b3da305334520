"""The page of `orderless data check --html`: one file, pictures inside, nothing loaded from elsewhere."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Sequence
from html import escape
from importlib.resources import files
from typing import Any

from orderless.data.check import Report, short_name
from orderless.data.sample import SPLITS, Collection, Sample, by_hash
from orderless.errors import UnreadableImage
from orderless.report.data_plots import cardinality_plot, cooccurrence_plot, frequency_plot
from orderless.text import counted, printable

THUMBNAIL = 280  # pixels on the long side, twice what the page shows
PHOTOS = 24
GROUPS = 8  # of duplicates and leaks that are shown with pictures
GROUP_PHOTOS = 4
LISTED = 50  # names in a list; the JSON output has them all

Finder = dict[str, tuple[Sample, list[str]]]  # name -> a sample of the file, the splits that it is in


def data_page(report: Report, collection: Collection, title: str) -> str:
    """The whole page as text. Every name and label from the data is escaped."""
    finder: Finder = {}
    for split in SPLITS:
        for sample in _part(collection, split):
            finder.setdefault(short_name(sample, collection), (sample, []))[1].append(split)
    body = [
        f"<h1>{_safe(title)}</h1>",
        f'<p class="soft">Format <b>{_safe(report.format)}</b>{_at(report)}</p>',
        _tiles(report),
        _splits(report),
        "<h2>Findings</h2>",
        _findings(report),
        "<h2>Photos</h2>",
        _photos(collection),
        "<h2>Labels</h2>",
        _plots(report),
        _label_table(report),
        _groups("One picture in two splits", report.leaks, finder),
        _groups("Same picture, other labels", report.conflicts, finder),
        _groups("Look alike", [{"images": group} for group in report.near_duplicates], finder),
        "<footer>Written by <code>orderless data check</code>. Nothing in the data was changed.</footer>",
    ]
    style = files("orderless.report").joinpath("data_page.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{_safe(title)} – data check</title>\n<style>\n{style}</style></head>\n"
        f"<body><main>\n{chr(10).join(part for part in body if part)}\n</main></body></html>\n"
    )


def _safe(text: str) -> str:
    return escape(printable(text))


def _part(collection: Collection, split: str) -> list[Sample]:
    return collection.splits.get(split, [])


def _at(report: Report) -> str:
    return f" · {_safe(report.root)}" if report.root else ""


def _tiles(report: Report) -> str:
    tiles = [(f"{report.images:,}", "images")]
    if report.samples != report.images:
        tiles.append((f"{report.samples:,}", "samples (boxes or repeats)"))
    tiles.append((f"{len(report.labels):,}", "labels"))
    tiles.append((f"{report.cardinality['mean']:.2f}", "labels per image"))
    if report.sizes:
        side: Any = report.sizes["most_common"]
        tiles.append((f"{side[0]}×{side[1]}", "most common size"))
    cells = "".join(f'<div class="tile"><b>{value}</b><span>{what}</span></div>' for value, what in tiles)
    return f'<div class="tiles">{cells}</div>'


def _splits(report: Report) -> str:
    bars = "".join(f'<div class="{split}" style="flex:{count}"></div>' for split, count in report.splits.items())
    keys = "".join(f'<span><i class="{s}"></i>{s} {n:,}</span>' for s, n in report.splits.items())
    return f'<div class="split-bar">{bars}</div><div class="key">{keys}</div>'


def _findings(report: Report) -> str:
    """What to look at, the worst first; one line that all is well when there is nothing."""
    rare = [f"{row['label']} ({row['train']})" for row in report.rare_labels]
    unseen = [str(row["label"]) for row in report.unseen_labels]
    broken = [f"{row['image']}: {row['reason']}" for row in report.unreadable]
    odd = [f"{row['image']}: {row['mode']}" + (f", {row['frames']} frames" if row["frames"] != 1 else "")
           for row in report.odd_modes]  # fmt: skip
    leaks = [f"{row['kind']}: {', '.join(row['images'])}" for row in report.leaks]  # type: ignore[arg-type]
    conflicts = [" = ".join(row["images"]) for row in report.conflicts]  # type: ignore[arg-type]
    copies = [" = ".join(group) for group in report.duplicates]
    alike = [" ~ ".join(group) for group in report.near_duplicates]
    rows: list[tuple[str, int, str, str, Sequence[str]]] = [
        ("bad", len(broken), "image cannot be read", "images cannot be read", broken),
        ("bad", len(leaks), "picture is in two splits", "pictures are in two splits", leaks),
        ("bad", len(unseen), "label is missing from training", "labels are missing from training", unseen),
        ("warn", len(conflicts), "picture has copies with other labels", "pictures have copies with other labels",
         conflicts),
        ("warn", len(copies), "file has copies", "files have copies", copies),
        ("warn", len(alike), "group of pictures looks alike", "groups of pictures look alike", alike),
        ("warn", len(rare), f"label has fewer than {report.rare_threshold} training images",
         f"labels have fewer than {report.rare_threshold} training images", rare),
        ("note", len(odd), "image is stored in an unusual mode and will be converted",
         "images are stored in an unusual mode and will be converted", odd),
    ]  # fmt: skip
    marks = {"bad": "✕", "warn": "!", "note": "·", "good": "✓"}
    items = [
        _finding(kind, marks[kind], f"<strong>{counted(count, one, many)}</strong>{_names(names)}")
        for kind, count, one, many, names in rows
        if count
    ]
    if not any(count for kind, count, *_ in rows if kind != "note"):
        items.insert(
            0, _finding("good", "✓", "Every image can be read; no copies, no leaks, no label too rare to learn.")
        )
    items += [_finding("note", "·", _safe(note)) for note in report.notes]
    return f'<ul class="findings">{"".join(items)}</ul>'


def _finding(kind: str, mark: str, content: str) -> str:
    return f'<li class="card {kind}"><span class="mark">{mark}</span><div>{content}</div></li>'


def _names(names: Sequence[str]) -> str:
    if len(names) <= 3:
        return "".join(f'<br><span class="soft">{_safe(name)}</span>' for name in names)
    items = "".join(f"<li>{_safe(name)}</li>" for name in names[:LISTED])
    more = f'<p class="soft">and {len(names) - LISTED:,} more (--json lists all)</p>' if len(names) > LISTED else ""
    return f"<details><summary>show</summary><ol>{items}</ol>{more}</details>"


def _photos(collection: Collection) -> str:
    """Photos of every split, chosen by the hash of their names, in proportion to the splits."""
    cards = []
    for split in SPLITS:
        part = _part(collection, split)
        count = min(len(part), max(4, round(PHOTOS * len(part) / max(1, len(collection))))) if part else 0
        cards += [_photo(short_name(sample, collection), sample, [split]) for sample in by_hash(part, 0)[:count]]
    return f'<div class="photos">{"".join(cards)}</div>'


def _photo(name: str, sample: Sample, splits: Sequence[str]) -> str:
    badges = "".join(f'<span class="badge {split}">{split}</span>' for split in dict.fromkeys(splits))
    picture = thumbnail(sample, name)
    tags = (
        "".join(f'<span class="tag">{_safe(label)}</span>' for label in sample.labels) or '<i class="soft">no label</i>'
    )
    return f'<div class="photo card">{picture}<div><code>{badges}{_safe(name)}</code>{tags}</div></div>'


def thumbnail(sample: Sample, name: str) -> str:
    """The picture as an image element with its data inside, or a grey field when it cannot be read."""
    try:
        image = sample.load(size=THUMBNAIL)
    except UnreadableImage:
        return '<div class="none">cannot be read</div>'
    image.thumbnail((THUMBNAIL, THUMBNAIL))
    memory = io.BytesIO()
    image.save(memory, "JPEG", quality=80)
    data = base64.b64encode(memory.getvalue()).decode("ascii")
    # Photos of usual shape fill the frame; tall and wide ones are shown whole.
    shape = "" if 0.9 < image.width / image.height < 2 else ' class="whole"'
    return f'<img{shape} loading="lazy" alt="{_safe(name)}" src="data:image/jpeg;base64,{data}">'


def _plots(report: Report) -> str:
    training = [splits.get("train", 0) for splits in report.label_splits.values()]
    matrix: Any = report.cooccurrence
    figures = [
        _figure("Labels per image", cardinality_plot(report.cardinality["histogram"])),  # type: ignore[arg-type]
        _figure("The long tail", frequency_plot(training, report.rare_threshold)) if any(training) else "",
    ]
    wide = ""
    if len(matrix["labels"]) > 1:
        caption = "Labels that come together: of the photos with the row’s label, the share that has the column’s too"
        # As wide as its labels need: a phone scrolls, a large screen does not blow up a small matrix.
        width = 190 + 19 * min(len(matrix["labels"]), 20)
        wide = f'<figure class="card wide" style="margin-top:1rem"><figcaption>{caption}</figcaption>'
        wide += f'<div style="min-width:{width}px;max-width:{width * 1.3:.0f}px">'
        wide += f"{cooccurrence_plot(matrix['labels'], matrix['matrix'])}</div></figure>"
    return f'<div class="plots">{"".join(figures)}</div>{wide}'


def _figure(caption: str, svg: str) -> str:
    return f'<figure class="card"><figcaption>{caption}</figcaption>{svg}</figure>'


def _label_table(report: Report, limit: int = 200) -> str:
    largest = max(report.labels.values(), default=1) or 1
    splits = list(report.splits)
    rows = []
    for name, count in list(report.labels.items())[:limit]:
        own = report.label_splits[name]
        parts = "".join(f'<span class="{split}" style="flex:{own[split]}"></span>' for split in splits if own[split])
        cells = "".join(f'<td class="n split soft">{own[split]:,}</td>' for split in splits)
        rows.append(
            f'<tr><td class="name">{_safe(name)}</td><td class="n">{count:,}</td>{cells}'
            f'<td class="bar"><div style="width:{100 * count / largest:.2f}%">{parts}</div></td></tr>'
        )
    heads = "".join(f'<th class="n split">{split}</th>' for split in splits)
    more = f'<p class="soft">and {len(report.labels) - limit:,} more</p>' if len(report.labels) > limit else ""
    return (
        '<div class="card pad" style="margin-top:1rem"><table><thead><tr><th>label</th><th class="n">images</th>'
        f"{heads}<th></th></tr></thead><tbody>{''.join(rows)}</tbody></table>{more}</div>"
    )


def _groups(title: str, rows: Iterable[dict[str, Any]], finder: Finder) -> str:
    """Pictures that belong together, side by side."""
    every = list(rows)
    if not every:
        return ""
    shown = []
    for row in every[:GROUPS]:
        names = [name for name in row["images"] if name in finder][:GROUP_PHOTOS]
        cards = "".join(_photo(name, *finder[name]) for name in names)
        shown.append(f'<div class="photos group">{cards}</div>')
    count = f' <span class="soft">({len(every):,}{f", {GROUPS} shown" if len(every) > GROUPS else ""})</span>'
    return f"<h2>{title}{count}</h2>{''.join(shown)}"
