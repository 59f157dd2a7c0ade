"""Which family of generators made it, by pixels: a weak hint, with ``unknown`` where it is like none that is known.

Assumes that the picture is generated; for a photograph the answer means nothing. A linear rule over what the detector's
pretrained network says of the windows and of the middle square. It was set so that pictures of generators that training
did not have mostly end in ``unknown``; its card says how often, and how often a known family is named when neither the
repository nor the version of the generator was in training. It tells styles and collections apart as much as
generators.
"""

from typing import Self

import numpy as np
import torch
from numpy.typing import ArrayLike

from forensix.models import LoadedModel, load_model
from forensix.models.placement import Placement
from forensix.models.registry import load_component
from forensix.synthetic.detector import ImageDetector, Prediction


class Attributor:
    """Names families of generators with one loaded rule, on the statistics of a detector's network."""

    def __init__(self, model: LoadedModel, detector: ImageDetector) -> None:
        self.card = model.card
        self._module = model.module
        self._detector = detector

    def on(self, placement: Placement) -> Self:
        """Let the network whose statistics it reads run where the caller wants; the rule is one small product."""
        self._detector = load_component("image_detector", self._detector.card.name, placement)
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """The families that can be named, ``unknown`` among them."""
        return self.card.output.labels

    def attribute(self, rgb: ArrayLike) -> tuple[tuple[str, float], ...]:
        """Return every known family with its probability, most probable first; they sum to 1.

        Parameters
        ----------
        rgb
            uint8 (H, W, 3), of any size.

        Raises
        ------
        ValueError
            Another type or shape.
        """
        return self.named(next(self._detector.predict([rgb])))

    @torch.inference_mode()
    def named(self, prediction: Prediction) -> tuple[tuple[str, float], ...]:
        """Return what `attribute` does, of a picture that the detector has looked at."""
        statistics = prediction.statistics
        vector = np.concatenate([statistics[:-1].mean(axis=0), statistics[-1]])[None]
        probabilities = self._module(torch.from_numpy(vector))[0].double().softmax(dim=0).numpy()
        order = np.argsort(-probabilities, kind="stable")
        return tuple((self.names[i], float(probabilities[i])) for i in order)


def forensix_attribution() -> Attributor:
    """Return the attributor that ships with forensix."""
    return Attributor(load_model("forensix-attribution"), load_component("image_detector", "forensix-image"))
