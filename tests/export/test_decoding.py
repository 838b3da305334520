"""Every head leaves PyTorch and says the same."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from orderless.config import ModelConfig
from orderless.errors import UsageError
from orderless.export.decoding import DECODERS, predict
from orderless.export.graph import export_module
from orderless.export.metadata import OUTPUTS
from orderless.model.network import BUILDERS, build_head
from orderless.model.prediction import Prediction
from orderless.onnx_session import open_session

CASES = [(name, True) for name in BUILDERS] + [("sequence", False), ("stepwise", False)]


class Graph(nn.Module):
    def __init__(self, head: nn.Module) -> None:
        super().__init__()
        self.head = head

    def forward(self, features: Tensor) -> dict[str, Tensor]:
        return {name: value for name, value in vars(predict(self.head, features)).items() if value is not None}


def make_head(name: str, attention: bool) -> nn.Module:
    sizes = {"hidden": 32, "embedding": 16, "attention_size": 16, "query_size": 16, "query_groups": 4, "max_steps": 9}
    torch.manual_seed(0)
    return build_head(ModelConfig(head=name, attention=attention, **sizes), 24, 7).eval()  # type: ignore[arg-type]


def assert_same(found: dict[str, np.ndarray], expected: Prediction) -> None:
    steps = expected.sequence.shape[1]
    for name in OUTPUTS:
        ours, theirs = found.get(name), getattr(expected, name)
        assert (ours is None) == (theirs is None), name
        if ours is None:
            continue
        if name in ("sequence", "probabilities", "attention"):
            if name == "sequence":
                assert (ours[:, steps:] == -1).all()
            ours = ours[:, :steps]
        if name == "attention":  # of a step that wrote nothing it means nothing
            written = expected.sequence.numpy() >= 0
            ours, theirs = ours[written], theirs[torch.from_numpy(written)]
        np.testing.assert_allclose(ours, theirs.numpy(), atol=1e-5)


@pytest.mark.parametrize(("name", "attention"), CASES)
def test_the_graph_in_pytorch(name: str, attention: bool) -> None:
    head = make_head(name, attention)
    features = 3 * torch.randn(5, 9, 24)
    with torch.no_grad():
        found = {name: value.numpy() for name, value in Graph(head)(features).items()}
    assert_same(found, head.predict(features))  # type: ignore[operator]


# With attention the exporter takes seconds; the two that differ most are enough for every day.
EVERY_DAY = {("binary", True), ("sequence", True)}


@pytest.mark.parametrize(
    ("name", "attention"),
    [pytest.param(*case, marks=() if case in EVERY_DAY else pytest.mark.slow) for case in CASES],
)
def test_the_graph_in_onnx_runtime(name: str, attention: bool) -> None:
    graph = Graph(make_head(name, attention))
    features = 3 * torch.randn(5, 9, 24)
    with torch.no_grad():
        names = list(graph(features))
    session = open_session(export_module(graph, features[:2], "features", names).SerializeToString(), 1)
    for batch in (1, 2, 5):
        found = dict(zip(names, session.run(None, {"features": features[:batch].numpy()}), strict=True))
        assert_same(found, graph.head.predict(features[:batch]))  # type: ignore[operator]


def test_every_head_is_known() -> None:
    assert {type(make_head(name, True)) for name in BUILDERS} <= set(DECODERS)
    with pytest.raises(UsageError, match="head Identity cannot be exported"):
        predict(nn.Identity(), torch.zeros(1, 9, 24))
