"""What the pretrained network says of the faces and pictures to learn from, computed once and kept, a file each.

A face is seen at a few moments as it was cut, scaled, softened and encoded anew at random (`images.crops`), and so
once it was retouched (`forensix.perturb.image.retouched`), recorded and made ones alike; each time as an upright crop
and as a window. All that is done before a crop is turned upright: what a codec leaves lies on the picture's own grid,
not on that of the crop. Pictures of anything are seen in windows, cut and drawn as the picture detector learns them.
"""

import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from PIL import Image

from forensix.faces.align import ALIGNED_PX, aligned
from forensix.faces.classify import network_input
from forensix.faces.verdict import texture
from forensix.models.architectures.efficientnet import fuse
from forensix.models.architectures.faces import N_STATISTICS, FaceStages
from forensix.perturb.image import contrast, retouched, smooth
from forensix.synthetic.crops import RGB, SIDE_PX, windows
from forensix.training.backbone import load_imagenet
from forensix.training.faces.crops import STORED_PX, WIDE, FaceCrops, whole_window
from forensix.training.faces.crops import load as load_face
from forensix.training.images import cache
from forensix.training.images.crops import LEAST_SCALE, degraded, draw, draw_window, encode, mirrored, scaled
from forensix.training.images.features import is_kept
from forensix.training.kept import whole

AS_IS, DRAWN, ALIKE, RETOUCHED, SMOOTHED, CONTRASTED = range(6)
"""Kinds of views: as they are, drawn at random, and those to measure on: both classes scaled and encoded alike, and
edited alike, each as `EDITS` has it."""
Edit = Callable[[RGB, np.random.Generator], RGB]
EDITS: Mapping[int, Edit] = {
    RETOUCHED: retouched,
    SMOOTHED: lambda rgb, _: smooth(rgb, 1.0),
    CONTRASTED: lambda rgb, _: contrast(rgb, 1.0),
}
MOMENTS = 4
DRAWS = 2
"""Windows of a picture of anything that are drawn at random; one more is of the picture retouched."""
ALIKE_OF_EACH = 20
"""Pictures of a source that have views to measure on."""
LEAST_FACE_PX = 44
"""A face is not scaled below this."""
AT_ONCE = 8
_NEARLY_WHOLE = 0.97

Rng = np.random.Generator
Kinds = NDArray[np.uint8]


def of_faces(
    table: pd.DataFrame, cut: Path, folder: Path, *, log: Callable[[str], None] = lambda _: None
) -> tuple[NDArray[np.float16], Kinds, NDArray[np.int64]]:
    """Return statistics (views, 2, n) of the faces of a table whose crops lie in ``cut``, of crop and window.

    With them come kinds and row numbers (views,). What ``folder`` lacks is computed first.
    """
    judged = is_judged(table)

    def views(at: int) -> tuple[RGB, Kinds]:
        name, still = str(table["name"].iloc[at]), bool(table["static"].iloc[at])
        face = load_face(cut / f"{name}.npz")
        assert face is not None, "faces that were not found are left out of the table"
        return views_of_face(face, _rng(name), still, bool(judged[at]))

    paths = [folder / f"{name}.npz" for name in table["name"]]
    _compute(paths, views, log)
    return _load(paths)


def of_pictures(
    table: pd.DataFrame, folder: Path, *, log: Callable[[str], None] = lambda _: None
) -> tuple[NDArray[np.float16], Kinds, NDArray[np.int64]]:
    """Return the same of windows of the pictures of a table (see `images.cache`), statistics (views, 1, n)."""

    def views(at: int) -> tuple[RGB, Kinds]:
        file = Path(table["file"].iloc[at])
        seen, rng = cache.load(file), _rng(file.stem)
        drawn = [draw(seen, rng) for _ in range(DRAWS)]
        (editing,) = rng.spawn(1)
        native = seen.native[int(editing.integers(len(seen.native)))]
        drawn.append(draw_window(retouched(native, editing), editing))
        kinds = np.array([AS_IS] + [DRAWN] * len(drawn))
        return np.stack([windows(seen.native[0], SIDE_PX, 1)[0], *drawn])[:, None], kinds

    paths = [folder / Path(file).name for file in table["file"]]
    _compute(paths, views, log)
    return _load(paths)


def textures(table: pd.DataFrame, cut: Path) -> dict[int, NDArray[np.float64]]:
    """Return the texture of each face of a table (`forensix.faces.verdict.texture`) by kind of view, (n,).

    NaN of clips, and where there is no such view.
    """
    found = {kind: np.full(len(table), np.nan) for kind in (AS_IS, *EDITS)}
    judged = is_judged(table)
    for at in np.flatnonzero(table["static"]):
        name = str(table["name"].iloc[at])
        face = load_face(cut / f"{name}.npz")
        assert face is not None, "faces that were not found are left out of the table"
        views, kinds = views_of_face(face, _rng(name), still=True, judged=bool(judged[at]))
        for kind, of_kind in found.items():
            if (kinds == kind).any():
                of_kind[at] = np.median([texture(crop) for crop in views[kinds == kind, 0]])
    return found


def is_judged(table: pd.DataFrame) -> NDArray[np.bool_]:
    """Return which faces of a table have views to measure on where they are stills, (n,)."""
    judged: NDArray[np.bool_] = (table.groupby(["repo", "made_by", "label"]).cumcount() < ALIKE_OF_EACH).to_numpy()
    return judged


def edited_picture(rgb: RGB, name: str) -> dict[int, RGB]:
    """Return the picture around the face of a name edited and stored as that face is to be measured on, by kind."""
    _, measuring = _rng(name).spawn(2)
    return {kind: _edited_alike([rgb], edit, measuring)[0] for kind, edit in EDITS.items()}


