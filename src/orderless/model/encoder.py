"""The image encoder: the last feature map of any timm backbone, as a list of cells."""

from __future__ import annotations

import torch
from torch import Tensor, nn

import orderless.torchvision_ops  # noqa: F401  must come before timm
from orderless.compiler_later import compiler_later
from orderless.errors import UsageError

with compiler_later():
    import timm

ALIASES = {
    "lite0": "tf_efficientnet_lite0",
    "lite1": "tf_efficientnet_lite1",
    "lite2": "tf_efficientnet_lite2",
    "mobilenet": "mobilenetv3_large_100",
    "efficientnet": "efficientnet_b0",
    "convnext": "convnext_tiny",
    "vgg-16": "vgg16",
    "resnet-18": "resnet18",
    "resnet-50": "resnet50",
    "resnet-101": "resnet101",
    "resnet-152": "resnet152",
}


def timm_name(backbone: str) -> str:
    """timm's name of a backbone given by its plain name or timm's own; an unknown one is a UsageError."""
    name = ALIASES.get(backbone.lower(), backbone)
    if not timm.is_model(name.split(".")[0]):
        near = timm.list_models(f"*{name.split('.')[0].split('_')[0]}*")[:4]
        hint = f"; did you mean {', '.join(near)}?" if near else "; try lite0, resnet50, resnet101 or vgg16"
        raise UsageError(f"there is no backbone {backbone!r}{hint}")
    return name


class Encoder(nn.Module):
    """images [B, 3, S, S], normalised -> features [B, cells, C] of the last convolutional map."""

    def __init__(self, backbone: str = "lite0") -> None:
        super().__init__()
        self.backbone_name = timm_name(backbone)
        self.backbone = timm.create_model(self.backbone_name, pretrained=False, num_classes=0, global_pool="")
        if hasattr(self.backbone, "pre_logits"):  # VGG's fully connected layers: 120 million unused weights
            self.backbone.pre_logits = nn.Identity()
        self.feature_size = int(self.backbone.num_features)
        settings = self.backbone.pretrained_cfg
        self.mean: tuple[float, ...] = tuple(settings["mean"])
        self.std: tuple[float, ...] = tuple(settings["std"])
        self.interpolation: str = settings["interpolation"]
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def forward(self, images: Tensor) -> Tensor:
        maps: Tensor = self.backbone.forward_features(images.contiguous(memory_format=torch.channels_last))
        if maps.dim() == 3:  # transformers: [B, prefix + cells, C]
            return maps[:, getattr(self.backbone, "num_prefix_tokens", 0) :]
        if getattr(self.backbone, "output_fmt", "NCHW") == "NHWC":
            return maps.flatten(1, 2)
        return maps.flatten(2).transpose(1, 2)  # [B, C, h, w] -> [B, cells, C]
