"""Which faces forensix-face learns from, and the pairs of real and fake crops made of them.

Real faces come from the training rows' repositories, generated ones from the same (StyleGAN2 portraits). Faces that
are, or look like, one of the development rows are left out. Faces that look alike are one identity, and identities, not
files, are held out for calibration.
"""

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image, ImageOps

from forensix.faces.crop import MARGIN, crop, cut, square
from forensix.faces.detect import detect
from forensix.training.faces.blend import Face, Rng, replace_mouth, self_blend, swap
from forensix.training.faces.degrade import degrade

TYPES = ("faceswap", "lipsync", "face_synthesis")
FOLDERS = {
    # repository folder: (folder in it, label, share among real faces)
    "chandrikadeb7+Face-Mask-Detection": ("dataset/without_mask", "real", 0.40),
    "dinablachman+realorfake": ("data/real", "real", 0.48),
    "serengil+deepface": ("tests/unit/dataset", "real", 0.12),
    "dinablachman+realorfake/fake": ("data/fake", "fake", 0.0),
}
WIDE = 2.0
"""Side of the area kept around a face over the longer side of its box."""
WIDE_PX = 448
STORED_PX = 176
"""Crops are stored a little larger than the network's 160, so that training can shift them."""
CELL_PX = 8
LEAST_PX = 48
LEAST_SCORE = 0.97
LEAST_INSIDE = 0.85
"""Faces cut by the picture's edge are left out: repeated edge pixels are no background."""
ALIKE = 0.93


@dataclass(frozen=True, eq=False)
class SourceFace:
    """A face to learn from; ``inside`` is the share of its crop that lies in the picture."""

    face: Face
    source: str
    name: str
    label: str
    inside: float


def collect(folder: Path, source: str) -> list[SourceFace]:
    """Find the largest sure face of every picture of one entry of ``FOLDERS`` under the repositories' folder."""
    inner, label, _ = FOLDERS[source]
    found = []
    for path in sorted((folder / source.removesuffix("/fake") / inner).iterdir()):
        if path.suffix.lower() in (".jpg", ".jpeg", ".png"):
            found += faces_of(path, source, label)
    return found


def faces_of(path: Path, source: str, label: str) -> list[SourceFace]:
    """Return the best face of a trusted picture, cut wide; none when there is no sure, large enough face."""
    with Image.open(path) as picture:
        rgb = np.asarray(ImageOps.exif_transpose(picture).convert("RGB"))
    faces = detect([rgb], min_score=LEAST_SCORE)[0]
    if not len(faces) or np.max(faces.boxes[0, 2:] - faces.boxes[0, :2]) < LEAST_PX:
        return []
    return [cut_face(rgb, faces.boxes[0], faces.landmarks[0], source, path.name, label)]


def cut_face(rgb: np.ndarray, box: np.ndarray, landmarks: np.ndarray, source: str, name: str, label: str) -> SourceFace:
    """Cut a face with its surroundings, at most ``WIDE_PX`` large."""
    area, near = square(box, WIDE), square(box, MARGIN)
    height, width = rgb.shape[:2]
    seen = np.clip(near, 0, (width, height, width, height))
    inside = float((seen[2:] - seen[:2]).prod() / (near[2:] - near[:2]).prod())
    size_px = int(min(WIDE_PX, max(16, round(area[2] - area[0]))))
    scale = size_px / (area[2] - area[0])
    face = Face(cut(rgb, area, size_px), (landmarks - area[:2]) * scale, (box - np.tile(area[:2], 2)) * scale)
    return SourceFace(face, source, name, label, inside)


def descriptors(crops: Sequence[np.ndarray]) -> np.ndarray:
    """Return unit vectors (n, 256) of the grey look of crops; their products tell near copies."""
    small = [np.asarray(Image.fromarray(c).convert("L").resize((16, 16), Image.Resampling.BOX), float) for c in crops]
    flat = np.array(small).reshape(len(small), -1)
    flat = flat - flat.mean(axis=1, keepdims=True)
    unit: np.ndarray = flat / np.maximum(np.linalg.norm(flat, axis=1, keepdims=True), 1e-9)
    return unit


def near_crop(face: Face) -> np.ndarray:
    """Return a face's 160 px crop."""
    return crop(face.rgb, face.box)


def without_copies(faces: Sequence[SourceFace], held_back: Sequence[np.ndarray]) -> list[SourceFace]:
    """Leave out faces that look like one of the crops held back, mirrored or not."""
    if not held_back or not faces:
        return list(faces)
    own = descriptors([near_crop(one.face) for one in faces])
    other = descriptors([c for crop_ in held_back for c in (crop_, crop_[:, ::-1])])
    return [one for one, alike in zip(faces, (own @ other.T).max(axis=1), strict=True) if alike < ALIKE]


def development_names(manifest: pd.DataFrame) -> set[tuple[str, str]]:
    """Return (repository folder, file name) of the development rows whose identity tells their original's number."""
    names = set()
    for identity in manifest.loc[manifest["split"] == "dev", "identity"].dropna():
        if match := re.fullmatch(r"(ffhq_rof|tpdne_fake)_(\d+)", identity):
            fake = match[1] == "tpdne_fake"
            source = "dinablachman+realorfake" + ("/fake" if fake else "")
            names.add((source, ("fake_" if fake else "") + f"{match[2]}.jpg"))
    return names


