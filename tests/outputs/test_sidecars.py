"""Files beside photos: `.txt` and XMP."""

from __future__ import annotations

import errno
from pathlib import Path
from xml.etree import ElementTree

import pytest

from orderless.data import open_data
from orderless.data.xmp import new_packet, read_keywords, with_keywords
from orderless.errors import OrderlessError, UsageError
from orderless.results import Result

from .cases import HOSTILE, NAMES, NOT_UTF8, photo, tagged, writing

# As Lightroom and digiKam write them, shortened.
LIGHTROOM = """<x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="Adobe XMP Core 7.0">
 <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
  <rdf:Description rdf:about="uuid:1" xmlns:crs="http://ns.adobe.com/camera-raw-settings/1.0/"
    crs:Exposure2012="+0.35"/>
 </rdf:RDF>
</x:xmpmeta>
"""
DIGIKAM = """\ufeff<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>
<!-- kept -->
<x:xmpmeta xmlns:x="adobe:ns:meta/"><r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<r:Description r:about="" xmlns:d="http://purl.org/dc/elements/1.1/" xmlns:digiKam="http://www.digikam.org/ns/1.0/">
  <d:title><r:Alt><r:li xml:lang="x-default">Über &lt;all&gt;&#13;</r:li></r:Alt></d:title>
  <d:subject><r:Bag><r:li>Grandma &amp; me</r:li>
    <r:li>person</r:li></r:Bag></d:subject>
  <digiKam:TagsList><r:Seq><r:li>People/Grandma</r:li></r:Seq></digiKam:TagsList>
</r:Description></r:RDF></x:xmpmeta>
<?xpacket end="w"?>"""


def test_text_files_read_back(tmp_path: Path) -> None:
    results = [tagged(photo(tmp_path / name), "hot dog", "grün") for name in (*NAMES, NOT_UTF8)]
    results[1] = tagged(results[1].name)
    results.append(Result(str(tmp_path / "gone.jpg"), error="there is no such file"))
    complaints: list[str] = []
    job = writing("txt", tmp_path, None)
    job.write(results, complaints.append)
    assert complaints == [f"{tmp_path / 'gone.jpg'}: there is no such file"]
    assert (job.tally.tagged, job.tally.failed) == (8, 1)
    found = {str(sample.path): sample.labels for sample in open_data(tmp_path)}
    assert found == {result.name: tuple(result.labels) for result in results[:-1]}


@pytest.mark.parametrize("label", ["a, b", "new\nline", " edge", "1 0.5 0.5 0.2 0.2", "\ud800"])
def test_labels_that_a_text_file_cannot_hold_are_refused(tmp_path: Path, label: str) -> None:
    with pytest.raises(UsageError, match="cannot hold the label"):
        writing("txt", tmp_path, None, (label,))


def test_text_files_of_others_are_kept(tmp_path: Path) -> None:
    photos = [photo(tmp_path / "a.jpg"), photo(tmp_path / "b.jpg")]
    (tmp_path / "a.txt").write_text("my own words")
    job = writing("txt", tmp_path, None)
    assert list(job.pending(photos)) == photos[1:]
    assert job.tally.kept == 1
    job = writing("txt", tmp_path, None, overwrite=True)
    assert list(job.pending(photos)) == photos
    job.write([tagged(photos[0], "person")], pytest.fail)
    assert (tmp_path / "a.txt").read_text() == "person\n"


@pytest.mark.parametrize("format", ["txt", "xmp"])
def test_two_pictures_of_one_name_have_two_sidecars(tmp_path: Path, format: str) -> None:
    results = [tagged(photo(tmp_path / "a.jpg"), "person"), tagged(photo(tmp_path / "a.png"), "grün")]
    writing(format, tmp_path, None).write(results, pytest.fail)
    assert {f"a.jpg.{format}", f"a.png.{format}"} < {path.name for path in tmp_path.iterdir()}
    assert {sample.path.name: sample.labels for sample in open_data(tmp_path)} == {
        "a.jpg": ("person",),
        "a.png": ("grün",),
    }


def test_in_a_folder_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing leaves the folder, whatever photos are called."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    photo(tmp_path / "photos" / "deep" / "a.jpg")
    out = tmp_path / "out"
    writing("txt", tmp_path / "photos", out).write([tagged("../photos/deep/a.jpg", "person")], pytest.fail)
    assert [path.relative_to(out).as_posix() for path in out.rglob("*.txt")] == ["deep/a.txt"]
    assert not list((tmp_path / "photos").rglob("*.txt"))


def test_xmp_is_whole_and_reads_back(tmp_path: Path) -> None:
    results = [tagged(photo(tmp_path / "a.jpg"), *HOSTILE, "bell\x07"), tagged(photo(tmp_path / "b.jpg"))]
    writing("xmp", tmp_path, None, HOSTILE).write(results, pytest.fail)
    root = ElementTree.parse(tmp_path / "a.xmp").getroot()
    rdf = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"
    place = f"{rdf}RDF/{rdf}Description/{{http://purl.org/dc/elements/1.1/}}subject/{rdf}Bag/{rdf}li"
    expected = (*("new line" if label == "new\nline" else label for label in HOSTILE), "bell\ufffd")
    assert tuple(item.text for item in root.findall(place)) == expected
    found = {sample.path.name: sample.labels for sample in open_data(tmp_path)}
    assert found == {"a.jpg": expected, "b.jpg": ()}


