"""Generated or photographed, by pixels: do the colour channels share their finest detail as those of a camera do?

A sensor measures one colour a pixel and a camera computes the others from the neighbours, and most cameras then store
colour at half resolution: the finest detail of red, green and blue is nearly the same. A generator's decoder computes
three channels freely. Up to nine windows of 128 px are looked at, at native resolution and fixed places; nothing is
scaled. In each the correlations of the channels' detail at three scales are weighed by a linear rule; the picture's
logit is the mean of the windows', and the score is its calibrated probability under equal priors. Smaller pictures are
continued by mirroring, which adds no evidence: below 64 px a score is hardly more than a guess.

Fails on generated pictures that were stored with halved colour (most JPEG files) more often than on lossless ones, on
photographs that were scaled down or stored with full colour, and says nothing of drawings and screenshots, which were
not in training. The card has the figures.

References
----------
S. McCloskey and M. Albright, "Detecting GAN-generated imagery using saturation cues", ICIP 2019; H. Li et al.,
"Identification of deep network generated images using disparities in color components", Signal Processing 2020.
"""

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from forensix.calibration import logit as to_logit
from forensix.calibration import sigmoid
from forensix.generated.crops import at_least, positions, windows
from forensix.generated.statistics import channels
from forensix.models import LoadedModel, load_model

RGB = NDArray[np.uint8]
HEATMAP_SIDE_PX = 64
HEATMAP_WINDOWS = 100


def checked(rgb: ArrayLike) -> RGB:
    """Return the picture as an array, after checking that it is uint8 RGB with at least one pixel.

    Raises
    ------
    ValueError
        Another type or shape.
    """
    picture = np.asarray(rgb)
    if picture.dtype != np.uint8 or picture.ndim != 3 or picture.shape[2] != 3 or picture.size == 0:
        raise ValueError(f"a picture must be uint8 (H, W, 3), got {picture.dtype} {picture.shape}")
    return picture


class ImageDetector:
    """Scores pictures with one loaded model; see the module's text for what the score means."""

    def __init__(self, model: LoadedModel) -> None:
        self.card = model.card
        self._module = model.module
        self._side_px = int(model.card.preprocessing["side_px"])
        self._most = int(model.card.preprocessing["most_windows"])

    @torch.inference_mode()
    def _logits(self, cut: RGB) -> NDArray[np.float64]:
        """Return the logit of every window of (n, side, side, 3)."""
        statistics = torch.from_numpy(np.stack([channels(window) for window in cut]))
        found: NDArray[np.float64] = self._module(statistics).double().numpy()
        return found

    def logit(self, rgb: ArrayLike) -> float:
        """Return the raw logit of a picture of any size, higher for generated."""
        return float(self._logits(windows(checked(rgb), self._side_px, self._most)).mean())

    def score(self, rgb: ArrayLike) -> float:
        """Return how likely a picture is generated, calibrated, [0, 1], for any size from one pixel up.

        Parameters
        ----------
        rgb
            uint8 (H, W, 3).

        Raises
        ------
        ValueError
            Another type or shape.
        """
        return self._calibrated(self.logit(rgb))

    def _calibrated(self, logits: ArrayLike) -> float:
        assert self.card.calibration is not None
        return float(self.card.calibration.score(logits))

    def heatmap(self, rgb: ArrayLike) -> NDArray[np.float64]:
        """Return patch scores over a picture, float (H, W) in [0, 1], higher is more likely generated.

        A value is the score of the patch of 64 px around it, as if the whole picture were like that. At most
        `HEATMAP_WINDOWS` patches on an even grid are scored and interpolated between.
        """
        picture = checked(rgb)
        height, width = picture.shape[:2]
        grown = at_least(picture, HEATMAP_SIDE_PX)
        corners = positions(grown.shape[0], grown.shape[1], HEATMAP_SIDE_PX, HEATMAP_WINDOWS)
        tops, lefts = (sorted(set(v)) for v in zip(*corners, strict=True))
        cut = np.stack([grown[t : t + HEATMAP_SIDE_PX, x : x + HEATMAP_SIDE_PX] for t in tops for x in lefts])
        grid = self._logits(cut).reshape(len(tops), len(lefts))
        half = HEATMAP_SIDE_PX / 2
        rows = np.stack([np.interp(np.arange(width), np.array(lefts) + half, row) for row in grid])
        found = _interpolated(np.arange(height), np.array(tops) + half, rows)
        assert self.card.calibration is not None
        return np.asarray(self.card.calibration.score(found), dtype=np.float64)


def _interpolated(at: NDArray[np.int64], known: NDArray[np.float64], rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return rows at ``at``, linear between those known at ``known`` and constant outside."""
    place = np.interp(at, known, np.arange(len(known)))
    low = np.floor(place).astype(int)
    high = np.minimum(low + 1, len(known) - 1)
    weight = (place - low)[:, None]
    found: NDArray[np.float64] = (1 - weight) * rows[low] + weight * rows[high]
    return found


def aggregate_frames(scores: Sequence[float]) -> float:
    """Return one score for frames sampled from a video: the mean of their logits, as a score.

    Frames of one video share camera or generator, encoder and most content, so their errors go together: multiplying
    their odds would turn one error into certainty, and the maximum grows with the number of frames looked at. The mean
    of logits does neither, and a few frames that were decoded badly do not move it far, as every score is kept within
    [0.01, 0.99] first.

    Raises
    ------
    ValueError
        No scores, or one outside [0, 1].
    """
    s = np.asarray(scores, dtype=np.float64)
    if s.size == 0 or not ((s >= 0) & (s <= 1)).all():
        raise ValueError("scores of frames must be in [0, 1], and at least one")
    return float(sigmoid(to_logit(np.clip(s, 0.01, 0.99)).mean()))


def forensix_image() -> ImageDetector:
    """Return the detector that ships with forensix."""
    return ImageDetector(load_model("forensix-image"))
