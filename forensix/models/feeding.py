"""Pictures as the published networks want them, by the plan on their card, step by step as their authors do it.

area      [x1, y1, x2, y2] in shares of the sides: what is cut out first
resize    a number: the shorter side becomes that long; [height, width]: both do
rounded   whether the longer side's length is rounded then; it is cut off otherwise
filter    "bilinear" (default), "bicubic" or "nearest", each as Pillow does it, which smooths when it shrinks
crop      a number: the middle square of that side; a smaller picture is surrounded with black
mean, std of the channels, for pixels in [0, 1]; left out where pixels go in as they are
"""

from collections.abc import Mapping
from typing import Any

import torch
from PIL import Image
from torch import Tensor

from forensix.errors import UsageError
from forensix.models.inputs import RGB

KEYS = {"area", "resize", "rounded", "filter", "crop", "mean", "std"}


def fed(rgb: RGB, plan: Mapping[str, Any]) -> Tensor:
    """Return a picture uint8 (H, W, 3) as a batch of one, float32 (1, 3, height, width).

    Raises
    ------
    UsageError
        The plan names a step that there is not: without it the network would see something else than its authors meant.
    """
    if unknown := sorted(plan.keys() - KEYS):
        raise UsageError(f"the preprocessing of a card has no {', '.join(unknown)}; it has: {', '.join(sorted(KEYS))}")
    # Here, not above: its import takes longer than that of torch, and the shipped networks go without it.
    from torchvision.transforms import InterpolationMode
    from torchvision.transforms import functional as steps

    picture = Image.fromarray(rgb)
    if "area" in plan:
        width, height = picture.size
        x1, y1, x2, y2 = plan["area"]
        box = (round(x1 * width), round(y1 * height), round(x2 * width), round(y2 * height))
        picture = picture.crop(box)
    if "resize" in plan:
        size = plan["resize"]
        if plan.get("rounded", False):
            size = [round(size * side / min(picture.size)) for side in (picture.height, picture.width)]
        picture = steps.resize(picture, size, InterpolationMode(plan.get("filter", "bilinear")))
    if "crop" in plan:
        picture = steps.center_crop(picture, [plan["crop"], plan["crop"]])
    x: Tensor = steps.to_tensor(picture)
    if "mean" in plan:
        x = (x - torch.tensor(plan["mean"])[:, None, None]) / torch.tensor(plan["std"])[:, None, None]
    return x[None]