@pytest.mark.parametrize("packet", [LIGHTROOM, DIGIKAM, DIGIKAM.replace("<r:li>person</r:li>", "")])
def test_a_sidecar_keeps_everything_else(packet: str) -> None:
    before = packet.encode()
    after = with_keywords(before, ["person", "<dog>"])
    own = read_keywords(before) or ()
    assert read_keywords(after) == tuple(dict.fromkeys((*own, "person", "<dog>")))
    assert with_keywords(after, ["<dog>", "person"]) == after  # a second time changes nothing
    # What was put in is one piece: the bytes before and after it are the old file.
    start = next((i for i, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), len(before))
    assert after.endswith(before[start:])
    about = ElementTree.fromstring(after.decode("utf-8-sig")).iter(
        "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}Description"
    )
    assert len({element.get("{http://www.w3.org/1999/02/22-rdf-syntax-ns#}about") for element in about}) == 1


def test_an_empty_list_of_keywords() -> None:
    for bag in ("<rdf:Bag/>", "<rdf:Bag></rdf:Bag>", ""):
        packet = new_packet([]).replace(b"</rdf:Bag>", b"")
        packet = packet[: packet.index(b"<rdf:Bag")] + bag.encode() + packet[packet.index(b"</dc:subject>") :]
        packet = packet.replace(
            b"<dc:subject ", b'<dc:subject xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" '
        )
        assert read_keywords(packet) == ()
        assert read_keywords(with_keywords(packet, ["person"])) == ("person",)
    assert read_keywords(LIGHTROOM.encode()) is None  # says nothing about keywords


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32"])
def test_a_sidecar_in_another_encoding_is_left_alone(encoding: str) -> None:
    with pytest.raises(UsageError, match="UTF-8"):
        with_keywords(new_packet(["a"]).decode().replace("\ufeff", "").encode(encoding), ["bird"])


def test_a_damaged_sidecar_is_named_and_left_alone(tmp_path: Path) -> None:
    bomb = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "aaaa">]><x>&a;</x>'
    bad = {"a": "not xml", "b": bomb, "c": "<x/>"}
    for name, content in bad.items():
        photo(tmp_path / f"{name}.jpg")
        (tmp_path / f"{name}.xmp").write_text(content)
    complaints: list[str] = []
    job = writing("xmp", tmp_path, None)
    job.write([tagged(tmp_path / f"{name}.jpg", "person") for name in bad], complaints.append)
    assert (job.tally.tagged, job.tally.failed, len(complaints)) == (0, 3, 3)
    assert {name: (tmp_path / f"{name}.xmp").read_text() for name in bad} == bad


@pytest.mark.parametrize("format", ["txt", "xmp"])
def test_one_awkward_photo_does_not_stop_the_others(format: str, tmp_path: Path) -> None:
    blocked = photo(tmp_path / "a.jpg")
    (tmp_path / f"a.{format}").mkdir()
    long = photo(tmp_path / f"{'n' * 243}.jpg")
    last = photo(tmp_path / "z.jpg")
    complaints: list[str] = []
    job = writing(format, tmp_path, None, overwrite=format == "txt")
    job.write((tagged(path, "person") for path in (blocked, long, last)), complaints.append)
    assert (job.tally.tagged, job.tally.failed) == (2, 1)
    assert [complaint.partition(":")[0] for complaint in complaints] == [str(blocked)]
    assert long.with_suffix(f".{format}").is_file()
    assert last.with_suffix(f".{format}").is_file()


def test_a_full_disk_ends_the_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    job = writing("txt", tmp_path, None)
    with pytest.raises(OrderlessError, match="No space left"):
        job.write((tagged(photo(tmp_path / f"{n}.jpg"), "person") for n in range(2)), print)
    assert job.tally.tagged == 1


def test_a_folder_that_cannot_be_made_ends_the_job(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    job = writing("txt", tmp_path, tmp_path / "file" / "sub")
    with pytest.raises(OSError, match="Not a directory"):
        job.write(iter([tagged(photo(tmp_path / "a.jpg"), "person")]), print)
    assert job.tally.tagged == job.tally.failed == 0


def test_suffixes_that_are_none_stay_in_the_name(tmp_path: Path) -> None:
    results = [tagged(photo(tmp_path / f"IMG.000{number}"), label) for number, label in enumerate(("person", "grün"))]
    writing("txt", tmp_path, None).write(results, pytest.fail)
    assert (tmp_path / "IMG.0000.txt").read_text().strip() == "person"
    assert (tmp_path / "IMG.0001.txt").read_text().strip() == "grün"
