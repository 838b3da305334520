"""The page of a comparison: the main table, the paper's claims with what was measured, figures, all tables."""

from __future__ import annotations

from collections.abc import Sequence

from orderless.report.claims import Claim
from orderless.report.html import document, safe, table_html, tiles
from orderless.report.runs import Comparison
from orderless.report.spread import RULE
from orderless.report.tables import Table
from orderless.text import counted


def comparison_page(
    comparison: Comparison, tables: Sequence[Table], claims: Sequence[Claim], sections: Sequence[tuple[str, str]]
) -> str:
    """The whole page as text; `sections` are headings with HTML."""
    info = comparison.info
    name = str(info["data"]).rstrip("/").rpartition("/")[2].partition(":")[0] or "data"
    config = comparison.runs[0].config
    images = info["images"]
    body = [
        f"<h1>{safe(name)}: {len(comparison.variants)} ways to learn label sets</h1>",
        f'<p class="soft">Trained on the same photos, encoder and budget; judged on '
        f"{counted(images[comparison.split], f'{comparison.split} image')}.</p>",
        tiles(
            [
                (f"{images['train']:,}", "training images"),
                (f"{len(comparison.vocabulary):,}", "labels"),
                (f"{len(comparison.seeds)}", "seed" if len(comparison.seeds) == 1 else "seeds"),
                (config.model.backbone, f"encoder at {config.data.image_size} px"),
            ]
        ),
        f"<h2>{safe(tables[0].title)}</h2>",
        table_html(tables[0]),
        f'<p class="soft note">Best in bold where the spread allows it. {safe(RULE)}</p>',
        claims_html(claims),
        *(f"<h2>{safe(heading)}</h2>{content}" for heading, content in sections),
        *(f"<h2>{safe(table.title)}</h2>{table_html(table)}" for table in tables[1:]),
        "<h2>How this was made</h2>",
        _settings(comparison),
        "<footer>Written by <code>orderless compare</code>; <code>orderless report</code> writes it again.</footer>",
    ]
    return document(f"{name} – comparison", body)


def claims_html(claims: Sequence[Claim]) -> str:
    if not claims:
        return ""
    count = "".join(
        f"<span><b>{sum(claim.verdict == verdict for claim in claims)}</b> {verdict}</span>"
        for verdict in ("confirmed", "not confirmed", "unclear")
    )
    items = "".join(
        f'<li class="card {claim.verdict.split()[0]}"><span class="verdict">{claim.verdict}</span><div>'
        f'<strong>{safe(claim.text)}</strong><span class="soft">Here: {safe(claim.measured)}.</span>'
        f"{_in_paper(claim)}</div></li>"
        for claim in claims
    )
    rule = "Confirmed: every comparison goes the claimed way beyond the spread. Not confirmed: one goes the other way "
    rule += "beyond the spread. Unclear: anything else."
    return (
        f'<h2>The paper’s claims</h2><p class="soft count">{count}</p><ul class="claims">{items}</ul>'
        f'<p class="soft note">{rule}</p>'
    )


def _in_paper(claim: Claim) -> str:
    return f'<br><span class="soft">In the paper: {safe(claim.paper)}.</span>' if claim.paper else ""


def _settings(comparison: Comparison) -> str:
    config, info = comparison.runs[0].config, comparison.info
    stages = "; ".join(
        f"{stage.name}: {counted(stage.epochs, 'epoch')} of {stage.optimizer}, learning rate {stage.learning_rate:g}, "
        f"batches of {stage.batch_size}"
        for stage in comparison.runs[-1].config.settled(info["images"]["train"]).stages
    )
    lines = [
        ("Data", f"{info['data']} ({info['format']})"),
        ("Images", ", ".join(f"{split} {count:,}" for split, count in info["images"].items())),
        ("Recipe", f"{info['recipe']}; {stages}"),
        ("Encoder", f"{config.model.backbone}, weights {config.model.weights}"),
        ("Seeds", ", ".join(map(str, comparison.seeds))),
    ]
    rows = "".join(f'<tr><td class="soft">{what}</td><td>{safe(text)}</td></tr>' for what, text in lines)
    return f'<div class="card pad settings"><table>{rows}</table></div>'
