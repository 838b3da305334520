"""A summary in plain sentences, the same on the terminal and on the page."""

from __future__ import annotations

from collections.abc import Sequence

from orderless.evaluation.advice import PLENTY
from orderless.report.summary import LabelFacts, Photo, SecondLook, Summary
from orderless.text import counted


def how_good(summary: Summary) -> str:
    """The two numbers that matter, as a person would say them."""
    if not summary.tags_written:
        return "It did not write a single tag: it has to learn longer, or from more photos."
    if not summary.tags_true:
        return "The photos it was judged on have no tags: nothing can be said about how good it is."
    return (
        f"Of 100 tags it writes, {of_100(summary.OP)} are right; "
        f"of 100 tags that should be there, it finds {of_100(summary.OR)}."
    )


def of_100(share: float) -> int:
    """All of them, or none, only if that is so."""
    return round(100 * share) if share in (0.0, 1.0) else min(max(round(100 * share), 1), 99)


def judged_on(summary: Summary) -> str:
    """What the numbers are of, and what to think of them."""
    whole = f"The whole set of tags is right for {of_100(summary.subset_accuracy)} of 100 photos."
    if summary.split == "test":
        return f"{whole} Judged on {photos(summary.images)} that it had not seen."
    chosen = "the best epoch and the threshold" if summary.chose_threshold else "the best epoch"
    return (
        f"{whole} Judged on {photos(summary.images)} set aside for validation; they also chose {chosen}, "
        "so expect a little less on new photos."
    )


def photos(count: int) -> str:
    return counted(count, "photo")


def helps(summary: Summary) -> list[tuple[str, list[str]]]:
    """What would make it better: headings with their lines; empty if nothing was found."""
    typical = summary.typical_training_photos
    enough = f"a typical label has {typical:,} to learn from" if typical > PLENTY else f"{PLENTY} each would be a start"
    groups = [
        (
            f"More photos of these ({enough})",
            [_short(summary, summary.label(name)) for name in summary.wanting_photos],
        ),
        (
            "Hard in spite of many photos (are they tagged the same way everywhere?)",
            [_short(summary, summary.label(name)) for name in summary.hard],
        ),
        (
            "Mixed up (more photos of both would teach the difference)",
            [
                f"“{pair.written}” is written where “{pair.true}” is right: {photos(pair.photos)}"
                for pair in summary.mixed_up
            ],
        ),
        (
            f"Too few {summary.split} photos to say how good these are",
            [_listed([f"{name} ({summary.label(name).photos})" for name in summary.barely_judged])]
            if summary.barely_judged
            else [],
        ),
    ]
    return [(heading, lines) for heading, lines in groups if lines]


def second_look_intro(summary: Summary) -> str:
    splits = "validation and test" if summary.split == "test" else "validation"
    found, among = len(summary.second_look), f"the {photos(summary.looked_at)} of {splits}"
    if not found:
        return f"None of {among} contradicts its tags strongly."
    what = "One photo is" if found == 1 else f"{found} photos are"
    return (
        f"{what} worth a second look: either a tag is missing or wrong, or the tagger is mistaken. "
        f"Found among {among}, the clearest first, with how sure the tagger is of the tag."
    )


def second_look(look: SecondLook) -> list[tuple[str, str]]:
    """What the tagger has against the tags of a photo: a question, and the labels it is about."""
    kinds = (("missing?", look.lacking), ("wrong?", look.doubtful))
    return [
        (question, ", ".join(f"{scored.label} ({sure(scored.score)})" for scored in labels))
        for question, labels in kinds
        if labels
    ]


def sure(score: float) -> str:
    """A score as a percentage that never claims more than it knows."""
    if score < 0.01:
        return "under 1 %"
    return "over 99 %" if score > 0.99 else f"{100 * score:.0f} %"


def right_and_wrong(photo: Photo) -> tuple[list[str], list[str], list[str]]:
    """Tags rightly written, wrongly written, and missed."""
    true = set(photo.true)
    right = [label for label in photo.written if label in true]
    wrong = [label for label in photo.written if label not in true]
    return right, wrong, [label for label in photo.true if label not in photo.written]


def _short(summary: Summary, facts: LabelFacts) -> str:
    """How many photos a label has, and the worse of its two numbers."""
    learnt = f"{facts.label}: {photos(facts.training_photos)}"
    if facts.label in summary.barely_judged:
        return learnt
    if facts.recall <= facts.precision:
        return f"{learnt}; it finds {of_100(facts.recall)} of 100"
    return f"{learnt}; {of_100(facts.precision)} of 100 that it writes are right"


def _listed(names: Sequence[str], most: int = 20) -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
