"""MTCNN: three small networks, each looking closer at what the one before it let through.

The first slides over the picture at many scales and proposes squares; the second and third look at each square by
itself, move its sides, and drop it where it shows no face; the third also places five points. The weights are those
that lie in the wheel facenet-pytorch (MIT); boxes and points are what that package returns, to rounding.

Every view of the picture is a mean over areas, taken from one table of sums: exact, and the same work for every scale.

References
----------
Zhang et al., Joint face detection and alignment using multi-task cascaded convolutional networks, 2016.
"""

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from forensix.errors import MissingExtra
from forensix.faces.areas import Sums
from forensix.models.files import of_package

FIRST_PX, SECOND_PX, LAST_PX = 12, 24, 48
"""Sides of what each network looks at."""

_FIRST_STEP_PX = 2
_NEXT_SCALE = 0.709
_LEAST_SCORES = (0.6, 0.7, 0.7)
_MOST_OVERLAP_OF_SCALE = 0.5
_MOST_OVERLAP = 0.7
_AT_ONCE = 512
_COMPARED_AT_ONCE = 64

Boxes = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class PictureFaces:
    """Faces of one picture: boxes (n, 4) xyxy, scores (n,) in [0, 1], points (n, 5, 2) xy, in pixels."""

    boxes: Boxes
    scores: Boxes
    points: Boxes


class _Network(nn.Sequential):
    """Layers one after the other, and several last ones beside each other: the scores of "no face" and "face" first."""

    def __init__(self, body: dict[str, nn.Module], heads: dict[str, nn.Module]) -> None:
        super().__init__(OrderedDict(body | heads))
        self._n_heads = len(heads)

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        layers = list(self)
        for layer in layers[: -self._n_heads]:
            x = layer(x)
        scores, *others = (head(x) for head in layers[-self._n_heads :])
        return scores.softmax(1)[:, 1], *others

    def evenly(self, x: Tensor) -> tuple[Tensor, ...]:
        """Return the outputs of many inputs, in batches whose sizes are powers of two.

        Their number differs from frame to frame, and the convolution library keeps buffers for every size it has met:
        without this, memory grows by hundreds of MiB over a long video.
        """
        parts, rest = list[tuple[Tensor, ...]](), x
        while len(rest) or not parts:
            n = min(_AT_ONCE, 1 << len(rest).bit_length() >> 1)
            parts.append(self(rest[:n]))
            rest = rest[n:]
        return tuple(torch.cat(outs) for outs in zip(*parts, strict=True))


