"""Faces: aligned crops through cameras, apps and codecs. Of the network that ships the last layer learns."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from forensix.errors import UnsupportedMedia
from forensix.faces import track
from forensix.faces.classify import network_input
from forensix.faces.verdict import face_logit
from forensix.media import Media, open_media
from forensix.models import LoadedModel, Pooling
from forensix.models.feeding import fed
from forensix.training.faces.degrade import degrade
from forensix.training.own.material import Arrays
from forensix.training.own.recipe import Recipe, Rng

MOST_CROPS = 8
CLEAN = 0.2
"""Share of crops that stay as they are."""


class Faces(Recipe):
    """Tells manipulated faces from untouched ones by the crops, alone, of the face that is seen longest."""

    slot = "face_classifier"
    kind = "crops"
    degradations = ()
    batch_size = 16
    rate = 3e-4
    all_layers = False

    def __init__(self, model: LoadedModel) -> None:
        super().__init__(model)
        plan = {name: value for name, value in self.card.preprocessing.items() if name != "windows"}
        self.card = self.card.model_copy(update={"preprocessing": plan})

    def kept(self, media: Media, rng: Rng) -> Arrays:
        """Return crops uint8 (S, S, 3), spread over the face's frames."""
        crops = _crops(media)
        at = np.linspace(0, len(crops) - 1, min(MOST_CROPS, len(crops))).round().astype(int)
        return tuple(np.asarray(crops[i]) for i in at)

    def example(self, arrays: Arrays, size: int, rng: Rng) -> tuple[np.ndarray[Any, Any], int]:
        """Return a crop, mirrored or not, and degraded or not."""
        crop = arrays[int(rng.integers(len(arrays)))]
        if rng.random() >= CLEAN:
            changed = Image.fromarray(degrade(crop, rng))
            crop = np.asarray(changed.resize((crop.shape[1], crop.shape[0]), Image.Resampling.BICUBIC))
        return np.ascontiguousarray(crop[:, ::-1] if rng.random() < 0.5 else crop), 0

    def inputs(self, drawn: list[np.ndarray[Any, Any]]) -> Tensor:
        """Return crops as the network takes them."""
        plan: dict[str, Any] = self.card.preprocessing
        if self.card.architecture != "faces":
            return torch.cat([fed(crop, plan) for crop in drawn])
        return network_input(np.stack(drawn), int(plan["size_px"]))

    @staticmethod
    def logit(detector: Any, path: Path) -> float:
        """Return the logit of the face that is seen longest."""
        with open_media(path) as media:
            return face_logit(detector.logits(np.stack(_crops(media))), detector.card.pooling or Pooling())


def _crops(media: Media) -> Any:
    if media.kind not in ("image", "video"):
        raise UnsupportedMedia(f"{media.name} is {media.kind}, which shows no face")
    tracks = track(media)
    if not tracks:
        raise UnsupportedMedia(f"{media.name} shows no face")
    return max(tracks, key=lambda one: (len(one.frame_ms), min(one.mean_size_px))).crops
