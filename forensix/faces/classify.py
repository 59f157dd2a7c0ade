"""Was this face made by a program? A pretrained network on crops.

It learnt what faces of many generators, and of programs that drive or swap faces, look like at fine and coarse scales,
beside recorded ones that were scaled and encoded anew alike. Assumes crops as `forensix.faces.align` cuts them. A score
near 1 means that the pixels look generated. It is best on faces that were generated whole; of swaps it sees little, as
most of a swapped face's crop is recorded (`forensix.faces.regions` marks what was put in). What it says of kinds of
pictures that training lacked is a guess. The card says what it was trained on and how it was measured.

References
----------
M. Tan and Q. Le, "EfficientNet: rethinking model scaling for convolutional neural networks", ICML 2019.
"""

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor, nn

from forensix.calibration import logit as to_logit
from forensix.calibration import sigmoid
from forensix.errors import UnsupportedMedia, UsageError
from forensix.faces.align import aligned
from forensix.faces.detect import landmarks
from forensix.faces.verdict import file_logit
from forensix.models import LoadedModel, load_model
from forensix.models.architectures.efficientnet import DEVIATION, MEAN, fuse
from forensix.models.detector import Detector, Scores, batches
from forensix.models.feeding import fed
from forensix.models.inputs import RGB, is_file, picture

NAME = "forensix-face"


class CropClassifier(Detector):
    """A detector of manipulated faces: one input is a picture with faces, or a crop around one face.

    A path, ``bytes`` or a PIL picture is a picture: its faces are found and cut upright, and its score is that of the
    hypothesis that one of them, nobody knows which, was manipulated (`forensix.faces.verdict`). An array (S, S, 3)
    uint8 or a tensor (3, S, S), uint8 or floats in [0, 1], is a crop as `forensix.faces.aligned` cuts it; many are
    (N, S, S, 3) or (N, 3, S, S). All are RGB. The faces of a video `forensix.analyze` follows:
    ``analyze(path, face_classifier=detector)``.
    """

    def scores(self, many: Iterable[Any]) -> Scores:
        """Return the score of each crop or picture, float64 (n,); see `score`.

        Raises
        ------
        UnsupportedMedia
            A picture shows no face.
        UsageError
            A crop is not uint8 (S, S, 3).
        """
        if isinstance(many, np.ndarray):
            return self._calibrated(self.logits(many))
        logits = (self._calibrated(self._one_logit(out)) for out in self._outputs(map(_faces_of, many)))
        return np.fromiter((float(sigmoid(file_logit(to_logit(each)))) for each in logits), np.float64)

    def logits(self, many: Iterable[Any]) -> Scores:
        """Return the raw logit of each crop: float64 (n,), higher is more likely fake, not a probability."""
        if isinstance(many, np.ndarray):
            blocks: Iterable[RGB] = (many[i : i + self.batch_size] for i in range(0, len(many), self.batch_size))
            check_crops(many)
        else:
            blocks = (picture(one)[None] for one in many)
        logits = [self._one_logit(out) for out in self._outputs(blocks)]
        return np.concatenate(logits) if logits else np.zeros(0)

    @abstractmethod
    def _outputs(self, faces: Iterable[RGB]) -> Iterator[Tensor]:
        """Yield the outputs (k, labels) of each array of crops (k, S, S, 3)."""

    def _is_one_array(self, given: "NDArray[Any] | Tensor") -> bool:
        return given.ndim != 4


def _faces_of(given: Any) -> RGB:
    """Return the crops of a picture's faces, or a crop by itself, (k, S, S, 3)."""
    if not (is_file(given) or isinstance(given, Image.Image)):
        return picture(given)[None]
    rgb = picture(given)
    points = landmarks(rgb)
    if not len(points):
        raise UnsupportedMedia("no face was found in the picture, so there is none to score")
    return np.stack([aligned(rgb, five) for five in points])


class FaceClassifier(CropClassifier):
    """Scores face crops with the network `forensix.models.architectures.faces`.

    It takes crops of any size; they are scaled to that of its card.
    """

    batch = 32

    def __init__(self, model: LoadedModel) -> None:
        network: Any = fuse(model.module)
        super().__init__(LoadedModel(model.card, network.to(memory_format=torch.channels_last)))
        self._size_px = int(model.card.preprocessing["size_px"])

    def _outputs(self, faces: Iterable[RGB]) -> Iterator[Tensor]:
        def views() -> Iterator[Tensor]:
            for crops in faces:
                check_crops(crops)
                yield network_input(crops, self._size_px)

        return (outputs for (outputs,) in batches(self.network, views()))


class PublishedClassifier(CropClassifier):
    """A published network on face crops, fed by the plan on its card; see `forensix.models.feeding`.

    What the network sees is cut out of the crops that `forensix.faces.aligned` makes, not by the authors' own finder of
    faces: figures that they published do not carry over to the digit.
    """

    batch = 16

    def _outputs(self, faces: Iterable[RGB]) -> Iterator[Tensor]:
        def views() -> Iterator[Tensor]:
            for crops in faces:
                check_crops(crops)
                yield torch.cat([fed(crop, self.card.preprocessing) for crop in crops])

        return (outputs for (outputs,) in batches(self.network, views()))


def check_crops(crops: RGB) -> None:
    """Raise `UsageError` where crops are not uint8 (N, S, S, 3)."""
    if crops.dtype != np.uint8 or crops.ndim != 4 or crops.shape[3] != 3 or crops.shape[1] != crops.shape[2]:
        raise UsageError(f"crops must be uint8 (N, S, S, 3), got {crops.dtype} {crops.shape}")
    if len(crops) and not crops.shape[1]:
        raise UsageError("crops must not be empty pictures")


def network_input(crops: NDArray[np.uint8], size_px: int) -> Tensor:
    """Return crops uint8 (N, S, S, 3) as the network takes them: float RGB in [-1, 1], (N, 3, size_px, size_px)."""
    x = torch.from_numpy(np.require(crops, requirements=("C", "W"))).permute(0, 3, 1, 2)
    if x.shape[2] != size_px:
        x = nn.functional.interpolate(x, size=(size_px, size_px), mode="bilinear", antialias=True)
    return ((x.float() / 255 - MEAN) / DEVIATION).contiguous(memory_format=torch.channels_last)


def detector_of(model: LoadedModel) -> CropClassifier:
    """Return the detector that a card of the slot ``face_classifier`` asks for."""
    return FaceClassifier(model) if model.card.architecture == "faces" else PublishedClassifier(model)


def forensix_face() -> FaceClassifier:
    """Return the classifier that ships with forensix.

    Raises
    ------
    WeightsMissing, WeightsMismatch
        If its weights are not in the package, or not those of its card.
    """
    return FaceClassifier(load_model(NAME))
