"""Label Studio and FiftyOne."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from orderless.data import open_data
from orderless.errors import UsageError
from orderless.outputs.about import check_options
from orderless.outputs.label_studio import OPTIONS
from orderless.results import Result

from .cases import HOSTILE, NAMES, NOT_UTF8, photo, tagged, writing


def test_label_studio_reads_back(tmp_path: Path) -> None:
    results = [tagged(photo(tmp_path / "in" / name), *HOSTILE) for name in (*NAMES, NOT_UTF8)]
    results += [tagged(photo(tmp_path / "in" / "none.jpg")), Result(str(tmp_path / "in" / "gone.jpg"), error="gone")]
    out = tmp_path / "in" / "tasks.json"
    writing("label-studio", tmp_path, out, HOSTILE).write(results, pytest.fail)
    tasks = json.loads(out.read_text())
    assert len(tasks) == len(results)
    (prediction,) = tasks[0]["predictions"]
    assert prediction["model_version"] == "model-1"
    assert prediction["score"] == pytest.approx(0.1)  # of the least certain tag
    assert prediction["result"][0]["value"] == {"choices": list(HOSTILE)}
    assert tasks[-1] == {"data": {"image": "/data/local-files/?d=in/gone.jpg"}, "meta": {"error": "gone"}}
    found = {str(sample.path): sample.labels for sample in open_data(out, predictions=True)}
    assert found == {result.name: tuple(result.labels) for result in results[:-1]}
    with pytest.raises(UsageError, match="no annotated task"):
        open_data(out)  # what a model said is no annotation unless asked for


def test_label_studio_options(tmp_path: Path) -> None:
    out = tmp_path / "tasks.json"
    options = {"from_name": "tag", "to_name": "pic", "prefix": "s3://photos/", "model_version": "v7"}
    assert check_options("label-studio", dict(options), OPTIONS) == options
    writing("label-studio", tmp_path, out, **options).write([tagged(tmp_path / "a b.jpg", "person")], pytest.fail)
    (task,) = json.loads(out.read_text())
    assert task["data"] == {"pic": "s3://photos/a%20b.jpg"}
    assert task["predictions"][0]["model_version"] == "v7"
    assert {task["predictions"][0]["result"][0][key] for key in ("from_name", "to_name")} == {"tag", "pic"}
    with pytest.raises(UsageError, match="no option 'form_name'"):
        check_options("label-studio", {"form_name": "x"}, OPTIONS)


def test_fiftyone(tmp_path: Path) -> None:
    out = tmp_path / "samples.json"
    results = [tagged(tmp_path / NAMES[2], *HOSTILE), Result("gone.jpg", error="gone"), tagged("none.jpg")]
    writing("fiftyone", tmp_path, out, field="pla").write(results, pytest.fail)
    samples = json.loads(out.read_text())["samples"]
    assert samples[0]["filepath"] == str(tmp_path / NAMES[2])
    assert samples[0]["pla"]["classifications"][0] == {"_cls": "Classification", "label": HOSTILE[0], "confidence": 0.9}
    assert samples[1]["error"] == "gone"
    assert samples[2]["pla"] == {"_cls": "Classifications", "classifications": []}


@pytest.mark.parametrize("format", ["label-studio", "fiftyone"])
def test_nothing_to_write_is_still_json(tmp_path: Path, format: str) -> None:
    writing(format, tmp_path, tmp_path / "t.json").write([], pytest.fail)
    assert json.loads((tmp_path / "t.json").read_text()) in ([], {"samples": []})