class _Flat(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x.permute(0, 3, 2, 1).flatten(1)


def _first() -> _Network:
    body = {"conv1": nn.Conv2d(3, 10, 3), "prelu1": nn.PReLU(10), "pool1": nn.MaxPool2d(2, 2, ceil_mode=True)}
    body |= {"conv2": nn.Conv2d(10, 16, 3), "prelu2": nn.PReLU(16), "conv3": nn.Conv2d(16, 32, 3)}
    body |= {"prelu3": nn.PReLU(32)}
    return _Network(body, {"conv4_1": nn.Conv2d(32, 2, 1), "conv4_2": nn.Conv2d(32, 4, 1)})


def _second() -> _Network:
    body = {"conv1": nn.Conv2d(3, 28, 3), "prelu1": nn.PReLU(28), "pool1": nn.MaxPool2d(3, 2, ceil_mode=True)}
    body |= {"conv2": nn.Conv2d(28, 48, 3), "prelu2": nn.PReLU(48), "pool2": nn.MaxPool2d(3, 2, ceil_mode=True)}
    body |= {"conv3": nn.Conv2d(48, 64, 2), "prelu3": nn.PReLU(64), "flat": _Flat()}
    body |= {"dense4": nn.Linear(576, 128), "prelu4": nn.PReLU(128)}
    return _Network(body, {"dense5_1": nn.Linear(128, 2), "dense5_2": nn.Linear(128, 4)})


def _last() -> _Network:
    body = {"conv1": nn.Conv2d(3, 32, 3), "prelu1": nn.PReLU(32), "pool1": nn.MaxPool2d(3, 2, ceil_mode=True)}
    body |= {"conv2": nn.Conv2d(32, 64, 3), "prelu2": nn.PReLU(64), "pool2": nn.MaxPool2d(3, 2, ceil_mode=True)}
    body |= {"conv3": nn.Conv2d(64, 64, 3), "prelu3": nn.PReLU(64), "pool3": nn.MaxPool2d(2, 2, ceil_mode=True)}
    body |= {"conv4": nn.Conv2d(64, 128, 2), "prelu4": nn.PReLU(128), "flat": _Flat()}
    body |= {"dense5": nn.Linear(1152, 256), "prelu5": nn.PReLU(256)}
    return _Network(
        body, {"dense6_1": nn.Linear(256, 2), "dense6_2": nn.Linear(256, 4), "dense6_3": nn.Linear(256, 10)}
    )


class Cascade:
    """The three networks with their weights, on a device."""

    def __init__(self, device: str) -> None:
        self._device = device
        self._first, self._second, self._last = (
            _loaded(network, name).to(device)
            for network, name in ((_first(), "pnet"), (_second(), "rnet"), (_last(), "onet"))
        )

    @torch.inference_mode()
    def find(self, pictures: NDArray[np.uint8], min_face_px: int) -> list[PictureFaces]:
        """Return the faces of pictures of one size, uint8 (n, H, W, 3), from ``min_face_px`` up."""
        tables = [Sums(rgb) for rgb in pictures]
        proposed = self._proposed(tables, FIRST_PX / min_face_px)
        squares = [_closer(*seen) for seen in self._seen(self._second, tables, proposed, SECOND_PX)]
        return [_faces(*seen) for seen in self._seen(self._last, tables, squares, LAST_PX)]

    @torch.inference_mode()
    def look(self, windows: NDArray[np.floating] | NDArray[np.uint8]) -> tuple[Boxes, Boxes, Boxes]:
        """Return what the last network says of squares (n, 48, 48, 3), values 0 to 255.

        Scores (n,) in [0, 1]; how far the sides of a face's box are from those of the square (n, 4), and where its
        points are (n, 10), first all x, both in shares of the square's side.
        """
        scores, sides, points = self._last.evenly(self._input(windows))
        return scores.cpu().numpy(), sides.cpu().numpy(), points.cpu().numpy()

    def _input(self, windows: NDArray[np.floating] | NDArray[np.uint8]) -> Tensor:
        # Channels last, as it comes: pooling and narrow convolutions are three times as fast so on a processor.
        x = torch.from_numpy(windows).to(self._device).permute(0, 3, 1, 2)
        return (x.float() - 127.5) * 0.0078125

    def _proposed(self, tables: Sequence[Sums], scale: float) -> list[Boxes]:
        """Return squares of each picture that may hold a face, (n, 4)."""
        height, width = tables[0].height, tables[0].width
        proposed: list[list[tuple[Boxes, Boxes, Boxes]]] = [[] for _ in tables]
        shorter = min(height, width) * scale
        while shorter >= FIRST_PX:
            views = np.stack([table.shrunk(int(height * scale + 1), int(width * scale + 1)) for table in tables])
            outputs = (x.cpu() for x in self._first(self._input(views)))
            for all_scores, sides, kept in zip(*outputs, proposed, strict=True):
                at = (all_scores >= _LEAST_SCORES[0]).nonzero()
                corner = (_FIRST_STEP_PX * at.flip(1)).float()
                boxes = torch.cat([(corner + 1) / scale, (corner + FIRST_PX) / scale], 1).floor().numpy()
                scores = all_scores[at[:, 0], at[:, 1]].numpy()
                best = _best(boxes, scores, _MOST_OVERLAP_OF_SCALE)
                kept.append((boxes[best], scores[best], sides[:, at[:, 0], at[:, 1]].T.numpy()[best]))
            scale, shorter = scale * _NEXT_SCALE, shorter * _NEXT_SCALE
        return [_united(kept) for kept in proposed]

    def _seen(
        self, network: _Network, tables: Sequence[Sums], squares: Sequence[Boxes], side_px: int
    ) -> Iterator[list[Boxes]]:
        """Yield, of each picture, the squares that a network takes for faces, with its outputs."""
        inside = [table.within(boxes) for table, boxes in zip(tables, squares, strict=True)]
        windows = np.concatenate([table.cut(one, side_px) for table, one in zip(tables, inside, strict=True)])
        outputs = [x.cpu().numpy() for x in network.evenly(self._input(windows))]
        start, least = 0, _LEAST_SCORES[1] if network is self._second else _LEAST_SCORES[2]
        for boxes, one in zip(squares, inside, strict=True):
            rows = slice(start, start + len(one.start))
            passed = outputs[0][rows] > least
            yield [boxes[one.ok][passed], *(each[rows][passed] for each in outputs)]
            start = rows.stop


def _united(scales: list[tuple[Boxes, Boxes, Boxes]]) -> Boxes:
    """Return the squares that the first network proposes at all scales together."""
    if not scales:
        return np.zeros((0, 4), np.float32)
    boxes, scores, sides = (np.concatenate(each) for each in zip(*scales, strict=True))
    best = _best(boxes, scores, _MOST_OVERLAP)
    boxes, sides = boxes[best], sides[best]
    return _squared(boxes + sides * np.tile(boxes[:, 2:] - boxes[:, :2], 2))


def _closer(boxes: Boxes, scores: Boxes, sides: Boxes) -> Boxes:
    """Return the squares around what the second network takes for faces."""
    best = _best(boxes, scores, _MOST_OVERLAP)
    return _squared(_moved(boxes[best], sides[best]))


def _faces(boxes: Boxes, scores: Boxes, sides: Boxes, points: Boxes) -> PictureFaces:
    """Return what the last network takes for faces."""
    span = boxes[:, 2:] - boxes[:, :2] + 1
    places = np.stack([points[:, :5], points[:, 5:]], axis=2) * span[:, None] + boxes[:, None, :2] - 1
    boxes = _moved(boxes, sides)
    best = _best(boxes, scores, _MOST_OVERLAP, of_smaller=True)
    return PictureFaces(boxes[best], scores[best], places[best])


@cache
def cascade(device: str) -> Cascade:
    """Return the cascade on a device, loaded once."""
    return Cascade(device)


def _loaded(network: _Network, name: str) -> _Network:
    # Looked for, not imported: the package brings torchvision with it, which takes longer than all that is done here.
    path = of_package("facenet_pytorch", f"data/{name}.pt")
    if path is None:
        raise MissingExtra("the face detector's weights are missing: pip install facenet-pytorch")
    network.load_state_dict(torch.load(path, map_location="cpu", weights_only=True), strict=True)
    return network.eval()


def _moved(boxes: Boxes, sides: Boxes) -> Boxes:
    """Return boxes whose sides are moved by shares of their own, counted as the networks were taught."""
    return np.asarray(boxes + sides * np.tile(boxes[:, 2:] - boxes[:, :2] + 1, 2))


def _squared(boxes: Boxes) -> Boxes:
    """Return the squares around the middles of boxes whose sides are the boxes' longer ones."""
    sides = boxes[:, 2:] - boxes[:, :2]
    longer = sides.max(axis=1, keepdims=True)
    corner = boxes[:, :2] + sides * np.float32(0.5) - longer * np.float32(0.5)
    return np.concatenate([corner, corner + longer], axis=1)


def _best(boxes: Boxes, scores: Boxes, most: float, *, of_smaller: bool = False) -> NDArray[np.int64]:
    """Return rows, best first, without those that a better one overlaps by more than ``most``.

    Overlap is the shared area over that of both together, or ``of_smaller`` of the two, counted in whole pixels.
    """
    # Which of equals wins is left to the sort at last: as where the thresholds were set.
    rows = np.argsort(scores)[::-1] if of_smaller else np.argsort(-scores, kind="stable")
    kept = [rows[:0]]
    while len(rows):
        first, rows = rows[:_COMPARED_AT_ONCE], rows[_COMPARED_AT_ONCE:]
        shared = _overlaps(boxes[first], boxes[first], of_smaller=of_smaller) > most
        alive = np.ones(len(first), bool)
        for i in range(len(first)):
            if alive[i]:
                alive[i + 1 :] &= ~shared[i, i + 1 :]
        kept.append(first[alive])
        rows = rows[~(_overlaps(boxes[kept[-1]], boxes[rows], of_smaller=of_smaller) > most).any(axis=0)]
    return np.concatenate(kept)


def _overlaps(ones: Boxes, others: Boxes, *, of_smaller: bool) -> Boxes:
    """Return the overlap of each of some boxes with each of others, (n, m) in [0, 1]."""
    rim = np.float32(of_smaller)
    low = np.maximum(ones[:, None, :2], others[None, :, :2])
    high = np.minimum(ones[:, None, 2:], others[None, :, 2:])
    shared = np.maximum(high - low + rim, 0).prod(axis=2)
    areas = [(boxes[:, 2:] - boxes[:, :2] + rim).prod(axis=1) for boxes in (ones, others)]
    own, other = areas[0][:, None], areas[1][None]
    return np.asarray(shared / (np.minimum(own, other) if of_smaller else own + other - shared))
