"""Tagging with an exported file: as the run does, without PyTorch; foreign files are refused."""

from __future__ import annotations

import io
import json
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from PIL import Image

from orderless.errors import UnreadableImage, UsageError
from orderless.export.metadata import FORMAT_VERSION
from orderless.labels import Vocabulary
from orderless.onnx_session import _environment_threads
from orderless.onnx_tagger import OnnxTagger
from orderless.results import Result
from orderless.tagger import load


def jpegs(photos: Path) -> list[Path]:
    return sorted(photos.rglob("*.jpg"))[:5] or sorted(photos.rglob("*.png"))[:5]


def assert_same(ours: Result, theirs: Result) -> None:
    assert ours.name == theirs.name
    assert ours.error == theirs.error
    assert ours.labels == theirs.labels
    assert ours.scores == pytest.approx(theirs.scores, abs=1e-4)
    assert [step.label for step in ours.steps] == [step.label for step in theirs.steps]
    for a, b in zip(ours.tags, theirs.tags, strict=True):
        np.testing.assert_allclose(a.region, b.region, atol=1e-4)  # type: ignore[arg-type]


def test_says_what_the_run_says(exported: tuple[Path, Path], photos: Path, tmp_path: Path) -> None:
    run, file = exported
    tagger, plain = OnnxTagger(file), load(run, device="cpu")
    broken = tmp_path / "broken.jpg"
    broken.write_bytes(b"no image")
    files = [*jpegs(photos), broken, tmp_path / "missing.jpg"]
    for workers in (0, 2):
        found = list(tagger.predict_many(iter(files), batch_size=3, workers=workers))
        for ours, theirs in zip(found, plain.predict_many(files, batch_size=3), strict=True):
            assert_same(ours, theirs)
    image = Image.open(files[0])
    assert_same(tagger.predict(image), plain.predict(image))
    assert_same(tagger.predict(files[1].read_bytes()), plain.predict(files[1].read_bytes()))
    assert tagger.predict(files[2]).name == str(files[2])
    assert tagger.predict_images([]) == []
    with pytest.raises(UnreadableImage):
        tagger.predict(broken)
    assert tagger.vocabulary == plain.vocabulary
    assert tagger.preprocessing.size == plain.preprocessing.size
    assert tagger.config.model.head == plain.config.model.head
    assert tagger.config.data.path == "scenes"  # not where the photos of the run were


def test_torch_is_not_imported(exported: tuple[Path, Path], photos: Path) -> None:
    code = (
        "import sys; from orderless.onnx_tagger import OnnxTagger\n"
        "result = OnnxTagger(sys.argv[1]).predict(sys.argv[2])\n"
        "assert result.scores and not result.error\n"
        "assert not {'torch', 'timm', 'lightning', 'pydantic', 'onnx'} & set(sys.modules), 'too much is imported'"
    )
    subprocess.run([sys.executable, "-c", code, exported[1], jpegs(photos)[0]], check=True)


def test_predict_without_torch(exported: tuple[Path, Path], photos: Path, tmp_path: Path) -> None:
    out = tmp_path / "tags.jsonl"
    code = (
        "import sys; from orderless.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        "assert 'torch' not in sys.modules"
    )
    command = [sys.executable, "-c", code, "predict", exported[1], *jpegs(photos), "--out", out]
    subprocess.run(command, check=True)
    expected = load(exported[0], device="cpu").predict_many(jpegs(photos))
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["labels"] for row in rows] == [result.labels for result in expected]


def altered(file: Path, to: Path, change: Callable[[dict[str, str]], object]) -> Path:
    model = onnx.load(file)
    props = {prop.key: prop.value for prop in model.metadata_props}
    change(props)
    del model.metadata_props[:]
    onnx.helper.set_model_props(model, props)
    onnx.save(model, to)
    return to


