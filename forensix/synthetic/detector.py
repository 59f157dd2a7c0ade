"""Generated or photographed, by pixels: a small pretrained network and what it learnt from many sources of either kind.

Windows of 224 px at native resolution and fixed places, and the middle square scaled down to 448 px, go through the
network. A picture's logit weighs the mean of the windows' and the square's; the score is its calibrated
probability under equal priors. Smaller pictures are continued by mirroring, which adds no evidence: below 160 px too
many photographs score high.

It learnt what pictures of known generators look like, at fine and coarse scales, after every one, generated or
photographed, had been scaled and encoded anew at random. It fails on generators and on kinds of photographs that are
unlike those of training; between two bounds that its card names a score decides nothing. Pages, charts, icons and
screens count as photographed. Drawings by hand and retouched pictures are in neither class. The card has the figures.

References
----------
M. Tan and Q. Le, "EfficientNet: rethinking model scaling for convolutional neural networks", ICML 2019; S.-Y. Wang et
al., "CNN-generated images are surprisingly easy to spot... for now", CVPR 2020 (training on degraded pictures).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from PIL import Image

from forensix.calibration import logit as to_logit
from forensix.calibration import sigmoid
from forensix.models import LoadedModel, load_model
from forensix.models.architectures.efficientnet import DEVIATION, MEAN, fuse
from forensix.models.architectures.pictures import CELLS, SQUARE, WINDOW
from forensix.models.detector import Detector, Scores, batches
from forensix.models.feeding import fed
from forensix.models.inputs import at_least, checked, picture
from forensix.synthetic.crops import RGB, SIDE_PX, middle_square, positions, windows

BATCH = 30
"""Windows that go through the network at once: those of three large pictures."""
HEATMAP_WINDOWS = 36
HEATMAP_BLUR_PX = 24


@dataclass(frozen=True, eq=False)
class Prediction:
    """What the network says of one picture."""

    logit: float
    """Raw, higher for generated."""
    statistics: NDArray[np.float32]
    """(n + 1, statistics): the stages' of n windows and, last, of the middle square."""


def normalised(cut: RGB) -> torch.Tensor:
    """Return windows (n, side, side, 3) as the network takes them, (n, 3, side, side)."""
    x = torch.from_numpy(cut).permute(0, 3, 1, 2).contiguous(memory_format=torch.channels_last)
    return (x.float() / 255 - MEAN) / DEVIATION


class PictureDetector(Detector):
    """A detector of generated pictures: one input is what `picture` takes, many may be (N, H, W, 3) or (N, 3, H, W).

    The frames of a video `forensix.analyze` looks at: ``analyze(path, image_detector=detector)``.
    """

    @property
    def pictures_at_once(self) -> int:
        """Pictures that go through the network together."""
        return self.batch_size

    def _is_one_array(self, inputs: "NDArray[Any] | torch.Tensor") -> bool:
        return inputs.ndim != 4


class ImageDetector(PictureDetector):
    """Scores pictures with one loaded model; see the module's text for what the score means."""

    batch = BATCH

    def __init__(self, model: LoadedModel) -> None:
        network: Any = fuse(model.module)
        super().__init__(LoadedModel(model.card, network.to(memory_format=torch.channels_last)))
        self.most_windows = int(model.card.preprocessing["most_windows"])
        self._square_share = float(model.card.preprocessing["square_share"])

    @property
    def pictures_at_once(self) -> int:
        """Pictures whose windows are about a batch."""
        return self.batch_size // (self.most_windows + 1)

    def predict(self, pictures: Iterable[Any]) -> Iterator[Prediction]:
        """Yield what the network says of each picture; several go through it together.

        Parameters
        ----------
        pictures
            What `picture` takes, of any size from one pixel up. They are taken as they are needed.

        Raises
        ------
        UsageError
            Another type or shape.
        """
        share = self._square_share
        outputs = batches(self.network, self.inputs(pictures))
        # Of every picture its windows come first, then its square.
        for (windowed, of_windows), (squared, of_square) in zip(outputs, outputs, strict=True):
            window, square = windowed[:, WINDOW].double().mean(), squared[0, SQUARE].double()
            yield Prediction(float((1 - share) * window + share * square), torch.cat([of_windows, of_square]).numpy())

    def inputs(self, pictures: Iterable[Any]) -> Iterator[torch.Tensor]:
        """Yield of each picture what goes through the network: its windows, then its square, (n, 3, side, side)."""
        for source in pictures:
            rgb = picture(source)
            yield normalised(windows(rgb, SIDE_PX, self.most_windows))
            yield normalised(np.stack([middle_square(rgb)]))

    def logits(self, many: Iterable[Any]) -> Scores:
        """Return the raw logit of each picture, float64 (n,), higher for generated."""
        return np.fromiter((prediction.logit for prediction in self.predict(many)), np.float64)

    def heatmap(self, rgb: ArrayLike) -> NDArray[np.float64]:
        """Return where the network finds its evidence, float (H, W) in [0, 1], higher is more likely generated.

        A window's logit is the mean of what its places add. At most `HEATMAP_WINDOWS` windows on an even grid are
        looked at; between places, and where no window was, values are those of the neighbours. A value is the score
        that a picture would have that is everywhere like that place.

        Raises
        ------
        UsageError
            Another type or shape.
        """
        height, width = checked(rgb).shape[:2]
        grown = at_least(checked(rgb), SIDE_PX)
        corners = positions(grown.shape[0], grown.shape[1], SIDE_PX, HEATMAP_WINDOWS)
        cut = np.stack([grown[top : top + SIDE_PX, left : left + SIDE_PX] for top, left in corners])
        (evidence,) = self.network(normalised(cut), "evidence", WINDOW)
        return self._calibrated(_spread(evidence.double().numpy(), corners, grown.shape[:2])[:height, :width])


