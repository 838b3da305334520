"""XMP packets: the keywords (`dc:subject`) that photo managers keep in a sidecar, read and added to.

A packet that is there already keeps every byte: keywords that it lacks are put into its list, nothing else changes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape, quoteattr

from orderless.errors import UsageError
from orderless.text import printable

_RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
_DC = "http://purl.org/dc/elements/1.1/"
_SUBJECT = [f"{_RDF} RDF", f"{_RDF} Description", f"{_DC} subject"]  # where the keywords stand


def keyword(label: str) -> str:
    """A label as XML can hold it: one line, no control characters."""
    return printable(" ".join(label.split()))


def new_packet(labels: Sequence[str]) -> bytes:
    """A whole XMP packet."""
    return (
        '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>\n'
        '<x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="orderless">\n'
        f' <rdf:RDF xmlns:rdf="{_RDF}">\n{_description(labels)} </rdf:RDF>\n</x:xmpmeta>\n<?xpacket end="w"?>\n'
    ).encode()


def with_keywords(packet: bytes, labels: Sequence[str], where: object = "the sidecar") -> bytes:
    """The same bytes with these keywords among its own."""
    if b"\0" in packet:  # no text in UTF-8 has one
        raise UsageError(f"{where} is not written in UTF-8, so nothing can be added to it")
    found = _look(packet, where)
    missing = [label for label in labels if label not in found.keywords]
    if not missing:
        return packet
    if found.list_end is not None:
        place, addition = found.list_end, _items(missing, found.rdf_prefix)
    elif found.subject is not None:  # <dc:subject> without a list in it
        start, end = found.subject
        return packet[:start] + _subject(missing).encode() + packet[end:]
    elif found.rdf_end is not None:
        place, addition = found.rdf_end, _description(missing, found.about)
    else:
        raise UsageError(f"{where} holds no rdf:RDF, so it is not XMP")
    return packet[:place] + addition.encode() + packet[place:]


def read_keywords(packet: bytes, where: object = "the sidecar") -> tuple[str, ...] | None:
    """The keywords of a packet, in its order; None if it says nothing about keywords."""
    found = _look(packet, where)
    return None if found.subject is None else tuple(dict.fromkeys(name for name in found.keywords if name))


def _description(labels: Sequence[str], about: str = "") -> str:
    head = f'<rdf:Description xmlns:rdf="{_RDF}" rdf:about={quoteattr(about)}>'
    return f"  {head}\n   {_subject(labels)}\n  </rdf:Description>\n"


def _subject(labels: Sequence[str]) -> str:
    items = _items(labels, "rdf:")
    return f'<dc:subject xmlns:dc="{_DC}"><rdf:Bag xmlns:rdf="{_RDF}">{items}</rdf:Bag></dc:subject>'


def _items(labels: Sequence[str], prefix: str) -> str:
    return "".join(f"<{prefix}li>{escape(label)}</{prefix}li>" for label in labels)


@dataclass
class _Found:
    """Places in a packet, in bytes."""

    keywords: list[str] = field(default_factory=list)
    about: str = ""
    rdf_prefix: str = "rdf:"  # in the list of keywords
    subject: tuple[int, int] | None = None  # of the whole element
    list_end: int | None = None  # before the end tag of its list
    rdf_end: int | None = None  # before the end tag of rdf:RDF


def _look(packet: bytes, where: object) -> _Found:
    found = _Found()
    path: list[str] = []
    text: list[str] = []
    start_of_subject = 0
    just_opened = False
    parser: Any = expat.ParserCreate("utf-8", namespace_separator=" ")

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal start_of_subject, just_opened
        just_opened = True
        path.append(name)
        text.clear()
        if path[-2:] == _SUBJECT[:2] and not found.about:
            found.about = attributes.get(f"{_RDF} about", "")
        if path[-3:] == _SUBJECT:
            start_of_subject = parser.CurrentByteIndex

    def end(name: str) -> None:
        nonlocal just_opened
        at = parser.CurrentByteIndex
        # Of <empty/> expat gives the place behind it, else that before the end tag.
        closing = not (just_opened and not text and packet[at - 2 : at] == b"/>")
        just_opened = False
        tag = packet[at : packet.index(b">", at) + 1] if closing else b""
        if path[-5:-2] == _SUBJECT and name == f"{_RDF} li":
            found.keywords.append("".join(text).strip())
        elif path[-4:-1] == _SUBJECT and closing:
            found.list_end = at
            prefix, colon, _ = tag[2:].decode().rpartition(":")
            found.rdf_prefix = prefix + colon
        elif path[-3:] == _SUBJECT:
            found.subject = (start_of_subject, at + len(tag))
        elif name == _SUBJECT[0] and closing:
            found.rdf_end = at
        path.pop()

    def refuse(*_: object) -> None:
        raise UsageError(f"{where} declares a document type, which XMP does not have")

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = text.append, refuse
    try:
        parser.Parse(packet, True)
    except expat.ExpatError as error:
        raise UsageError(f"{where} is not XML: {error}") from None
    return found
