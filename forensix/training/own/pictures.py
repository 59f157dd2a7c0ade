"""Pictures, and frames of videos, through scaling and encoding as for the detector that ships.

That one is shown crops at native resolution and of squares, published networks what the plan on their card says.
"""

import zlib
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from forensix.errors import UnsupportedMedia
from forensix.media import Media, open_media
from forensix.models import LoadedModel
from forensix.models.architectures.efficientnet import statistics
from forensix.models.architectures.pictures import SQUARE, WINDOW
from forensix.models.feeding import fed
from forensix.models.inputs import at_least
from forensix.synthetic.crops import SIDE_PX
from forensix.synthetic.detector import normalised
from forensix.training.images.cache import Views, cut_views
from forensix.training.images.crops import LEAST_SCALE, degraded, draw, draw_part, mirrored, scaled, window
from forensix.training.own.material import Arrays, Material
from forensix.training.own.recipe import Batch, Recipe, Rng

FRAMES_HZ = 0.5
MOST_FRAMES = 8
KEPT_PX = 1024
CUT_PX = 256
VERSIONS = 8
"""Crops of each picture that are drawn where only the head learns: the backbone looks at each of them once."""


class WholePictures(Recipe):
    """Tells generated pictures from photographs with a published network."""

    slot = "image_detector"
    kind = "wholes"
    degradations = ("jpeg=70", "resize=0.5")
    batch_size = 16
    rate = 3e-4
    all_layers = False

    def __init__(self, model: LoadedModel) -> None:
        super().__init__(model)
        self._plan: dict[str, Any] = model.card.preprocessing

    def kept(self, media: Media, rng: Rng) -> Arrays:
        """Return pictures uint8 (H, W, 3), large ones scaled down, or cut where the network wants them as they are."""
        crops = []
        for rgb in pictures_of(media):
            scale = min(1.0, KEPT_PX / max(rgb.shape[:2])) if "resize" in self._plan else 1.0
            crops.append(np.ascontiguousarray(window(scaled(rgb, scale, rng), KEPT_PX, rng)))
        return tuple(crops)

    def example(self, arrays: Arrays, size: int, rng: Rng) -> tuple[np.ndarray[Any, Any], int]:
        """Return a picture scaled and degraded; a window of it where networks take any size."""
        rgb = arrays[int(rng.integers(len(arrays)))]
        if rng.random() < 0.6:
            rgb = scaled(rgb, float(rng.uniform(LEAST_SCALE, 1.0)), rng)
        if not {"crop", "resize"} & set(self._plan):
            rgb = window(at_least(rgb, CUT_PX), CUT_PX, rng)
        return mirrored(degraded(rgb, rng), rng), 0

    def inputs(self, drawn: list[np.ndarray[Any, Any]]) -> Tensor:
        """Return pictures as the network takes them."""
        return torch.cat([fed(rgb, self._plan) for rgb in drawn])

    @staticmethod
    def logit(detector: Any, path: Path) -> float:
        """Return the logit of a picture, or the mean of a video's frames'."""
        with open_media(path) as media:
            return float(np.mean([detector.logit(rgb) for rgb in pictures_of(media)]))


class Pictures(WholePictures):
    """Tells generated pictures from photographs; see `forensix.training.images.crops` for what crops go through."""

    kind = "views"
    batch_size = 32
    rate = 1e-3

    def __init__(self, model: LoadedModel) -> None:
        super().__init__(model)
        self._learns_all = True
        self._statistics: dict[tuple[str, int], tuple[Tensor, int]] = {}

    def kept(self, media: Media, rng: Rng) -> Arrays:
        """Return the views of a picture, those of squares last; of a video those of frames drawn from it."""
        arrays: list[Any] = []
        for rgb in pictures_of(media):
            views = cut_views(rgb, rng)
            arrays += [*views.native, views.square, views.large]
            # Which arrays belong together is told by their last one.
            arrays.append(np.array(len(views.native)))
        return tuple(arrays)

    def draw(self, material: Material, n: int, rng: Rng) -> Batch:
        """Return a batch of crops, or, where the backbone does not learn, of what it says of crops drawn before."""
        if self._learns_all:
            return super().draw(material, n, rng)
        rows = self.rows(material, n, rng)
        pairs = [self._said(material, int(row), int(rng.integers(VERSIONS))) for row in rows]
        labels = torch.tensor(material.fake[rows].astype(np.float32))
        return (
            torch.stack([one for one, _ in pairs]).float(),
            torch.tensor([output for _, output in pairs]),
            labels,
        )

    def _said(self, material: Material, row: int, version: int) -> tuple[Tensor, int]:
        key = material.files[row].name, version
        if key not in self._statistics:
            rng = np.random.default_rng([zlib.crc32(key[0].encode()), version])
            crop, output = self.example(material.arrays(row), 0, rng)
            backbones: Any = self.module.backbones
            device = next(backbones.parameters()).device
            with torch.inference_mode():
                features = statistics(backbones.eval()(self.inputs([crop]).to(device)))[0]
            self._statistics[key] = features.half().cpu().clone(), output
        return self._statistics[key]

    def example(self, arrays: Arrays, size: int, rng: Rng) -> tuple[np.ndarray[Any, Any], int]:
        """Return a crop (224, 224, 3) of a window, or of a square, which the network reads at its second output."""
        ends = [i for i, one in enumerate(arrays) if one.ndim == 0]
        end = ends[int(rng.integers(len(ends)))]
        n = int(arrays[end])
        views = Views(arrays[end - 2 - n : end - 2], arrays[end - 2], arrays[end - 1], 0)
        if rng.random() < 0.5:
            return draw_part(views, rng, (SIDE_PX,)), SQUARE
        return draw(views, rng), WINDOW

    def inputs(self, drawn: list[np.ndarray[Any, Any]]) -> Tensor:
        """Return crops as the network takes them."""
        return normalised(np.stack(drawn))

    def logits(self, network: nn.Module, inputs: Tensor, outputs: Tensor) -> Tensor:
        """Return for each crop the logit of its own output; inputs may be what the backbone said of them."""
        net: Any = network
        output: Tensor = net(inputs)[0] if inputs.ndim == 4 else net.head(inputs)
        return output[torch.arange(len(output), device=output.device), outputs.to(output.device)]

    def tuned(self, *, all_layers: bool) -> list[nn.Parameter]:
        """Return the head's parameters, or all."""
        self._learns_all = all_layers
        head: Any = self.module.head
        return list((self.module if all_layers else head).parameters())


def pictures_of(media: Media) -> list[Any]:
    """Return a picture, or at most `MOST_FRAMES` frames spread over a video.

    Raises
    ------
    UnsupportedMedia
        It is neither.
    """
    if media.kind == "image":
        return [media.image()]
    if media.kind == "video":
        longest_s = media.info.duration_s or MOST_FRAMES / FRAMES_HZ
        rate_hz = min(FRAMES_HZ, MOST_FRAMES / longest_s) if longest_s > 1 / FRAMES_HZ else None
        return [frame.rgb for frame, _ in zip(media.frames(rate_hz=rate_hz), range(MOST_FRAMES), strict=False)]
    raise UnsupportedMedia(f"{media.name} is {media.kind}, neither picture nor video")
