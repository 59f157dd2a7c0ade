"""Does a part of a face differ from the rest? A network that marks, cell by cell, what was put in.

It learnt on recorded faces beside the same with a part put in: of another or of a made face, another mouth, or the face
itself through what a program leaves, in a mask that follows the landmarks (`forensix.training.faces.blends`). What it
says of a face as a whole counts in a verdict (`forensix.tasks.parts`). Assumes crops as `forensix.faces.align` cuts
them. A value of its map near 1 means that the cell looks put in beside all that surrounds
it. A face that was generated whole has no such part, and the map says nothing of it. Make-up, glasses, hands, shadows
and strong retouching can light up. The card says how it was measured.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from forensix.calibration import sigmoid
from forensix.faces.classify import FaceClassifier, check_crops, network_input
from forensix.models import LoadedModel, load_model

NAME = "forensix-face-regions"
BLUR_CELLS = 1.0


class RegionDetector(FaceClassifier):
    """Marks parts of face crops with the network `forensix.models.architectures.face_regions`.

    Its score is that of the face as a whole: how likely it is that any part was put in. Inputs are those of
    `forensix.faces.FaceClassifier`.
    """

    def heatmap(self, crop: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return how likely each place is to have been put in: float (S, S) in [0, 1], smoothed.

        A cell is a twenty-eighth of the crop. The values are those of training, where half of the faces had a part put
        in: they rank places, and are not calibrated on files.
        """
        from scipy.ndimage import gaussian_filter

        crops = np.asarray(crop)[None]
        check_crops(crops)
        (cells,) = self.network(network_input(crops, self._size_px), "cells")
        smooth = torch.from_numpy(gaussian_filter(cells[0].double().numpy(), BLUR_CELLS, mode="nearest"))
        size = crop.shape[:2]
        full = nn.functional.interpolate(smooth[None, None], size=size, mode="bilinear", align_corners=False)
        return np.asarray(sigmoid(full[0, 0].numpy()))


def detector_of(model: LoadedModel) -> RegionDetector:
    """Return the detector that a card of the slot ``face_regions`` asks for."""
    return RegionDetector(model)


def forensix_face_regions() -> RegionDetector:
    """Return the detector that ships with forensix.

    Raises
    ------
    WeightsMissing, WeightsMismatch
        If its weights are not in the package, or not those of its card.
    """
    return RegionDetector(load_model(NAME))
