"""Was it drawn, by a person or by a generator? Illustrations, comics and textures beside what looks photographed.

A linear rule over what the pretrained networks of `forensix-image` say of the middle square, which tells what a picture
shows and how. It learnt drawn and photographic looking pictures by generators, and photographs; drawings by people were
in no training, and are what it is for: a detector that learnt to tell generators' drawings from photographs calls those
of people generated, see ``benchmarks/results/illustrations.md``. The card has the figures.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray

from forensix.models import LoadedModel, load_model
from forensix.models.architectures.pictures import N_WHOLE
from forensix.models.registry import load_component
from forensix.synthetic.crops import middle_square
from forensix.synthetic.detector import ImageDetector, normalised


def square_statistics(detector: ImageDetector, rgb: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Return what the pretrained networks say of a picture's middle square, (`N_WHOLE`,)."""
    with torch.inference_mode():
        _, statistics = detector.network(normalised(np.stack([middle_square(rgb)])))
    return np.asarray(statistics[0, :N_WHOLE], np.float32)


@dataclass(frozen=True)
class IllustrationRule:
    """Tells drawn pictures from photographic ones with one loaded rule, on the statistics of a detector's network."""

    model: LoadedModel
    detector: ImageDetector

    def score(self, rgb: NDArray[np.uint8]) -> float:
        """Return how surely a picture, uint8 (H, W, 3), was drawn, [0, 1]."""
        with torch.inference_mode():
            logit = self.model.module(torch.from_numpy(square_statistics(self.detector, rgb)[None]))
        assert self.model.card.calibration is not None
        return float(self.model.card.calibration.score(logit[:, 0].double().numpy())[0])

    def holds(self, rgb: NDArray[np.uint8]) -> bool:
        """Tell whether a picture looks drawn."""
        return self.score(rgb) >= self.model.card.threshold


@cache
def forensix_illustration() -> IllustrationRule:
    """Return the rule that ships with forensix."""
    return IllustrationRule(load_model("forensix-illustration"), load_component("image_detector", "forensix-image"))
