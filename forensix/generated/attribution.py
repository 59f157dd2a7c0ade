"""Which generator made it: a weak guess among the families that training saw, with ``unknown`` for the rest.

Assumes that the picture is generated; for a photograph the answer means nothing. Looks at the same windows and
statistics as the detector. A probability is calibrated on pictures of prompts that training did not see, made by the
same generators in the same collections; generators that it never saw end in ``unknown`` or, often, in a relative. It
tells collections (size, sharpness, style) apart as much as generators.
"""

import numpy as np
import torch
from numpy.typing import ArrayLike

from forensix.generated.crops import windows
from forensix.generated.detector import checked
from forensix.generated.statistics import vector
from forensix.models import LoadedModel, load_model


class Attributor:
    """Names generators with one loaded model."""

    def __init__(self, model: LoadedModel) -> None:
        self.card = model.card
        self._module = model.module
        self._side_px = int(model.card.preprocessing["side_px"])
        self._most = int(model.card.preprocessing["most_windows"])

    @property
    def names(self) -> tuple[str, ...]:
        """The generators that can be named, ``unknown`` among them."""
        return self.card.output.labels

    @torch.inference_mode()
    def attribute(self, rgb: ArrayLike) -> tuple[tuple[str, float], ...]:
        """Return every known generator with its probability, most probable first; they sum to 1.

        Parameters
        ----------
        rgb
            uint8 (H, W, 3), of any size.

        Raises
        ------
        ValueError
            Another type or shape.
        """
        cut = windows(checked(rgb), self._side_px, self._most)
        statistics = torch.from_numpy(np.stack([vector(window) for window in cut]))
        probabilities = self._module(statistics).mean(dim=0).double().softmax(dim=0).numpy()
        order = np.argsort(-probabilities, kind="stable")
        return tuple((self.names[i], float(probabilities[i])) for i in order)


def forensix_attribution() -> Attributor:
    """Return the attributor that ships with forensix."""
    return Attributor(load_model("forensix-attribution"))