def test_what_is_not_ours_is_refused(exported: tuple[Path, Path], tmp_path: Path) -> None:
    file, bad = exported[1], tmp_path / "bad.onnx"
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        OnnxTagger(bad)
    for content in (b"", b"hello", file.read_bytes()[:1000]):
        bad.write_bytes(content)
        with pytest.raises(UsageError, match="damaged or not an ONNX file"):
            OnnxTagger(bad)
    with pytest.raises(UsageError, match="not written by orderless export"):
        OnnxTagger(altered(file, bad, dict.clear))
    newer = {"orderless.format": str(FORMAT_VERSION + 1)}
    with pytest.raises(UsageError, match="newer orderless"):
        OnnxTagger(altered(file, bad, lambda props: props.update(newer)))
    for key in ("orderless.labels", "orderless.preprocessing", "orderless.config"):
        with pytest.raises(UsageError, match="damaged metadata"):
            OnnxTagger(altered(file, bad, lambda props, key=key: props.update({key: "{"})))  # type: ignore[misc]
    fewer = {"orderless.labels": Vocabulary(("a",), (1,)).to_json()}
    with pytest.raises(UsageError, match="does not fit its own metadata"):
        OnnxTagger(altered(file, bad, lambda props: props.update(fewer)))


@pytest.mark.parametrize("key", [b"\x0a\x08", b"\x0a\x88\x00", b"\x8a\x80\x00\x08", b"\x8a\x80\x80\x80\x10\x08"])
def test_a_model_that_reads_other_files_is_refused(
    key: bytes, exported: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ONNX Runtime would read them below the working directory, and what they hold would leave as scores."""
    model = onnx.load(exported[1])
    weight = max(model.graph.initializer, key=lambda tensor: len(tensor.raw_data))
    (tmp_path / "secret").write_bytes(weight.raw_data)
    monkeypatch.chdir(tmp_path)
    weight.ClearField("raw_data")
    weight.data_location = onnx.TensorProto.EXTERNAL
    entry = weight.external_data.add()
    entry.key, entry.value = "location", "secret"
    content = model.SerializeToString()
    # The same two numbers, written in other ways; the lengths around them do not matter to what is tested.
    content = content.replace(b"\x0a\x08location", key + b"location")
    with pytest.raises(UsageError, match="asks for weights in other files"):
        OnnxTagger(content)


@pytest.mark.parametrize(("value", "threads"), [("2,1", 2), ("3", 3), ("", 0), ("many", 0)])
def test_threads_of_the_environment(value: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", value)
    assert _environment_threads() == threads


def test_a_picture_has_the_same_tags_however_it_comes(
    exported: tuple[Path, Path], photos: Path, tmp_path: Path
) -> None:
    """As a file, as bytes, as a Pillow image, alone or among many; turned, or half transparent."""
    turned, clear, exif = tmp_path / "turned.png", tmp_path / "clear.png", Image.Exif()
    exif[0x0112] = 6
    image = Image.open(jpegs(photos)[0])
    image.save(turned, exif=exif)
    image.putalpha(90)
    image.save(clear)
    for tagger in (load(exported[0], device="cpu"), OnnxTagger(exported[1])):
        for file in (turned, clear):
            expected = next(iter(tagger.predict_many([file]))).scores
            for source in (file, file.read_bytes(), Image.open(file)):
                assert tagger.predict(source).scores == pytest.approx(expected, abs=1e-5)
        with pytest.raises(UnreadableImage, match="damaged"):
            tagger.predict(Image.open(io.BytesIO(jpegs(photos)[0].read_bytes()[:900])))


@pytest.mark.parametrize(
    ("name", "value"),
    [("size", -5), ("size", 20_000), ("size", 64.5), ("size", "x"), ("size", True), ("interpolation", "foo"),
     ("interpolation", [1]), ("pixel_limit", "x"), ("pixel_limit", 0), ("mean", 3), ("extra", 1)],
)  # fmt: skip
def test_preprocessing_that_makes_no_sense_is_refused(
    name: str, value: object, exported: tuple[Path, Path], tmp_path: Path
) -> None:
    def change(props: dict[str, str]) -> None:
        rule = json.loads(props["orderless.preprocessing"]) | {name: value}
        props["orderless.preprocessing"] = json.dumps(rule)

    with pytest.raises(UsageError, match="damaged metadata"):
        OnnxTagger(altered(exported[1], tmp_path / "bad.onnx", change))


def test_travels_to_other_processes(exported: tuple[Path, Path], photos: Path) -> None:
    file, photo = exported[1], jpegs(photos)[0]
    for source in (file, file.read_bytes()):
        tagger = OnnxTagger(source, threads=1)
        assert pickle.loads(pickle.dumps(tagger)).predict(photo) == tagger.predict(photo)  # noqa: S301
    with pytest.raises(TypeError, match="several files"):
        tagger.predict_many(str(photo))
    with pytest.raises(UsageError, match="at least"):
        tagger.predict_many([photo], batch_size=0)
