"""What runs the encoder: the choice, and that it does not change the tags."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from orderless.bench.material import write_run
from orderless.errors import UsageError
from orderless.runtimes import COMPILE_PAYS_FROM, RUNTIMES, choose_runtime, compiled, compiler_found
from orderless.tagger import load


def test_auto_compiles_only_where_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orderless.runtimes.compiler_found", lambda: True)
    assert choose_runtime("auto", 1) == "eager"
    assert choose_runtime("auto", COMPILE_PAYS_FROM) == "compile"
    monkeypatch.setattr("orderless.runtimes.compiler_found", lambda: False)
    assert choose_runtime("auto", 10 * COMPILE_PAYS_FROM) == "eager"


def test_names_are_checked(tmp_path: Path) -> None:
    assert [choose_runtime(name, 1) for name in RUNTIMES] == list(RUNTIMES)
    with pytest.raises(UsageError, match="no runtime 'fast'; choose auto, eager or compile"):
        load(write_run(tmp_path / "run", "test_resnet", 64), runtime="fast")


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