def _rng(name: str) -> Rng:
    return np.random.default_rng(zlib.crc32(name.encode()))


def views_of_face(face: FaceCrops, rng: Rng, still: bool, judged: bool) -> tuple[RGB, Kinds]:
    """Return upright crops and windows (n, 2, 224, 224, 3) of a face at its moments, and of which kind each is.

    Of a clip the first and the last moment are also drawn, of a ``still`` its one; a ``judged`` still has those to
    measure on as well.
    """
    moments = list(range(len(face)))
    if len(face) > MOMENTS:
        moments = np.linspace(0, len(face) - 1, MOMENTS).round().astype(int).tolist()
    views, kinds = [], []
    # A generator's children leave its own draws as they are.
    editing, measuring = rng.spawn(2)
    for at in moments:
        rgb, points = own_size(face, at)
        least = min(1.0, LEAST_FACE_PX / min(face.face_px, STORED_PX / WIDE))
        area = face.areas[at]
        views.append(face.view(at))
        kinds.append(AS_IS)
        if still or at in (moments[0], moments[-1]):
            views.append(_drawn(rgb, area, points, least, rng))
            views.append(_drawn(rgb, area, points, least, editing, retouched))
            kinds += [DRAWN, DRAWN]
        if still and judged:
            scale = max(float(rng.uniform(0.5, 1.0)), least)
            for kind, (small, around) in {
                ALIKE: [encode(scaled(seen, scale, rng), rng, least=60, most=95) for seen in (rgb, area)],
                **{kind: _edited_alike((rgb, area), edit, measuring) for kind, edit in EDITS.items()},
            }.items():
                share = np.array(around.shape[1::-1]) / np.array(area.shape[1::-1])
                views.append(np.stack([upright(small, rgb, points), whole_window(around, face.middles[at] * share)]))
                kinds.append(kind)
    return np.stack(views), np.array(kinds, np.uint8)


def _drawn(
    rgb: RGB,
    area: RGB,
    points: NDArray[np.float64],
    least: float,
    rng: Rng,
    edit: Edit = lambda rgb, _: rgb,
) -> RGB:
    """Return crop and window of a moment, edited, scaled (the face to no less than ``least``) and worn at random."""
    scale = float(rng.uniform(LEAST_SCALE, 1.0)) if rng.random() < 0.6 else 1.0
    worn = degraded(scaled(edit(rgb, rng), max(scale, least), rng), rng)
    return np.stack([mirrored(upright(worn, rgb, points), rng), draw_window(edit(area, rng), rng)])


def _edited_alike(seen: Sequence[RGB], edit: Edit, rng: Rng) -> list[RGB]:
    """Return what is seen of one picture, all of it edited and stored in the same way."""
    seed = int(rng.integers(2**32))
    edited = (edit(rgb, np.random.default_rng(seed)) for rgb in seen)
    return [encode(rgb, np.random.default_rng(seed), least=85, most=97) for rgb in edited]


def own_size(face: FaceCrops, at: int) -> tuple[RGB, NDArray[np.float64]]:
    """Return a stored face as large as it was in its file, where it was enlarged to be stored, and its points."""
    rgb, points = face.rgb[at], face.landmarks[at].astype(np.float64)
    share = face.face_px * WIDE / STORED_PX
    if share >= _NEARLY_WHOLE:
        return rgb, points
    side = round(STORED_PX * share)
    return np.asarray(Image.fromarray(rgb).resize((side, side), Image.Resampling.BICUBIC)), points * side / STORED_PX


def upright(seen: RGB, rgb: RGB, points: NDArray[np.float64]) -> RGB:
    """Return the upright crop of what is seen of a picture, scaled or not; points are in the picture's own pixels."""
    return aligned(seen, points * (np.array(seen.shape[1::-1]) / np.array(rgb.shape[1::-1])))


def _compute(paths: Sequence[Path], views: Callable[[int], tuple[RGB, Kinds]], log: Callable[[str], None]) -> None:
    """Compute what is missing of ``paths``, one for each input; ``views`` returns those (n, k, S, S, 3) of an input.

    What an earlier version kept there, of a network that gave another number of statistics, is computed anew.
    """
    todo = [at for at, path in enumerate(paths) if not is_kept(path, N_STATISTICS)]
    if not todo:
        return
    paths[0].parent.mkdir(parents=True, exist_ok=True)
    network = FaceStages()
    load_imagenet(network.backbone)
    # With 16 bits, which detectors compute with only where a user asks for it, rules learn from other statistics.
    network = fuse(network).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    start = time.monotonic()
    for done, at in enumerate(todo, start=1):
        seen, kinds = views(at)
        inputs = torch.split(network_input(seen.reshape(-1, *seen.shape[2:]), ALIGNED_PX), AT_ONCE)
        with torch.inference_mode():
            values = np.concatenate([network.statistics(part).numpy() for part in inputs]).astype(np.float16)
        with whole(paths[at]) as stored:
            np.savez(stored, stats=values.reshape(*seen.shape[:2], N_STATISTICS), kinds=kinds)
        if done % 200 == 0:
            log(f"features: {done} of {len(todo)} in {time.monotonic() - start:.0f} s")


def _load(paths: Sequence[Path]) -> tuple[NDArray[np.float16], Kinds, NDArray[np.int64]]:
    stats, kinds = [], []
    for path in paths:
        with np.load(path) as stored:
            stats.append(stored["stats"])
            kinds.append(stored["kinds"])
    rows = np.repeat(np.arange(len(paths)), [len(views) for views in kinds])
    return np.concatenate(stats), np.concatenate(kinds), rows
