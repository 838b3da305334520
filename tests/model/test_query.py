"""The query decoder against a plain one, label by label."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from orderless.model.query import QueryHead


def plain_logit(head: QueryHead, cells: Tensor, label: int) -> tuple[Tensor, Tensor]:
    """One label of one image, step by step: its query looks at cells [cells, C]. Logit, attention [cells]."""
    size, heads = head.queries.shape[1], head.attention.num_heads
    query = head.queries[label // head.per_group]  # [D]
    memory = (cells @ head.embed[0].weight.T + head.embed[0].bias).relu()  # [cells, D]
    weight, bias = head.attention.in_proj_weight, head.attention.in_proj_bias
    q, k, v = (
        x @ weight[i * size : (i + 1) * size].T + bias[i * size : (i + 1) * size]
        for i, x in enumerate((query, memory, memory))
    )
    looks, found = [], []
    for part in range(heads):
        chunk = slice(part * size // heads, (part + 1) * size // heads)
        looks.append((k[:, chunk] @ q[chunk] / math.sqrt(size / heads)).softmax(0))
        found.append(looks[-1] @ v[:, chunk])
    vector = head.attention_norm(query + head.attention.out_proj(torch.cat(found)))
    vector = head.feedforward_norm(vector + head.feedforward(vector))
    logit = vector @ head.output[label // head.per_group, :, label % head.per_group] + head.bias[label]
    return logit, torch.stack(looks).mean(0)


@pytest.mark.parametrize(("labels", "groups", "queries"), [(5, 100, 5), (7, 3, 3), (6, 4, 3)])
def test_every_label_by_its_query_alone(labels: int, groups: int, queries: int) -> None:
    torch.manual_seed(0)
    head = QueryHead(10, labels, size=16, groups=groups, heads=4, feedforward=12).eval()
    torch.nn.init.normal_(head.bias)
    assert head.queries.shape == (queries, 16)
    features = torch.randn(3, 6, 10)
    head.threshold.fill_(0.0)
    prediction = head.predict(features)
    assert prediction.attention is not None
    logits = head(features)
    assert logits.shape == (3, labels)
    for image in range(3):
        for step, label in enumerate(prediction.sequence[image].tolist()):
            logit, looked = plain_logit(head, features[image], label)
            assert torch.allclose(logits[image, label], logit, atol=1e-5)
            assert torch.allclose(prediction.scores[image, label], logit.sigmoid(), atol=1e-5)
            assert torch.allclose(prediction.attention[image, step], looked, atol=1e-5)


def test_queries_are_fixed_but_saved() -> None:
    head = QueryHead(10, 5, size=16)
    assert "queries" not in dict(head.named_parameters())
    assert "queries" in head.state_dict()


def test_ten_thousand_labels_need_a_hundred_queries() -> None:
    head = QueryHead(10, 10_000, size=16, feedforward=8)
    assert head.queries.shape == (100, 16)
    assert head(torch.randn(2, 4, 10)).shape == (2, 10_000)


def test_the_papers_sizes() -> None:
    head = QueryHead(32, 80)
    assert head.queries.shape == (80, 768)
    assert head.attention.num_heads == 8
    assert head.feedforward[0].out_features == 2048
