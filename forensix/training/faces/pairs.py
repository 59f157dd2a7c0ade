"""Recorded faces in memory, and each beside itself with a part put in (`blends`)."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from PIL import Image, ImageFilter

from forensix.demo.swap import to_uint8
from forensix.faces.align import ALIGNED_PX, TEMPLATE, similarity
from forensix.models.architectures.face_regions import CELL_PX
from forensix.perturb.image import jpeg
from forensix.training.faces.blends import Rng, Seen, processed, put_in
from forensix.training.faces.crops import rows_with_faces
from forensix.training.faces.degrade import degrade, key_frame
from forensix.training.faces.features import LEAST_FACE_PX, own_size, upright
from forensix.training.faces.regenerated import Autoencoder
from forensix.training.images.crops import scaled

RGB = NDArray[np.uint8]
Clip = Sequence[Seen]
N_CELLS = ALIGNED_PX // CELL_PX
LEAST_SCALE = 0.5
MOST_MOMENTS = 4
"""Of a recorded clip so many are kept, and it is drawn as often as so many pictures; of a made one half as many."""
LOOKED_AT = 8
"""Faces of other people among which that of the likest pose is the donor."""
KEPT, KEPT_MADE = (89, 0), (85, 2)
"""Quality and subsampling of the JPEGs that recorded and made faces are kept as."""
REGENERATED, PROCESSED, POOR = 0.05, 0.15, 0.3
"""How often what a face is put into went through an autoencoder, through what a program leaves, or through a camera
that is worse than what is put in."""
ITSELF, ANOTHER_MOMENT, ANOTHER = 0.3, 0.15, 0.2
"""How often the donor is the face itself, another moment of its clip, or somebody else; otherwise it is a made face."""
_REGENERATED_PX = (128, 288)


@dataclass(frozen=True, eq=False)
class Pairs:
    """A batch: each recorded face and, in the same place of the second array, the same with a part put in.

    ``recorded`` and ``made`` are upright crops uint8 (n, 224, 224, 3); ``masks`` float16 (n, 28, 28) says how much of
    each cell was put in.
    """

    recorded: RGB
    made: RGB
    masks: NDArray[np.float16]


def recorded_clips(
    table: pd.DataFrame, cut: Path, autoencoder: Autoencoder, *, log: Callable[[str], None] = lambda _: None
) -> list[Clip]:
    """Return the recorded faces of a table whose crops lie in ``cut``, clip by clip, with an autoencoder's copies."""
    rng = np.random.default_rng(0)
    clips: list[Clip] = []
    for moments in _kept(table, cut, MOST_MOMENTS, KEPT):
        clips.append([_regenerated(rgb, points, autoencoder, rng) for rgb, points in moments])
        if len(clips) % 200 == 0:
            log(f"faces: {len(clips)} of {len(table)}")
    return clips


