"""The image encoder: the last feature map of any timm backbone, as a list of cells."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

import orderless.torchvision_ops  # noqa: F401  must come before timm
from orderless.compiler_later import compiler_later
from orderless.config import EncoderPart
from orderless.errors import UsageError
from orderless.kept_memory import freed_memory_is_kept

with compiler_later():
    import timm
    from timm.models.convnext import ConvNeXt
    from timm.models.efficientnet import EfficientNet
    from timm.models.mobilenetv3 import MobileNetV3
    from timm.models.resnet import ResNet

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


Encode = Callable[[Tensor], Tensor]  # images [B, 3, S, S] -> features [B, cells, C]
PORTION_PIXELS = 8 * 192 * 192  # of the images that go through an encoder together on a CPU


def timm_name(backbone: str) -> str:
    """timm's name of a backbone given by its plain name or timm's own; an unknown one is a UsageError."""
    name = ALIASES.get(backbone.lower(), backbone)
    if not timm.is_model(name.split(".")[0]):
        near = timm.list_models(f"*{name.split('.')[0].split('_')[0]}*")[:4]
        hint = f"; did you mean {', '.join(near)}?" if near else "; try lite0, resnet50, resnet101 or vgg16"
        raise UsageError(f"there is no backbone {backbone!r}{hint}")
    return name


class Encoder(nn.Module):
    """images [B, 3, S, S], normalised -> features [B, cells, C] of the last convolutional map.

    Where the backbone can be cut, `trunk` and `tail` are the two parts of the same way: training that leaves the trunk
    as it is can store what the trunk says of every image, and still teach the tail.
    """

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
        return _cells(maps)

    @property
    def has_tail(self) -> bool:
        return bool(self.tail_layers)

    @property
    def trunk_layers(self) -> list[nn.Module]:
        return _cut(self.backbone)[0]

    @property
    def tail_layers(self) -> list[nn.Module]:
        return _cut(self.backbone)[1]

    def learn(self, part: EncoderPart) -> None:
        """Let gradients reach this part and no other."""
        self.requires_grad_(part == "all")
        for layer in self.tail_layers:
            layer.requires_grad_(part != "none")

    def trunk(self, images: Tensor) -> Tensor:
        """images [B, 3, S, S] -> what the tail reads, [B, cells, C']."""
        maps = images.contiguous(memory_format=torch.channels_last)
        for layer in self.trunk_layers:
            maps = layer(maps)
        return _cells(maps)

    def tail(self, cells: Tensor) -> Tensor:
        """What the trunk says of images, [B, cells, C'] -> features [B, cells, C]."""
        side = math.isqrt(cells.shape[1])  # images are square
        maps = cells.view(len(cells), side, side, -1).permute(0, 3, 1, 2)  # [B, C', h, w], channels last
        for layer in self.tail_layers:
            maps = layer(maps)
        return _cells(maps)


def in_portions(encode: Encode, images: Tensor) -> Tensor:
    """What `encode` says of images [B, 3, S, S]; on a CPU perhaps a few at a time, without gradients.

    Unless freed memory is kept, the maps of a large batch are too large for memory that was used before: the system has
    to find and clear new pages for every layer. With EfficientNet-Lite0 a batch of 32 so takes half as long again.
    """
    if images.device.type != "cpu" or freed_memory_is_kept():
        return encode(images)
    together = max(1, PORTION_PIXELS // (images.shape[2] * images.shape[3]))
    if len(images) <= together:
        return encode(images)
    return torch.cat([encode(portion) for portion in torch.split(images, together)])


def _cells(maps: Tensor) -> Tensor:
    """[B, C, h, w] -> [B, cells, C]."""
    return maps.flatten(2).transpose(1, 2)


def _cut(backbone: nn.Module) -> tuple[list[nn.Module], list[nn.Module]]:
    """The layers of a backbone before its last block, and the rest; nothing where it is no plain row of them."""
    parts: Any = backbone
    if isinstance(backbone, EfficientNet):
        return [parts.conv_stem, parts.bn1, *parts.blocks[:-1]], [parts.blocks[-1], parts.conv_head, parts.bn2]
    if isinstance(backbone, MobileNetV3):
        return [parts.conv_stem, parts.bn1, *parts.blocks[:-1]], [parts.blocks[-1]]
    if isinstance(backbone, ResNet):
        stem = [parts.conv1, parts.bn1, parts.act1, parts.maxpool]
        return [*stem, parts.layer1, parts.layer2, parts.layer3], [parts.layer4]
    if isinstance(backbone, ConvNeXt):
        return [parts.stem, *parts.stages[:-1]], [parts.stages[-1], parts.norm_pre]
    return [], []
