"""CSV, JSON lines and Parquet: what is written is a data set that `open_data` reads back, whatever the names."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from orderless.data import open_data
from orderless.errors import UsageError
from orderless.outputs import find_output, parquet
from orderless.results import Result

from .cases import HOSTILE, NAMES, NOT_UTF8, photo, tagged, writing


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet"])
def test_read_back(tmp_path: Path, suffix: str) -> None:
    wanted = dict(zip(NAMES, [HOSTILE, HOSTILE[1:2], (), *[("person",)] * 4], strict=True))
    results = [tagged(photo(tmp_path / "deep" / name), *labels) for name, labels in wanted.items()]
    results.append(Result(str(photo(tmp_path / "deep" / "bad.jpg")), error="it is damaged"))
    job = writing(suffix, tmp_path, tmp_path / f"metadata.{suffix}", HOSTILE)
    job.write(results, pytest.fail)
    assert (job.tally.tagged, job.tally.failed) == (len(NAMES), 1)
    found = {sample.path.name: sample.labels for sample in open_data(tmp_path)}
    assert found == wanted  # and not the photo that failed: it is none without labels
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == [f"metadata.{suffix}"]


@pytest.mark.parametrize("suffix", ["csv", "jsonl", "parquet", "label-studio", "fiftyone"])
def test_names_that_are_not_utf8(tmp_path: Path, suffix: str) -> None:
    out = tmp_path / f"tags.{suffix}"
    results = [tagged(NOT_UTF8, "bad\ud800label", "person"), Result(NOT_UTF8, error="\udcff")]
    writing(suffix, tmp_path, out, ("bad\ud800label", "person")).write(results, pytest.fail)
    assert b"person" in out.read_bytes()
    if suffix == "jsonl":
        photo(tmp_path / NOT_UTF8)
        assert {str(sample.path) for sample in open_data(out)} == {str(tmp_path / NOT_UTF8)}


def test_no_cell_is_a_formula(tmp_path: Path) -> None:
    writing("csv", tmp_path, tmp_path / "a.csv").write([tagged(tmp_path / "=1+1.jpg", "@sum", "-1")], pytest.fail)
    row = (tmp_path / "a.csv").read_text().splitlines()[1]
    assert row.startswith('./=1+1.jpg,"[""@sum')


def test_a_name_is_relative_to_the_table_only_below_it(tmp_path: Path) -> None:
    out = tmp_path / "in" / "tags.jsonl"
    names = [str(tmp_path / "in" / "a" / "1.jpg"), str(tmp_path / "2.jpg"), "../../x.jpg"]
    writing("jsonl", tmp_path, out).write([tagged(name) for name in names], pytest.fail)
    assert [json.loads(line)["file_name"] for line in out.read_text().splitlines()] == ["a/1.jpg", *names[1:]]


def test_parquet_in_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "ROW_GROUP", 4)
    taken = 0

    def results():
        nonlocal taken
        for number in range(10):
            taken += 1
            yield tagged(f"{number}.jpg", "person") if number else Result("0.jpg", error="gone")

    writing("parquet", tmp_path, tmp_path / "t.parquet").write(results(), pytest.fail)
    file = pq.ParquetFile(tmp_path / "t.parquet")
    assert [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)] == [4, 4, 2]
    rows = file.read().to_pylist()
    assert rows[0] == {"file_name": "0.jpg", "labels": None, "scores": None, "error": "gone"}
    assert (rows[1]["labels"], rows[1]["error"]) == (["person"], None)


@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
@pytest.mark.parametrize("cut", [0, 1, 7])
def test_a_stopped_job_goes_on(tmp_path: Path, suffix: str, cut: int) -> None:
    """Killed after three photos, in the middle of a row: the same file in the end, nothing tagged twice."""
    photos = [tmp_path / f"{number}.jpg" for number in range(6)]
    results = [tagged(path, "new\nline", "x|y") for path in photos]
    results[1] = Result(str(photos[1]), error="gone")
    whole, out = tmp_path / f"whole.{suffix}", tmp_path / f"tags.{suffix}"
    writing(suffix, tmp_path, whole).write(results, pytest.fail)

    def stopped():
        yield from results[:3]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        writing(suffix, tmp_path, out).write(stopped(), pytest.fail)
    assert not out.exists()
    part = tmp_path / f"tags.{suffix}.part"
    data = part.read_bytes()
    part.write_bytes(data[: len(data) - cut])
    job = writing(suffix, tmp_path, out, resume=True)
    left = list(job.pending(photos))
    assert left == (photos[3:] if not cut else photos[2:])
    job.write([result for result in results if Path(result.name) in left], pytest.fail)
    assert out.read_bytes() == whole.read_bytes()
    assert not part.exists()
    assert (job.tally.tagged + job.tally.kept, job.tally.failed) == (5, 1)


def test_resuming_with_other_photos_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tags.jsonl.part").write_text('{"file_name": "other.jpg", "labels": []}\n')
    job = writing("jsonl", tmp_path, tmp_path / "tags.jsonl", resume=True)
    with pytest.raises(UsageError, match="other photos"):
        job.pending([tmp_path / "a.jpg"])


def test_resuming_with_another_model_is_refused(tmp_path: Path) -> None:
    photos, out = [photo(tmp_path / f"{n}.jpg") for n in range(3)], tmp_path / "tags.csv"
    first = writing("csv", tmp_path, out)
    first.model = "one"

    def stopped() -> Iterator[Result]:
        yield tagged(photos[0], "person")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        first.write(stopped(), print)
    again = writing("csv", tmp_path, out, resume=True)
    again.model = "two"
    with pytest.raises(UsageError, match="another model"):
        again.pending(photos)
    again.model = "one"
    again.write((tagged(path, "person") for path in again.pending(photos)), print)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["0.jpg", "1.jpg", "2.jpg", "tags.csv"]
    assert len(out.read_text().splitlines()) == 4


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet", "label-studio"])
def test_a_file_that_is_there_stays_unless_asked_otherwise(format: str, tmp_path: Path) -> None:
    path = photo(tmp_path / "a.jpg")
    out, link = tmp_path / "labels", tmp_path / "link"
    out.write_text("made by hand")
    link.symlink_to(out)
    for place in (out, link):
        with pytest.raises(UsageError, match="--overwrite replaces it"):
            writing(format, tmp_path, place)
    assert out.read_text() == "made by hand"
    writing(format, tmp_path, link, overwrite=True).write(iter([tagged(path, "person")]), print)
    assert link.is_symlink()
    assert b"person" in out.read_bytes()


def test_only_files_are_written(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for place in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(UsageError, match="is not a file"):
            writing("csv", tmp_path, place, overwrite=True)
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(UsageError, match="leads nowhere"):
        writing("csv", tmp_path, tmp_path / "a")
    for format in ("csv", "xmp"):
        with pytest.raises(UsageError, match="replaces nothing"):
            writing(format, tmp_path, None, overwrite=True)


def test_which_format() -> None:
    assert find_output(None, None) is None
    assert find_output(None, Path("a/TAGS.CSV")).name == "csv"
    assert find_output("fiftyone", Path("a.json")).name == "fiftyone"
    with pytest.raises(UsageError, match="add --to"):
        find_output(None, Path("tags.json"))
    with pytest.raises(UsageError, match="--resume does not work"):
        writing("parquet", Path(), Path("t.parquet"), resume=True)
    with pytest.raises(UsageError, match="cannot be printed"):
        writing("parquet", Path(), None)


def test_a_stopped_job_is_not_begun_again_unasked(tmp_path: Path) -> None:
    (tmp_path / "tags.csv.part").write_text("hours of work")
    with pytest.raises(UsageError, match="--resume goes on, --overwrite begins again"):
        writing("csv", tmp_path, tmp_path / "tags.csv")
    job = writing("csv", tmp_path, tmp_path / "tags.csv", overwrite=True)
    job.write([tagged("a.jpg", "person")], pytest.fail)
    assert not (tmp_path / "tags.csv.part").exists()


def test_a_finished_job_has_nothing_to_resume(tmp_path: Path) -> None:
    out, photos = tmp_path / "tags.csv", [photo(tmp_path / name) for name in ("a.jpg", "b.jpg")]
    writing("csv", tmp_path, out).write([tagged(name, "person") for name in photos], pytest.fail)
    before = out.read_bytes()
    job = writing("csv", tmp_path, out, resume=True)
    assert list(job.pending(photos)) == []
    job.write([], pytest.fail)
    assert (job.tally.kept, job.tally.tagged) == (2, 0)
    assert out.read_bytes() == before
    with pytest.raises(UsageError, match="fewer photos"):
        list(writing("csv", tmp_path, out, resume=True).pending([*photos, tmp_path / "c.jpg"]))


def test_a_part_does_not_replace_a_file_unasked(tmp_path: Path) -> None:
    for name in ("tags.csv", "tags.csv.part"):
        (tmp_path / name).write_text("file_name,labels,scores,error\n")
    with pytest.raises(UsageError, match="is there already"):
        writing("csv", tmp_path, tmp_path / "tags.csv", resume=True)
    writing("csv", tmp_path, tmp_path / "tags.csv", resume=True, overwrite=True)


def test_two_jobs_do_not_write_one_file(tmp_path: Path) -> None:
    out = tmp_path / "tags.csv"

    def slowly() -> Iterator[Result]:
        yield tagged("a.jpg", "person")
        with pytest.raises(UsageError, match="another job is writing"):
            writing("csv", tmp_path, out, overwrite=True).write([tagged("b.jpg", "person")], pytest.fail)

    writing("csv", tmp_path, out).write(slowly(), pytest.fail)
    assert "a.jpg" in out.read_text()
    assert "b.jpg" not in out.read_text()


def test_without_standard_output_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(UsageError, match="standard output is closed"):
        writing("csv", tmp_path, None).write([], pytest.fail)