def made_clips(table: pd.DataFrame, cut: Path) -> list[Clip]:
    """Return the made faces of a table, which are put into recorded ones."""
    return [
        [Seen(rgb, points, rgb) for rgb, points in moments]
        for moments in _kept(table, cut, MOST_MOMENTS // 2, KEPT_MADE)
    ]


class Material:
    """Recorded faces, made ones to be put into them, and the poses that they are seen in."""

    def __init__(self, recorded: Sequence[Clip], made: Sequence[Clip]) -> None:
        self._recorded, self._made = recorded, made
        weights = np.array([min(len(clip), MOST_MOMENTS) for clip in recorded], np.float64)
        self._chances = weights / weights.sum()
        self._poses, self._made_poses = (
            np.stack([_pose(clip[0].landmarks) for clip in clips]) for clips in (recorded, made)
        )

    def draw(self, n: int, rng: Rng) -> Pairs:
        """Return ``n`` pairs."""
        rows = [self._pair(rng) for _ in range(n)]
        recorded, made, masks = (np.stack(part) for part in zip(*rows, strict=True))
        return Pairs(recorded, made, masks)

    def _pair(self, rng: Rng) -> tuple[RGB, RGB, NDArray[np.float16]]:
        at = int(rng.choice(len(self._recorded), p=self._chances))
        clip = self._recorded[at]
        face = _host(clip[int(rng.integers(len(clip)))], rng)
        donor, is_same_person = self._donor(at, face, rng)
        made, mask = put_in(face, donor, rng, is_same_person=is_same_person)
        least = min(1.0, LEAST_FACE_PX / (2 * face.eyes_px))
        scale = max(float(rng.uniform(LEAST_SCALE, 1.0)), least) if rng.random() < 0.5 else 1.0
        points = face.landmarks + rng.normal(0, 0.02 * face.eyes_px, (5, 2))
        is_mirrored, seed = bool(rng.random() < 0.5), int(rng.integers(2**62))
        crops = []
        for rgb in (face.rgb, made):
            same = np.random.default_rng(seed)
            worn = degrade(scaled(rgb, scale, same), same, video=key_frame)
            crops.append(_upright(worn, rgb, points, is_mirrored))
        grey = np.repeat((255 * mask[..., None]).astype(np.uint8), 3, axis=2)
        put = _upright(grey, grey, points, is_mirrored)[..., 0].astype(np.float32) / 255
        cells = put.reshape(N_CELLS, CELL_PX, N_CELLS, CELL_PX).mean(axis=(1, 3))
        return crops[0], crops[1], cells.astype(np.float16)

    def _donor(self, at: int, face: Seen, rng: Rng) -> tuple[Seen, bool]:
        """Return whose part is put into a face of a clip, and whether that is the same person."""
        clip, choice = self._recorded[at], rng.random()
        if choice < ITSELF:
            return face, True
        if choice < ITSELF + ANOTHER_MOMENT and len(clip) > 1:
            return clip[int(rng.integers(len(clip)))], True
        is_recorded = choice < ITSELF + ANOTHER_MOMENT + ANOTHER
        clips, poses = (self._recorded, self._poses) if is_recorded else (self._made, self._made_poses)
        others = rng.integers(len(clips), size=LOOKED_AT)
        if is_recorded:
            others = others[others != at] if (others != at).any() else np.array([(at + 1) % len(clips)])
        gaps = np.abs(poses[others] - self._poses[at]).sum(axis=(1, 2))
        likest = clips[int(others[int(np.argmin(gaps))])]
        return likest[int(rng.integers(len(likest)))], False


def _host(face: Seen, rng: Rng) -> Seen:
    """Return what a part is put into: what was done to it as a whole is in both faces of a pair."""
    whole = rng.random()
    if whole < REGENERATED + PROCESSED:
        rgb = face.regenerated if whole < REGENERATED else processed(face.rgb, face.eyes_px, rng)
        return Seen(rgb, face.landmarks, rgb)
    if whole < REGENERATED + PROCESSED + POOR:
        return Seen(_poorly_recorded(face.rgb, rng), face.landmarks, face.regenerated)
    return face


def _poorly_recorded(rgb: RGB, rng: Rng) -> RGB:
    """Return a picture as a poor camera gives it: soft, noisy and compressed, each by chance."""
    if rng.random() < 0.7:
        rgb = np.asarray(Image.fromarray(rgb).filter(ImageFilter.GaussianBlur(float(rng.uniform(0.4, 1.8)))))
    if rng.random() < 0.5:
        rgb = to_uint8(rgb + rng.normal(0, rng.uniform(1.5, 9), (*rgb.shape[:2], 3 if rng.random() < 0.5 else 1)))
    if rng.random() < 0.6:
        rgb = jpeg(rgb, int(rng.integers(35, 90)))
    return rgb


def _kept(
    table: pd.DataFrame, cut: Path, most: int, how: tuple[int, int]
) -> Iterable[list[tuple[RGB, NDArray[np.float64]]]]:
    """Yield the face of each row at some moments as large as it is in its file, stored as JPEG, with its points."""
    for _, face in rows_with_faces(table, cut):
        moments = []
        for at in np.unique(np.linspace(0, len(face) - 1, most).round().astype(int)):
            rgb, points = own_size(face, int(at))
            moments.append((jpeg(rgb, *how), points.astype(np.float64)))
        yield moments


def _regenerated(rgb: RGB, points: NDArray[np.float64], autoencoder: Autoencoder, rng: Rng) -> Seen:
    side = int(rng.integers(_REGENERATED_PX[0], _REGENERATED_PX[1] + 1)) // 8 * 8
    size = (rgb.shape[1], rgb.shape[0])
    small = np.asarray(Image.fromarray(rgb).resize((min(side, rgb.shape[1] // 8 * 8),) * 2, Image.Resampling.BICUBIC))
    again = Image.fromarray(autoencoder.regenerate(small[None])[0]).resize(size, Image.Resampling.BICUBIC)
    return Seen(rgb, points, np.asarray(again))


def _pose(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the landmarks as they lie once they are turned upright, less where they lie on average, (5, 2)."""
    matrix = np.vstack([similarity(points), [0, 0, 1]])
    turned = np.column_stack([points, np.ones(5)]) @ np.linalg.inv(matrix).T
    return np.asarray(turned[:, :2] - TEMPLATE)


def _upright(seen: RGB, rgb: RGB, points: NDArray[np.float64], is_mirrored: bool) -> RGB:
    crop = upright(seen, rgb, points)
    return np.ascontiguousarray(crop[:, ::-1]) if is_mirrored else crop
