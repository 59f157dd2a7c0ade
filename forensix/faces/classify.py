"""Was this face manipulated? A small network of our own on crops, and where on the crop it sees the change.

Looks for seams: one side of a face's outline, or of its mouth, that differs from the other in colour, sharpness, noise
or geometry, and for the texture of generated portraits. Assumes crops as `forensix.faces.align` cuts them. A score near
1 means that the pixels look blended or generated. Blind to forgeries that leave neither, and to what strong compression
wiped out; make-up, filters and portrait-mode blur can raise the score. The card says what it was trained on and how it
was measured.

References
----------
Shiohara and Yamasaki, Detecting deepfakes with self-blended images, CVPR 2022 (how its training fakes are made).
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
        found = (self._calibrated(self._one_logit(out)) for out in self._outputs(map(_faces_of, many)))
        return np.fromiter((float(sigmoid(file_logit(to_logit(each)))) for each in found), np.float64)

    def logits(self, many: Iterable[Any]) -> Scores:
        """Return the raw logit of each crop: float64 (n,), higher is more likely fake, not a probability."""
        if isinstance(many, np.ndarray):
            blocks: Iterable[RGB] = (many[i : i + self.batch_size] for i in range(0, len(many), self.batch_size))
            _check_crops(many)
        else:
            blocks = (picture(one)[None] for one in many)
        found = [self._one_logit(out) for out in self._outputs(blocks)]
        return np.concatenate(found) if found else np.zeros(0)

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
    """Scores face crops with a network whose card says how to feed it.

    The network maps RGB in [0, 1] to outputs (N, 1 + types), the logit of fake first, and to place logits (N, h, w).
    The types that it learnt beside the verdict are named nowhere: on faces of other sources they are little better than
    chance (benchmarks/results/face_types.md).
    """

    batch = 32

    def __init__(self, model: LoadedModel) -> None:
        super().__init__(model)
        self._size_px = int(model.card.preprocessing["size_px"])
        self._inner = float(model.card.preprocessing.get("inner", 1.0))

    def heatmap(self, crop: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return where the network sees the crop changed: float (S, S) in [0, 1], higher is more likely changed there.

        It comes from an output that training taught with the true masks of its fakes; a cell is a tenth of the crop. It
        follows where faces are usually changed more than what is odd about this one, so it illustrates a verdict and
        proves nothing.
        """
        crops = np.asarray(crop)[None]
        _check_crops(crops)
        rim = _rim_px(crop.shape[0], self._inner)
        size = crop.shape[0] - 2 * rim
        place = torch.sigmoid(self.network(network_input(crops, self._size_px, self._inner))[1])[:, None]
        full = nn.functional.interpolate(place, size=(size, size), mode="bilinear", align_corners=False)
        return np.pad(full[0, 0].clamp(0, 1).double().numpy(), rim)

    def _outputs(self, faces: Iterable[RGB]) -> Iterator[Tensor]:
        def views() -> Iterator[Tensor]:
            for crops in faces:
                _check_crops(crops)
                seen = network_input(crops, self._size_px, self._inner)
                yield torch.cat([seen, seen.flip(3)])

        for outputs, _ in batches(self.network, views()):
            # A face and its mirror image deserve the same score.
            yield torch.stack(outputs.chunk(2)).mean(0)


class PublishedClassifier(CropClassifier):
    """A published network on face crops, fed by the plan on its card; see `forensix.models.feeding`.

    What the network sees is cut out of the crops that `forensix.faces.aligned` makes, not by the authors' own finder of
    faces: figures that they published do not carry over to the digit.
    """

    batch = 16

    def _outputs(self, faces: Iterable[RGB]) -> Iterator[Tensor]:
        def views() -> Iterator[Tensor]:
            for crops in faces:
                _check_crops(crops)
                yield torch.cat([fed(crop, self.card.preprocessing) for crop in crops])

        return (outputs for (outputs,) in batches(self.network, views()))


def _check_crops(crops: RGB) -> None:
    if crops.dtype != np.uint8 or crops.ndim != 4 or crops.shape[3] != 3 or crops.shape[1] != crops.shape[2]:
        raise UsageError(f"crops must be uint8 (N, S, S, 3), got {crops.dtype} {crops.shape}")
    if len(crops) and not crops.shape[1]:
        raise UsageError("crops must not be empty pictures")


def network_input(crops: NDArray[np.uint8], size_px: int, inner: float = 1.0) -> Tensor:
    """Return crops uint8 (N, S, S, 3) as the network takes them: float RGB in [0, 1], (N, 3, size_px, size_px).

    ``inner`` is the share of the side, around the middle, that it is shown.
    """
    rim = _rim_px(crops.shape[1], inner)
    crops = crops[:, rim : crops.shape[1] - rim, rim : crops.shape[2] - rim]
    x = torch.from_numpy(np.ascontiguousarray(crops)).permute(0, 3, 1, 2)
    if x.shape[2] != size_px:
        x = nn.functional.interpolate(x, size=(size_px, size_px), mode="bilinear", antialias=True)
    return x.float() / 255


def _rim_px(side_px: int, inner: float) -> int:
    return round(side_px * (1 - inner) / 2)


def detector_of(model: LoadedModel) -> CropClassifier:
    """Return the detector that a card of the slot ``face_classifier`` asks for."""
    return FaceClassifier(model) if model.card.architecture == "face_cnn" else PublishedClassifier(model)


def forensix_face() -> FaceClassifier:
    """Return the classifier that ships with forensix.

    Raises
    ------
    WeightsMissing, WeightsMismatch
        If its weights are not in the package, or not those of its card.
    """
    return FaceClassifier(load_model(NAME))
