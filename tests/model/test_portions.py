"""Images go through an encoder in portions: none is lost, and the result is that of the whole batch."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from orderless.model.encoder import Encoder, in_portions


@pytest.fixture(autouse=True)
def _given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a program that only imports the library, whatever commands ran in this process before."""
    monkeypatch.setattr("orderless.model.encoder.freed_memory_is_kept", lambda: False)


@pytest.mark.parametrize(
    ("batch", "size", "portions"),
    [(32, 192, [8] * 4), (10, 192, [8, 2]), (3, 192, [3]), (12, 224, [5, 5, 2]), (3, 1024, [1, 1, 1]), (0, 192, [0])],
)
def test_portions(batch: int, size: int, portions: list[int]) -> None:
    seen = []

    def encode(images: Tensor) -> Tensor:
        seen.append(len(images))
        return images.flatten(2).transpose(1, 2)

    images = torch.rand(batch, 3, 1, 1).expand(-1, -1, size, size)
    assert torch.equal(in_portions(encode, images)[:, 0], images[:, :, 0, 0])
    assert seen == portions


def test_a_whole_batch_where_freed_memory_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orderless.model.encoder.freed_memory_is_kept", lambda: True)
    seen = []
    in_portions(lambda images: seen.append(len(images)) or images, torch.zeros(32, 3, 192, 192))
    assert seen == [32]


@torch.inference_mode()
def test_the_same_features(monkeypatch: pytest.MonkeyPatch) -> None:
    encoder = Encoder("test_resnet").eval()
    images = torch.randn(7, 3, 64, 64)
    monkeypatch.setattr("orderless.model.encoder.PORTION_PIXELS", 2 * 64 * 64)
    torch.testing.assert_close(in_portions(encoder, images), encoder(images))
    if encoder.has_tail:
        torch.testing.assert_close(in_portions(encoder.trunk, images), encoder.trunk(images))
