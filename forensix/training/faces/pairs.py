"""Recorded faces in memory, and batches of them beside themselves with a part put in (`blends`)."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from PIL import Image

from forensix.faces.align import ALIGNED_PX, TEMPLATE, aligned, similarity
from forensix.models.architectures.face_regions import CELL_PX
from forensix.training.faces.blends import Rng, Seen, processed, put_in
from forensix.training.faces.crops import FaceCrops, rows_with_faces
from forensix.training.faces.degrade import degrade
from forensix.training.faces.features import LEAST_FACE_PX, own_size
from forensix.training.faces.regenerated import Autoencoder
from forensix.training.images.crops import scaled

RGB = NDArray[np.uint8]
N_CELLS = ALIGNED_PX // CELL_PX
LEAST_SCALE = 0.5
MOST_MOMENTS = 4
"""A clip is drawn as often as so many pictures."""
LOOKED_AT = 8
"""Faces of other people among which that of the likest pose is the donor."""
_REGENERATED_PX = (128, 288)


@dataclass(frozen=True, eq=False)
class Pairs:
    """A batch: each recorded face and, in the same place of the second array, the same with a part put in.

    ``recorded`` and ``made`` are upright crops uint8 (n, 224, 224, 3); ``masks`` float32 (n, 28, 28) says how much of
    each cell was put in.
    """

    recorded: RGB
    made: RGB
    masks: NDArray[np.float32]


class Recorded:
    """The recorded faces of a table, clip by clip, and the poses that they are seen in."""

    def __init__(
        self, table: pd.DataFrame, cut: Path, autoencoder: Autoencoder, *, log: Callable[[str], None] = lambda _: None
    ) -> None:
        rng = np.random.default_rng(0)
        self.clips: list[list[Seen]] = []
        for _, face in rows_with_faces(table, cut):
            self.clips.append([_seen(face, at, autoencoder, rng) for at in range(len(face))])
            if len(self.clips) % 200 == 0:
                log(f"faces: {len(self.clips)} of {len(table)}")
        weights = np.array([min(len(clip), MOST_MOMENTS) for clip in self.clips], np.float64)
        self._chances = weights / weights.sum()
        self._poses = np.stack([_pose(clip[0].landmarks) for clip in self.clips])

    def draw(self, n: int, rng: Rng) -> Pairs:
        """Return ``n`` pairs of different clips and pictures."""
        rows = [self._pair(int(at), rng) for at in rng.choice(len(self.clips), n, replace=False, p=self._chances)]
        recorded, made, masks = (np.stack(part) for part in zip(*rows, strict=True))
        return Pairs(recorded, made, masks)

    def _pair(self, at: int, rng: Rng) -> tuple[RGB, RGB, NDArray[np.float32]]:
        clip = self.clips[at]
        face = clip[int(rng.integers(len(clip)))]
        # What was done to the whole picture is in both, so that only what differs within a picture tells.
        whole = rng.random()
        if whole < 0.2:
            rgb = face.regenerated if whole < 0.07 else processed(face.rgb, face.eyes_px, rng)
            face = Seen(rgb, face.landmarks, rgb)
        choice, is_same_person = rng.random(), True
        if choice < 0.4:
            donor = face
        elif len(clip) > 1 and choice < 0.8:
            donor = clip[int(rng.integers(len(clip)))]
        else:
            donor, is_same_person = self._likest(at, rng), False
        made, mask = put_in(face, donor, rng, is_same_person=is_same_person)
        least = min(1.0, LEAST_FACE_PX / (2 * face.eyes_px))
        scale = max(float(rng.uniform(LEAST_SCALE, 1.0)), least) if rng.random() < 0.5 else 1.0
        points = face.landmarks + rng.normal(0, 0.02 * face.eyes_px, (5, 2))
        is_mirrored, seed = bool(rng.random() < 0.5), int(rng.integers(2**63))
        crops = []
        for rgb in (face.rgb, made):
            same = np.random.default_rng(seed)
            crops.append(_upright(degrade(scaled(rgb, scale, same), same), rgb, points, is_mirrored))
        grey = np.repeat((255 * mask[..., None]).astype(np.uint8), 3, axis=2)
        put = _upright(grey, grey, points, is_mirrored)[..., 0].astype(np.float32) / 255
        cells: NDArray[np.float32] = put.reshape(N_CELLS, CELL_PX, N_CELLS, CELL_PX).mean(axis=(1, 3))
        return crops[0], crops[1], cells

    def _likest(self, at: int, rng: Rng) -> Seen:
        others = rng.integers(len(self.clips), size=LOOKED_AT)
        others = others[others != at] if (others != at).any() else np.array([(at + 1) % len(self.clips)])
        gaps = np.abs(self._poses[others] - self._poses[at]).sum(axis=(1, 2))
        clip = self.clips[int(others[int(np.argmin(gaps))])]
        return clip[0]


def _seen(face: FaceCrops, at: int, autoencoder: Autoencoder, rng: Rng) -> Seen:
    rgb, points = own_size(face, at)
    side = int(rng.integers(_REGENERATED_PX[0], _REGENERATED_PX[1] + 1)) // 8 * 8
    size = (rgb.shape[1], rgb.shape[0])
    small = np.asarray(Image.fromarray(rgb).resize((min(side, rgb.shape[1] // 8 * 8),) * 2, Image.Resampling.BICUBIC))
    again = Image.fromarray(autoencoder.regenerate(small[None])[0]).resize(size, Image.Resampling.BICUBIC)
    return Seen(rgb, points, np.asarray(again))


def _pose(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the landmarks as they lie once they are turned upright, less where they lie on average, (5, 2)."""
    matrix = np.vstack([similarity(points), [0, 0, 1]])
    upright = np.column_stack([points, np.ones(5)]) @ np.linalg.inv(matrix).T
    return np.asarray(upright[:, :2] - TEMPLATE)


def _upright(seen: RGB, rgb: RGB, points: NDArray[np.float64], is_mirrored: bool) -> RGB:
    crop = aligned(seen, points * (np.array(seen.shape[1::-1]) / np.array(rgb.shape[1::-1])))
    return np.ascontiguousarray(crop[:, ::-1]) if is_mirrored else crop