def _spread(
    grids: NDArray[np.float64], corners: Sequence[tuple[int, int]], size: tuple[int, int]
) -> NDArray[np.float64]:
    """Return cells' values (n, cells, cells) of windows at ``corners`` over a picture of ``size``, smooth."""
    from scipy import ndimage

    cell = SIDE_PX // CELLS
    rows, columns = -(-size[0] // cell), -(-size[1] // cell)
    total, weight = np.zeros((rows, columns)), np.zeros((rows, columns))
    for grid, (top, left) in zip(grids, corners, strict=True):
        at = (slice(top // cell, top // cell + CELLS), slice(left // cell, left // cell + CELLS))
        n_rows, n_columns = total[at].shape
        total[at] += grid[:n_rows, :n_columns]
        weight[at] += 1
    nearest = ndimage.distance_transform_edt(weight == 0, return_distances=False, return_indices=True)
    filled = (total / np.maximum(weight, 1))[tuple(nearest)]
    smooth = ndimage.gaussian_filter(filled, HEATMAP_BLUR_PX / cell, mode="nearest")
    y, x = ((np.arange(n) + 0.5) / cell - 0.5 for n in size)
    down = _interpolated(smooth, y)
    return _interpolated(np.ascontiguousarray(down.T), x).T


def _interpolated(rows: NDArray[np.float64], at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return rows at fractional places, linear between those there are and constant outside."""
    place = np.clip(at, 0, len(rows) - 1)
    low = np.floor(place).astype(int)
    high = np.minimum(low + 1, len(rows) - 1)
    weight = (place - low)[:, None]
    return np.asarray((1 - weight) * rows[low] + weight * rows[high])


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


class PublishedDetector(PictureDetector):
    """A published network on whole pictures, fed by the plan on its card; see `forensix.models.feeding`."""

    batch = 16

    def logits(self, many: Iterable[Any]) -> Scores:
        """Return the raw logit of each picture, float64 (n,), higher for generated."""
        inputs = (self._fed(picture(source)) for source in many)
        return np.concatenate([np.zeros(0), *(self._one_logit(out) for (out,) in batches(self.network, inputs))])

    def _fed(self, rgb: RGB) -> torch.Tensor:
        return fed(rgb, self.card.preprocessing)


class HubDetector(PublishedDetector):
    """A classifier of the hub, fed by the processor that comes with it."""

    def _fed(self, rgb: RGB) -> torch.Tensor:
        prepared: Any = self.network.module.processor
        x: torch.Tensor = prepared(images=Image.fromarray(rgb), return_tensors="pt")["pixel_values"]
        return x


def detector_of(model: LoadedModel) -> PictureDetector:
    """Return the detector that a card of the slot ``image_detector`` asks for."""
    classes: dict[str, type[PictureDetector]] = {"pictures": ImageDetector, "hub": HubDetector}
    return classes.get(model.card.architecture, PublishedDetector)(model)


def forensix_image() -> ImageDetector:
    """Return the detector that ships with forensix."""
    return ImageDetector(load_model("forensix-image"))
