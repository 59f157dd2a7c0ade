"""EfficientNet-B4 with two outputs, real and fake, from files with the names of the package efficientnet_pytorch.

The network is timm's, which pads as TensorFlow does; at other sides than 380 px the published one pads as if the side
were 380, which is not done here.

References
----------
M. Tan and Q. Le, "EfficientNet", ICML 2019; K. Shiohara and T. Yamasaki, "Detecting deepfakes with self-blended
images", CVPR 2022.
"""

from typing import Any

import timm
from torch import Tensor, nn

_HEAD = {"_conv_stem": "conv_stem", "_bn0": "bn1", "_conv_head": "conv_head", "_bn1": "bn2", "_fc": "classifier"}
_SHALLOW = {"_depthwise_conv": "conv_dw", "_bn1": "bn1", "_project_conv": "conv_pw", "_bn2": "bn2"}
_DEEP = {"_expand_conv": "conv_pw", "_bn0": "bn1", "_depthwise_conv": "conv_dw", "_bn1": "bn2",
         "_project_conv": "conv_pwl", "_bn2": "bn3"}  # fmt: skip
_SQUEEZE = {"_se_reduce": "se.conv_reduce", "_se_expand": "se.conv_expand"}


class SelfBlended(nn.Module):
    """RGB in [0, 1] (batch, 3, 380, 380) to outputs (batch, 2): real, fake."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.net: Any = timm.create_model(name, pretrained=False, num_classes=2)

    def forward(self, x: Tensor) -> Tensor:
        """Return outputs (batch, 2)."""
        outputs: Tensor = self.net(x)
        return outputs


def build(name: str = "tf_efficientnet_b4") -> SelfBlended:
    """Return the network with fresh weights; ``name`` is one of timm's, for tests."""
    return SelfBlended(name)


def adapt(state: dict[str, Any], base: None = None) -> dict[str, Tensor]:
    """Return the weights of a published file under timm's names."""
    inner: dict[str, Tensor] = state.get("model", state)
    deep = {key.split(".")[2] for key in inner if "._expand_conv." in key}
    places: dict[str, str] = {}
    stages = _stages(inner)
    for stage, blocks in enumerate(stages):
        places |= {block: f"net.blocks.{stage}.{i}" for i, block in enumerate(blocks)}
    weights = {}
    for key, value in inner.items():
        _, part, *rest = key.split(".")
        if part == "_blocks":
            names = (_DEEP if rest[0] in deep else _SHALLOW) | _SQUEEZE
            weights[f"{places[rest[0]]}.{names[rest[1]]}.{rest[2]}"] = value
        else:
            weights[f"net.{_HEAD[part]}.{rest[0]}"] = value
    return weights


def _stages(state: dict[str, Tensor]) -> list[list[str]]:
    """Return the numbers of the blocks by stage; a stage's first block changes the width or the kernel."""
    numbers = sorted({key.split(".")[2] for key in state if "._blocks." in key}, key=int)
    stages: list[list[str]] = []
    before = None
    for number in numbers:
        width = len(state[f"net._blocks.{number}._project_conv.weight"])
        kernel = state[f"net._blocks.{number}._depthwise_conv.weight"].shape[-1]
        if (width, kernel) != before:
            stages.append([])
        before = width, kernel
        stages[-1].append(number)
    return stages
