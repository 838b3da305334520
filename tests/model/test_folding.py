"""Folded encoders answer as the encoders they were made of."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from orderless.model.encoder import Encoder
from orderless.model.folding import fold_batchnorm


def make(backbone: str) -> Encoder:
    """An encoder whose batch norms do something."""
    torch.manual_seed(0)
    encoder = Encoder(backbone)
    for module in encoder.modules():
        if isinstance(module, nn.BatchNorm2d):
            nn.init.normal_(module.running_mean, 0, 0.1)
            nn.init.uniform_(module.running_var, 0.5, 1.5)
            nn.init.uniform_(module.weight, 0.5, 1.5)
            nn.init.normal_(module.bias, 0, 0.1)
    return encoder


def norms(encoder: nn.Module) -> int:
    return sum(isinstance(module, nn.BatchNorm2d) for module in encoder.modules())


@pytest.mark.parametrize(
    "backbone",
    [
        "lite0",
        "resnet18",
        "resnet50",
        "mobilenet",
        pytest.param("vgg16_bn", marks=pytest.mark.slow),
        pytest.param("vgg16", marks=pytest.mark.slow),
    ],
)
def test_same_features(backbone: str) -> None:
    encoder = make(backbone).train()
    before = {name: tensor.clone() for name, tensor in encoder.state_dict().items()}
    folded = fold_batchnorm(encoder)
    assert encoder.training  # the original is untouched
    assert all(torch.equal(before[name], tensor) for name, tensor in encoder.state_dict().items())
    assert norms(folded) == 0
    images = torch.randn(2, 3, 96, 96)
    with torch.no_grad():
        expected = encoder.eval()(images)
        error = (folded(images) - expected).abs().max() / expected.abs().max()
    assert error < 1e-4


def test_norms_that_follow_no_convolution_stay() -> None:
    encoder = make("densenet121").eval()
    folded = fold_batchnorm(encoder)
    assert 0 < norms(folded) < norms(encoder)
    images = torch.randn(1, 3, 64, 64)
    with torch.no_grad():
        expected = encoder(images)
        assert (folded(images) - expected).abs().max() < 1e-4 * expected.abs().max()


def test_a_fold_that_changes_the_answer_is_not_used() -> None:
    encoder = make("resnet18").eval()

    class Twice(nn.Module):
        """A convolution whose output has a second reader, which folding would change behind its back."""

        def __init__(self, convolution: nn.Module, norm: nn.Module) -> None:
            super().__init__()
            self.convolution, self.norm = convolution, norm

        def forward(self, images: torch.Tensor) -> torch.Tensor:
            maps = self.convolution(images)
            return self.norm(maps) + 5 * maps

    encoder.backbone.bn1 = nn.Sequential(encoder.backbone.bn1, Twice(nn.Conv2d(64, 64, 1), nn.BatchNorm2d(64)))
    nn.init.uniform_(encoder.backbone.bn1[1].norm.running_var, 2.0, 3.0)
    encoder.eval()
    folded = fold_batchnorm(encoder)
    images = torch.randn(1, 3, 64, 64)
    with torch.no_grad():
        assert torch.equal(folded(images), encoder(images))
