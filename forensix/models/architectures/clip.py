"""The picture side of CLIP and a linear layer on its class token: the base of several published detectors.

Three ways to end the tower, by the detectors that chose them: the projected token (UnivFD), the token before projection
at unit length (GRIP, GenD). OpenAI's weights need the quick approximation of GELU, the open ones the exact one: the
wrong choice shows in no key. Keys are OpenAI's, which OpenCLIP shares; files of the hub's CLIP are renamed.

References
----------
A. Radford et al., "Learning transferable visual models from natural language supervision", ICML 2021; U. Ojha et al.,
"Towards universal fake image detectors that generalize across generative models", CVPR 2023 (UnivFD); D. Cozzolino et
al., "Raising the bar of AI-generated image detection with CLIP", CVPRW 2024; A. Yermakov et al., "Deepfake detection
that generalizes across benchmarks", 2025 (GenD).
"""

import re
from typing import Any

import torch
from torch import Tensor, nn

_HUB = "feature_extractor.vision_model."
_HUB_NAMES = (
    ("embeddings.class_embedding", "class_embedding"),
    ("embeddings.patch_embedding.", "conv1."),
    ("embeddings.position_embedding.weight", "positional_embedding"),
    ("pre_layrnorm.", "ln_pre."),
    ("post_layernorm.", "ln_post."),
    ("encoder.layers.", "transformer.resblocks."),
    ("self_attn.out_proj.", "attn.out_proj."),
    ("layer_norm1.", "ln_1."),
    ("layer_norm2.", "ln_2."),
    ("mlp.fc1.", "mlp.c_fc."),
    ("mlp.fc2.", "mlp.c_proj."),
)
_TEXT = ("transformer.", "token_embedding.", "ln_final.", "positional_embedding", "text_projection", "logit_scale",
         "logit_bias", "input_resolution", "context_length", "vocab_size")  # fmt: skip
"""What a whole CLIP holds beside its picture side."""


class QuickGELU(nn.Module):
    """The approximation of GELU that OpenAI trained with."""

    def forward(self, x: Tensor) -> Tensor:
        """Return as many values."""
        return x * torch.sigmoid(1.702 * x)


class Block(nn.Module):
    """Attention and two layers, each after a normalisation and beside a shortcut."""

    def __init__(self, width: int, heads: int, *, quick: bool) -> None:
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = nn.MultiheadAttention(width, heads, batch_first=True)
        self.mlp = nn.Sequential()
        self.mlp.add_module("c_fc", nn.Linear(width, 4 * width))
        self.mlp.add_module("gelu", QuickGELU() if quick else nn.GELU())
        self.mlp.add_module("c_proj", nn.Linear(4 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        """Return tokens (batch, n, width)."""
        normed = self.ln_1(x)
        x = x + self.attn(normed, normed, normed, need_weights=False)[0]
        out: Tensor = x + self.mlp(self.ln_2(x))
        return out


class Tower(nn.Module):
    """Normalised pictures (batch, 3, side, side) to the class token (batch, width), projected where ``output`` is."""

    def __init__(
        self, side: int, patch: int, width: int, depth: int, heads: int, output: int | None, *, quick: bool
    ) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, patch, stride=patch, bias=False)
        self.class_embedding = nn.Parameter(torch.zeros(width))
        self.positional_embedding = nn.Parameter(torch.zeros((side // patch) ** 2 + 1, width))
        self.ln_pre, self.ln_post = nn.LayerNorm(width), nn.LayerNorm(width)
        self.transformer: Any = nn.Module()
        self.transformer.resblocks = nn.Sequential(*(Block(width, heads, quick=quick) for _ in range(depth)))
        self.proj = nn.Parameter(torch.zeros(width, output)) if output else None

    def forward(self, x: Tensor) -> Tensor:
        """Return the class token."""
        patches = self.conv1(x).flatten(2).transpose(1, 2)
        first = self.class_embedding.to(patches.dtype).expand(len(patches), 1, -1)
        tokens = self.ln_pre(torch.cat([first, patches], dim=1) + self.positional_embedding)
        token: Tensor = self.ln_post(self.transformer.resblocks(tokens)[:, 0])
        return token if self.proj is None else token @ self.proj


class ClipProbe(nn.Module):
    """A tower and a linear layer on its token, which may be brought to unit length first."""

    def __init__(self, tower: Tower, width: int, n_outputs: int, *, unit: bool) -> None:
        super().__init__()
        self.visual = tower
        self.unit = unit
        self.fc = nn.Linear(width, n_outputs)

    def forward(self, x: Tensor) -> Tensor:
        """Return outputs (batch, n_outputs)."""
        token = self.visual(x)
        outputs: Tensor = self.fc(nn.functional.normalize(token, dim=1) if self.unit else token)
        return outputs


def build(
    side: int = 224,
    patch: int = 14,
    width: int = 1024,
    depth: int = 24,
    heads: int = 16,
    output: int | None = None,
    n_outputs: int = 1,
    *,
    quick: bool = True,
    unit: bool = False,
) -> ClipProbe:
    """Return a network with fresh weights; the defaults are ViT-L/14's, without the projection to ``output``."""
    tower = Tower(side, patch, width, depth, heads, output, quick=quick)
    return ClipProbe(tower, output or width, n_outputs, unit=unit)


def adapt(state: dict[str, Any], base: dict[str, Tensor] | None = None) -> dict[str, Tensor]:
    """Return the weights under the names here.

    Without ``base`` the file is GenD's, tower and head; with it the file is a head, and ``base`` a whole CLIP. The side
    that reads text is left out, and for a head on the token before projection that projection is.
    """
    if base is None:
        return _from_hub(state)
    head = state.get("model", state)
    head = {f"fc.{re.sub('^(module[.])?(fc[.])?', '', key)}": value for key, value in head.items()}
    visual = {key: value for key, value in base.items() if not key.startswith(_TEXT)}
    if len(visual["visual.proj"]) == head["fc.weight"].shape[1]:
        del visual["visual.proj"]
    return visual | head


def _from_hub(state: dict[str, Tensor]) -> dict[str, Tensor]:
    weights: dict[str, Tensor] = {}
    for key, value in state.items():
        if key.startswith(_HUB):
            name = key.removeprefix(_HUB)
            for theirs, ours in _HUB_NAMES:
                name = name.replace(theirs, ours)
            weights[f"visual.{name}"] = value
        else:
            weights[key.replace("model.linear.", "fc.")] = value
    weights.pop("feature_extractor.visual_projection.weight", None)
    weights.pop("visual.embeddings.position_ids", None)
    for key in [key for key in weights if ".self_attn.q_proj." in key]:
        parts = [weights.pop(key.replace("q_proj", name)) for name in ("q_proj", "k_proj", "v_proj")]
        weights[key.replace("self_attn.q_proj.", "attn.in_proj_")] = torch.cat(parts)
    return weights
