"""What runs the encoder: the choice, and that it does not change the tags."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch

from orderless.bench.material import write_run
from orderless.errors import UsageError
from orderless.runtimes import RUNTIMES, Auto, compiled, compiler_found, installed, make_runtime
from orderless.tagger import load


class Clock:
    """Seconds that pass only when somebody says so."""

    now = 0.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr("orderless.runtimes.time", clock)
    return clock


def _pretend(monkeypatch: pytest.MonkeyPatch, clock: Clock, seconds: dict[str, float], wrong: str = "") -> None:
    """Runtimes that take so many seconds for a batch; one of them may give wrong features."""

    def runtime(name: str) -> Callable[[object], Callable[[torch.Tensor], torch.Tensor]]:
        def encode(images: torch.Tensor) -> torch.Tensor:
            clock.now += seconds[name]
            return images.flatten(2) * (2 if name == wrong else 1)

        return lambda encoder: encode

    monkeypatch.setattr("orderless.runtimes.eager", runtime("eager"))
    for name in ("onnx", "openvino"):
        monkeypatch.setitem(RUNTIMES, name, runtime(name))
    monkeypatch.setattr("orderless.runtimes.installed", lambda name: name in seconds)


@pytest.mark.parametrize(
    ("images", "seconds", "wrong", "picked"),
    [
        (100, {"eager": 3.0, "onnx": 2.0, "openvino": 1.0}, "", "eager"),  # 30 seconds at most: not worth a trial
        (1000, {"eager": 3.0, "onnx": 2.0, "openvino": 1.0}, "", "openvino"),
        (1000, {"eager": 3.0, "onnx": 1.0, "openvino": 2.0}, "", "onnx"),
        (1000, {"eager": 3.0, "onnx": 4.0, "openvino": 4.0}, "", "eager"),
        (1000, {"eager": 3.0, "onnx": 2.0}, "", "onnx"),
        (1000, {"eager": 3.0}, "", "eager"),
        (1000, {"eager": 3.0, "onnx": 2.0, "openvino": 1.0}, "openvino", "onnx"),
    ],
)
def test_auto_takes_what_is_done_first(
    images: int, seconds: dict[str, float], wrong: str, picked: str, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    _pretend(monkeypatch, clock, seconds, wrong)
    auto = make_runtime("auto", torch.nn.Identity(), images)  # type: ignore[arg-type]
    assert isinstance(auto, Auto)
    batch = torch.randn(10, 3, 4, 4)
    for _ in range(4):
        assert torch.equal(auto(batch), batch.flatten(2))
    assert auto.picked == picked
    before = clock.now
    auto(batch)
    assert clock.now - before == seconds[picked]  # and nothing is tried again


def test_auto_survives_a_runtime_that_does_not_run(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    _pretend(monkeypatch, clock, {"eager": 9.0, "onnx": 2.0, "openvino": 1.0})

    def fail(encoder: object) -> None:
        raise RuntimeError("no such operation")

    monkeypatch.setitem(RUNTIMES, "openvino", fail)
    auto = Auto(torch.nn.Identity(), 1000)  # type: ignore[arg-type]
    for _ in range(2):
        auto(torch.randn(10, 3, 4, 4))
    assert auto.picked == "onnx"


@pytest.mark.skipif(not installed("onnx"), reason="ONNX Runtime is not installed")
def test_auto_changes_no_tag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = write_run(tmp_path / "run", "test_resnet", 64)
    batches = list(torch.randn(4, 3, 3, 64, 64))
    expected = [load(run, device="cpu")._predict_tensor(batch) for batch in batches]
    monkeypatch.setattr("orderless.runtimes.TRIAL_PAYS_FROM", 0.0)
    tagger = pickle.loads(pickle.dumps(load(run, device="cpu", runtime="auto", expected_images=1000)))  # noqa: S301  its own
    for batch, wanted in zip(batches, expected, strict=True):
        assert torch.equal(tagger._predict_tensor(batch).sequence, wanted.sequence)


def test_names_are_checked(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no runtime 'fast'; choose auto, eager, compile, onnx or openvino"):
        load(write_run(tmp_path / "run", "test_resnet", 64), runtime="fast")


@pytest.mark.parametrize("name", ["onnx", "openvino"])
def test_without_its_packages_one_sentence(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orderless.runtimes.installed", lambda name: False)
    with pytest.raises(UsageError, match=f"--runtime {name} needs packages .* pip install 'orderless"):
        RUNTIMES[name](torch.nn.Identity())  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["onnx", "openvino"])
def test_exported_gives_the_same_tags(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if not installed(name):
        pytest.skip(f"{name} is not installed")
    run = write_run(tmp_path / "run", "test_resnet", 64)
    images = torch.randn(4, 3, 64, 64)
    expected = load(run, device="cpu")._predict_tensor(images)
    fast = load(run, device="cpu", runtime=name)
    for batch in (4, 1):  # the batch size is free
        found = fast._predict_tensor(images[:batch])
        assert torch.equal(found.sequence, expected.sequence[:batch])
        torch.testing.assert_close(found.scores, expected.scores[:batch], atol=1e-4, rtol=1e-3)
    # What is in the cache is used again, and does not depend on PyTorch's exporter.
    monkeypatch.setattr("orderless.export.encoder.export_module", None)
    assert torch.equal(load(run, device="cpu", runtime=name)._predict_tensor(images).sequence, expected.sequence)


def test_without_a_compiler_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orderless.runtimes.compiler_found", lambda: False)
    with pytest.raises(UsageError, match="needs a C\\+\\+ compiler"):
        compiled(torch.nn.Identity())  # type: ignore[arg-type]


def test_a_short_last_batch_is_filled_up(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes = []

    def double(images: torch.Tensor) -> torch.Tensor:
        sizes.append(len(images))
        return 2 * images

    monkeypatch.setattr("orderless.runtimes.compiler_found", lambda: True)
    monkeypatch.setattr(torch, "compile", lambda encoder: double)
    encode = compiled(torch.nn.Identity())  # type: ignore[arg-type]
    images = torch.randn(3, 3, 8, 8)
    assert torch.equal(encode(images), 2 * images)
    assert torch.equal(encode(images[:1]), 2 * images[:1])
    assert sizes == [3, 3]


@pytest.mark.slow
@pytest.mark.skipif(not compiler_found(), reason="no C++ compiler")
def test_compiled_gives_the_same_tags(tmp_path: Path) -> None:
    run = write_run(tmp_path / "run", "test_resnet", 64)
    images = torch.randn(4, 3, 64, 64)
    plain, fast = (load(run, device="cpu", runtime=name)._predict_tensor(images) for name in ("eager", "compile"))
    assert torch.equal(plain.sequence, fast.sequence)
    torch.testing.assert_close(plain.scores, fast.scores, atol=1e-4, rtol=1e-3)


def test_exported_encoders_are_kept_but_not_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnxscript")
    from orderless.export.encoder import MOST_KEPT, exported_encoder
    from orderless.model.encoder import Encoder

    monkeypatch.setenv("ORDERLESS_CACHE", str(tmp_path))
    folder = tmp_path / "encoders"
    folder.mkdir()
    for number in range(MOST_KEPT):
        (folder / f"{number}.onnx").touch()
        os.utime(folder / f"{number}.onnx", (number, number))
    encoder = Encoder("test_resnet").eval()
    content = exported_encoder(encoder, 64)
    exported = max(folder.iterdir(), key=lambda file: file.stat().st_mtime)
    assert {file.name for file in folder.iterdir()} == {exported.name, *(f"{n}.onnx" for n in range(1, MOST_KEPT))}
    os.utime(exported, (0, 0))
    assert exported_encoder(encoder, 64) == content  # and now it is the latest again
    assert exported.stat().st_mtime > MOST_KEPT
    monkeypatch.setenv("ORDERLESS_CACHE", str(exported))  # a file: nothing can be kept there
    assert exported_encoder(encoder, 64)


def test_a_damaged_file_in_the_cache_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("onnxscript")
    from orderless.export.encoder import exported_encoder
    from orderless.model.encoder import Encoder

    monkeypatch.setenv("ORDERLESS_CACHE", str(tmp_path))
    encoder = Encoder("test_resnet").eval()
    content = exported_encoder(encoder, 64)
    (file,) = (tmp_path / "encoders").iterdir()
    file.write_bytes(file.read_bytes()[:-1000])
    assert len(exported_encoder(encoder, 64)) == len(content)


@pytest.mark.parametrize("name", ["onnx", "openvino"])
def test_threads_do_not_share_their_answers(tmp_path: Path, name: str) -> None:
    if not installed(name):
        pytest.skip(f"{name} is not installed")
    tagger = load(write_run(tmp_path / "run", "test_resnet", 64), device="cpu", runtime=name)
    batches = list(torch.randn(4, 6, 3, 64, 64))
    expected = [tagger._encode(batch) for batch in batches]

    def work(number: int) -> bool:
        return all(torch.equal(tagger._encode(batches[number]), expected[number]) for _ in range(20))

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))
