"""Was this face made by a program? A pretrained network on crops, and on windows around them.

It learnt what faces of many generators, and of programs that drive or swap faces, look like at fine and coarse scales,
beside recorded ones that were scaled and encoded anew alike. A face is seen twice: upright and of one size, as
`forensix.faces.align` cuts it, and as it lies in the picture, where what a generator leaves was not scaled away. A
score near 1 means that the pixels look generated. It is best on faces that were generated whole; of swaps it sees
little, as most of a swapped face's crop is recorded (`forensix.faces.regions` marks what was put in). What it says of
kinds of pictures that training lacked is a guess. The card says what it was trained on and how it was measured.

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
from forensix.faces.track import track_picture
from forensix.faces.verdict import file_logit
from forensix.models import LoadedModel, load_model
from forensix.models.architectures.efficientnet import DEVIATION, MEAN, fuse
from forensix.models.architectures.faces import CROP, WINDOW
from forensix.models.detector import Detector, Scores, batches
from forensix.models.feeding import fed
from forensix.models.inputs import RGB, is_file, picture

NAME = "forensix-face"


class CropClassifier(Detector):
    """A detector of manipulated faces: one input is a picture with faces, or a crop around one face.

    A path, ``bytes`` or a PIL picture is a picture: its faces are found and cut upright, and its score is that of the
    hypothesis that one of them, nobody knows which, was manipulated (`forensix.faces.verdict`). That is what an
    analysis says of the faces by themselves, where it judges all of them: it leaves out small and blurred ones, and
    weighs in what the picture around them scores, where the card has a ``fusion``; its notes say both.

    An array (S, S, 3) uint8 or a tensor (3, S, S), uint8 or floats in [0, 1], is a crop as `forensix.faces.aligned`
    cuts it; many are (N, S, S, 3) or (N, 3, S, S). All are RGB. The faces of a video `forensix.analyze` follows:
    ``analyze(path, face_classifier=detector)``.
    """

    sees_windows = False
    """Whether it also takes faces with the windows around them, uint8 (N, 2, S, S, 3), as in `FaceTrack.views`."""

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
        faces = (_faces_of(one, with_windows=self.sees_windows) for one in many)
        logits = (self._calibrated(self._one_logit(out)) for out in self._outputs(faces))
        return np.fromiter((float(sigmoid(file_logit(to_logit(each)))) for each in logits), np.float64)

    def logits(self, many: Iterable[Any]) -> Scores:
        """Return the raw logit of each crop: float64 (n,), higher is more likely fake, not a probability.

        Raises
        ------
        UsageError
            A crop is not uint8 (S, S, 3), or a picture was given: how many faces it shows is no matter of one logit.
        """
        if isinstance(many, np.ndarray):
            blocks: Iterable[RGB] = (many[i : i + self.batch_size] for i in range(0, len(many), self.batch_size))
            check_crops(many, with_windows=self.sees_windows)
        else:
            blocks = (_crop(one) for one in many)
        logits = [self._one_logit(out) for out in self._outputs(blocks)]
        return np.concatenate(logits) if logits else np.zeros(0)

    @abstractmethod
    def _outputs(self, faces: Iterable[RGB]) -> Iterator[Tensor]:
        """Yield the outputs (k, labels) of each array of crops (k, S, S, 3)."""

    def _is_one_array(self, given: "NDArray[Any] | Tensor") -> bool:
        return given.ndim < 4


def _is_picture(given: Any) -> bool:
    return is_file(given) or isinstance(given, Image.Image)


def _crop(given: Any) -> RGB:
    if _is_picture(given):
        raise UsageError("a logit is that of one crop, an array or a tensor; the faces of a picture have a score")
    return picture(given)[None]


def _faces_of(given: Any, *, with_windows: bool) -> RGB:
    """Return the crops of a picture's faces, with their windows or without, or a crop by itself: (k, ..., S, S, 3)."""
    if not _is_picture(given):
        return _crop(given)
    faces = track_picture(picture(given))
    if not faces:
        raise UnsupportedMedia("no face was found in the picture, so there is none to score")
    return np.concatenate([face.views if with_windows else face.crops for face in faces])


class FaceClassifier(CropClassifier):
    """Scores faces with the network `forensix.models.architectures.faces`.

    It takes crops of any size; they are scaled to that of its card. Where the card says what windows weigh, the figures
    on it are of crops with their windows; a crop by itself is judged by less, and its score calibrated for that.
    """

    batch = 32

    def __init__(self, model: LoadedModel) -> None:
        network: Any = fuse(model.module)
        super().__init__(LoadedModel(model.card, network.to(memory_format=torch.channels_last)))
        self._size_px = int(model.card.preprocessing["size_px"])
        self._windows: dict[str, Any] = model.card.preprocessing.get("windows", {})
        self.sees_windows = bool(self._windows)

    def _outputs(self, faces: Iterable[RGB]) -> Iterator[Tensor]:
        with_windows = list[bool]()

        def views() -> Iterator[Tensor]:
            for crops in faces:
                check_crops(crops, with_windows=self.sees_windows)
                with_windows.append(crops.ndim == 5)
                yield network_input(crops.reshape(-1, *crops.shape[-3:]), self._size_px)

        for (outputs,) in batches(self.network, views()):
            yield self._joined(outputs, with_windows=with_windows.pop(0))

    def _joined(self, outputs: Tensor, *, with_windows: bool) -> Tensor:
        """Return logits (k, 1) of k faces from the outputs of their crops, or of their crops and windows in turn."""
        if with_windows:
            share: float = self._windows["share"]
            return outputs[::2, CROP, None] + share * outputs[1::2, WINDOW, None]
        slope, intercept = map(float, self._windows.get("without", (1.0, 0.0)))
        return slope * outputs[:, CROP, None] + intercept


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


def check_crops(crops: RGB, *, with_windows: bool = False) -> None:
    """Raise `UsageError` where crops are not uint8 (N, S, S, 3), or (N, 2, S, S, 3) if they may come with windows."""
    is_paired = with_windows and crops.ndim == 5 and crops.shape[1] == 2
    is_square = crops.ndim in (4, 5) and crops.shape[-1] == 3 and crops.shape[-3] == crops.shape[-2]
    if crops.dtype != np.uint8 or not is_square or not (crops.ndim == 4 or is_paired):
        also = " or, with windows, (N, 2, S, S, 3)" if with_windows else ""
        raise UsageError(f"crops must be uint8 (N, S, S, 3){also}, got {crops.dtype} {crops.shape}")
    if len(crops) and not crops.shape[-2]:
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
