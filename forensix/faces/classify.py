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

from collections.abc import Iterator
from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from forensix.errors import UsageError
from forensix.models import LoadedModel, ModelCard, load_model

NAME = "forensix-face"
_BATCH = 32


class FaceClassifier:
    """Scores face crops with a network whose card says how to feed it.

    The network maps RGB in [0, 1] to outputs (N, 1 + types), the logit of fake first, and to place logits (N, h, w).
    """

    def __init__(self, model: LoadedModel) -> None:
        self.card: ModelCard = model.card
        self._net: nn.Module = model.module
        self._size_px = int(model.card.preprocessing["size_px"])
        self._inner = float(model.card.preprocessing.get("inner", 1.0))
        self._kinds = model.card.output.labels[1:]

    @property
    def manipulation_types(self) -> tuple[str, ...]:
        """The types that training had examples of; no other is ever named."""
        return self._kinds

    def score(self, crops: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return the calibrated score of each crop: float64 (N,) in [0, 1], higher is more likely fake.

        Parameters
        ----------
        crops
            uint8 (N, S, S, 3) RGB.

        Raises
        ------
        UsageError
            If the crops are not of that shape and type.
        """
        return self._calibrated(self.logits(crops))

    def logits(self, crops: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return the raw logit of each crop: float64 (N,), higher is more likely fake, not a probability."""
        return self._outputs(crops)[:, 0]

    def types(self, crops: NDArray[np.uint8]) -> dict[str, float]:
        """Return how the manipulation types share the blame if the face is fake: probabilities that sum to 1.

        They are the mean over the crops of a softmax over ``manipulation_types``; they say nothing about whether the
        face is fake. Without crops all types are equally likely.
        """
        if not len(crops):
            return dict.fromkeys(self._kinds, 1 / len(self._kinds))
        outputs = self._outputs(crops)[:, 1:]
        shares = np.exp(outputs - outputs.max(axis=1, keepdims=True))
        mean = (shares / shares.sum(axis=1, keepdims=True)).mean(axis=0)
        return dict(zip(self._kinds, (mean / mean.sum()).tolist(), strict=True))

    def heatmap(self, crop: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return where the network sees the crop changed: float (S, S) in [0, 1], higher is more likely changed there.

        It comes from an output that training taught with the true masks of its fakes; a cell is a tenth of the crop. It
        follows where faces are usually changed more than what is odd about this one, so it illustrates a verdict and
        proves nothing.
        """
        (batch,) = self._batches(np.asarray(crop)[None])
        rim = _rim_px(crop.shape[0], self._inner)
        size = crop.shape[0] - 2 * rim
        with torch.inference_mode():
            place = torch.sigmoid(self._net(batch)[1].float())[:, None]
            full = nn.functional.interpolate(place, size=(size, size), mode="bilinear", align_corners=False)
        return np.pad(full[0, 0].clamp(0, 1).double().numpy(), rim)

    def _calibrated(self, logits: NDArray[np.float64] | float) -> NDArray[np.float64]:
        calibration = self.card.calibration
        if calibration is None:
            raise UsageError(f"the card of {self.card.name!r} has no calibration, so its logits are not scores")
        return calibration.score(logits)

    def _outputs(self, crops: NDArray[np.uint8]) -> NDArray[np.float64]:
        parts = []
        with torch.inference_mode():
            for batch in self._batches(np.asarray(crops)):
                # A face and its mirror image deserve the same score.
                both = (self._net(batch)[0], self._net(batch.flip(3))[0])
                parts.append(((both[0] + both[1]) / 2).double().numpy())
        width = 1 + len(self._kinds)
        return np.concatenate(parts) if parts else np.zeros((0, width))

    def _batches(self, crops: NDArray[np.uint8]) -> Iterator[Tensor]:
        if crops.dtype != np.uint8 or crops.ndim != 4 or crops.shape[3] != 3 or crops.shape[1] != crops.shape[2]:
            raise UsageError(f"crops must be uint8 (N, S, S, 3), got {crops.dtype} {crops.shape}")
        if len(crops) and not crops.shape[1]:
            raise UsageError("crops must not be empty pictures")
        for start in range(0, len(crops), _BATCH):
            yield network_input(crops[start : start + _BATCH], self._size_px, self._inner)


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


@cache
def forensix_face() -> FaceClassifier:
    """Return the classifier that ships with forensix.

    Raises
    ------
    WeightsMissing, WeightsMismatch
        If its weights are not in the package, or not those of its card.
    """
    return FaceClassifier(load_model(NAME))