def identities(faces: Sequence[SourceFace]) -> list[str]:
    """Name each face's identity: a person's name in the file's name, or the first of those that look alike."""
    looks = descriptors([near_crop(one.face) for one in faces])
    mirrored = descriptors([near_crop(one.face)[:, ::-1] for one in faces])
    alike = np.maximum(looks @ looks.T, looks @ mirrored.T) >= ALIKE
    groups = [_person(one) for one in faces]
    for i in range(len(faces)):
        first = int(np.argmax(alike[i]))
        if first < i:
            old, new = groups[i], groups[first]
            groups = [new if group == old else group for group in groups] if old != new else groups
    return groups


def held_out(identity: str, share: float = 0.15) -> bool:
    """Say whether an identity is kept for calibration; depends on nothing but its name."""
    return int(hashlib.sha256(identity.encode()).hexdigest()[:8], 16) / 0xFFFFFFFF < share


def make_pair(real: Sequence[SourceFace], fake: Sequence[SourceFace], weights: np.ndarray, rng: Rng) -> "Pair":
    """Make a real crop and a fake one, passed through chains drawn from one distribution.

    Parameters
    ----------
    real, fake
        Real faces, and generated ones (may be empty).
    weights
        Chance of each real face, shape (len(real),), sums to 1.
    """
    base = _area(real[int(rng.choice(len(real), p=weights))].face, rng)
    draw = rng.random()
    if draw < 0.16 and fake:
        # The real half of this pair is a portrait of the kind that the generator imitates.
        portraits = [one for one in real if one.source == "dinablachman+realorfake"] or list(real)
        base = _area(portraits[int(rng.integers(len(portraits)))].face, rng)
        made = _area(fake[int(rng.integers(len(fake)))].face, rng)
        changed, alpha, kind = made.rgb, np.ones(made.rgb.shape[:2], np.float32), "face_synthesis"
    else:
        made = base
        donor = real[int(rng.choice(len(real), p=weights))].face
        if draw < 0.56:
            (changed, alpha), kind = self_blend(base, rng), "faceswap"
        elif draw < 0.80:
            (changed, alpha), kind = swap(base, donor, rng), "faceswap"
        else:
            (changed, alpha), kind = replace_mouth(base, donor if rng.random() < 0.4 else None, rng), "lipsync"
    # Half of the pairs share their chain, so that the change itself is all that differs.
    seeds = rng.integers(2**32, size=2)
    if rng.random() < 0.5:
        seeds[1] = seeds[0]
    shift = rng.uniform(-0.04, 0.04, 2)
    grow = float(rng.uniform(0.94, 1.08))
    first = _finish(base, degrade(base.rgb, np.random.default_rng(seeds[0])), shift, grow)
    second = _finish(made, degrade(changed, np.random.default_rng(seeds[1])), shift, grow)
    place = _finish(made, np.repeat((alpha * 255).astype(np.uint8)[..., None], 3, axis=2), shift, grow)[..., 0]
    cells = STORED_PX // CELL_PX
    place = place.reshape(cells, CELL_PX, cells, CELL_PX).mean(axis=(1, 3)).astype(np.uint8)
    return Pair(first, second, TYPES.index(kind), place)


@dataclass(frozen=True, eq=False)
class Pair:
    """Crops uint8 (176, 176, 3), the fake one's index in ``TYPES``, and where it was changed, uint8 (22, 22)."""

    real: np.ndarray
    fake: np.ndarray
    kind: int
    place: np.ndarray


def shares(faces: Iterable[SourceFace]) -> np.ndarray:
    """Return the chance of each real face: sources by their shares in ``FOLDERS``, faces of one source alike."""
    sources = [one.source for one in faces]
    counts = {source: sources.count(source) for source in set(sources)}
    weights = np.array([FOLDERS.get(s, ("", "", 1.0))[2] / counts[s] for s in sources])
    chances: np.ndarray = weights / weights.sum()
    return chances


def _person(one: SourceFace) -> str:
    match = re.fullmatch(r"\d+_\d+_([a-z]+)_\d+.*", one.name)
    return f"{one.source}:{match[1] if match else one.name}"


def _area(face: Face, rng: Rng) -> Face:
    """Cut 1.7 times the box, at a size at which the crop is 72 to 288 px large and not above the picture's own."""
    area = square(face.box, 1.7)
    own_px = float(area[2] - area[0])
    largest = min(1.1 * own_px, 288 * 1.7 / MARGIN)
    size_px = round(float(np.exp(rng.uniform(np.log(min(96.0, largest)), np.log(largest)))))
    scale = size_px / own_px
    rgb = cut(face.rgb, area, size_px)
    shifted = Face(rgb, (face.landmarks - area[:2]) * scale, (face.box - np.tile(area[:2], 2)) * scale)
    return mirrored(shifted) if rng.random() < 0.5 else shifted


def mirrored(face: Face) -> Face:
    """Return the face in a mirror; left and right landmarks change places."""
    width = face.rgb.shape[1]
    landmarks = face.landmarks[[1, 0, 2, 4, 3]] * (-1, 1) + (width, 0)
    x1, y1, x2, y2 = face.box
    return Face(np.ascontiguousarray(face.rgb[:, ::-1]), landmarks, np.array([width - x2, y1, width - x1, y2]))


def _finish(face: Face, rgb: np.ndarray, shift: np.ndarray, grow: float) -> np.ndarray:
    box = face.box + np.tile(shift, 2) * np.max(face.box[2:] - face.box[:2])
    return crop(rgb, box, margin=MARGIN * grow * STORED_PX / 160, size_px=STORED_PX)
