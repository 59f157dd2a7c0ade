"""Faces of videos and pictures of a list, cut once into a cache: the largest face, at several moments.

Each clip, picture or cell of a grid becomes one file of `FaceCrops`. A crop shows `WIDE` times the face's box, with its
landmarks, so that it can be scaled and encoded anew before it is turned upright. Files are written one by one and
renamed when whole: a run that was cut off goes on where it stopped. What holds no face is remembered as an empty file.
"""

import hashlib
import io
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import av
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from PIL import Image, ImageOps

from forensix.faces.align import aligned
from forensix.faces.crop import WINDOW_PX, cut, square, window, window_corner
from forensix.faces.detail_gap import detail_gap
from forensix.faces.detect import Detections, detect
from forensix.models.inputs import at_least
from forensix.perturb.image import jpeg
from forensix.synthetic.crops import middle, resized
from forensix.training.images.cache import read
from forensix.training.kept import whole
from forensix.training.sources import Repositories

RGB = NDArray[np.uint8]

WIDE = 2.0
"""Side of the area kept over the longer side of the face's box."""
STORED_PX = 288
N_MOMENTS = 8
FOLLOWED_S = 0.04
"""A frame is a moment where the video goes on for so long after it."""
LONGEST_S = 30.0
LEAST_PX = 40
SCREENED_PX = 48
"""A face that a small version of the picture shows must be so large in the picture itself."""
SMALL_PX = 256
"""Short side of the small version."""
PICTURES = ("image",)
NOT_JUDGED = "gif"
"""The kind of files in which an analysis judges no face: they hold too few colours."""
AREA_PX = 448
"""Side of what is kept around a face as it lies in its picture, to draw windows from."""
SCALED_QUALITY = 92
"""At which a picture that is to be scaled down is then stored as JPEG."""
_STORED = ("rgb", "landmarks", "detail_gaps", "middles")


@dataclass(frozen=True, eq=False)
class FaceCrops:
    """The face of one clip at its moments: rgb uint8 (n, S, S, 3), and landmarks float (n, 5, 2) in its pixels."""

    rgb: RGB
    landmarks: NDArray[np.float32]
    face_px: float
    """Longer side of the face in the file, in its pixels: the median over moments."""
    detail_gaps: NDArray[np.float32]
    """At the file's own resolution (`forensix.faces.detail_gap`), (n,)."""
    middles: NDArray[np.float32]
    """Middle of the face in each area, xy in its pixels (n, 2)."""
    areas: tuple[RGB, ...]
    """What lies around the face at each moment, at the file's own resolution (`forensix.faces.crop.window`): of at most
    `AREA_PX` a side."""

    def __len__(self) -> int:
        return len(self.rgb)

    def view(self, at: int) -> RGB:
        """Return the upright crop of a moment and the window around it, (2, 224, 224, 3)."""
        return np.stack([aligned(self.rgb[at], self.landmarks[at]), whole_window(self.areas[at], self.middles[at])])


def items(table: pd.DataFrame) -> pd.DataFrame:
    """Return a row for each clip, picture and cell of the files of a list, with columns ``area`` and ``static`` added.

    A row's ``short_px``, where the list has such a column and it is not 0, is what the picture's shorter side is scaled
    down to before the face is cut.

    Cells of no class, and those that repeat a still, keep their label; a still counts as a picture. Files in which an
    analysis judges no face (`NOT_JUDGED`) are left out.
    """
    table = table[table["kind"] != NOT_JUDGED]
    rows: list[dict[Any, Any]] = []
    for row in table.to_dict("records"):
        if row["label"] != "grid":
            rows.append({**row, "area": (0.0, 0.0, 1.0, 1.0), "static": row["kind"] in PICTURES})
            continue
        for cell in json.loads(row["cells"]):
            x1, y1, x2, y2, label, method, tool, *rest = cell
            static = row["kind"] in PICTURES or "static" in rest
            cell_labels: dict[Any, Any] = {"label": label, "method": method, "made_by": tool}
            rows.append({**row, **cell_labels, "area": (x1, y1, x2, y2), "static": static})
    clips = pd.DataFrame(rows)
    clips["name"] = [_name(row) for row in rows]
    return clips.drop_duplicates("name", ignore_index=True)


def fill(table: pd.DataFrame, folder: Path, repositories: Path, *, log: Callable[[str], None] = lambda _: None) -> None:
    """Cut the faces of the rows of `items` that the cache lacks; files that are not at hand are left out."""
    folder.mkdir(parents=True, exist_ok=True)
    with Repositories(repositories) as opened:
        for n, (_, rows) in enumerate(table.groupby(["repo", "path"], sort=False), start=1):
            lacking = rows[[not (folder / f"{name}.npz").exists() for name in rows["name"]]]
            if len(lacking):
                _fill_file(lacking, folder, opened, log)
            if n % 50 == 0:
                log(f"faces: {n} files")


def load(path: Path) -> FaceCrops | None:
    """Return the faces of a file of the cache, or nothing where no face was found."""
    if not path.stat().st_size:
        return None
    with np.load(path) as stored:
        rgb, landmarks, gaps, middles = (stored[name] for name in _STORED)
        areas = tuple(stored[f"area{at}"] for at in range(len(rgb)))
        return FaceCrops(rgb, landmarks, float(stored["face_px"]), gaps, middles, areas)


def store(path: Path, crops: FaceCrops | None) -> None:
    """Write a file of the cache."""
    with whole(path) as file:
        if crops is not None:
            fields = {name: getattr(crops, name) for name in _STORED}
            areas: dict[str, Any] = {f"area{at}": area for at, area in enumerate(crops.areas)}
            np.savez(file, face_px=np.float32(crops.face_px), **fields, **areas)


def cut_faces(moments: Sequence[RGB], area: tuple[float, float, float, float]) -> FaceCrops | None:
    """Find the largest face within an area (fractions x1, y1, x2, y2) at each moment and cut it."""
    views = [part(frame, area) for frame in moments]
    rgb, landmarks, sides, gaps, middles, areas = [], [], [], [], [], []
    for frame, faces in zip(views, detect(views), strict=True):
        best = largest(faces)
        if best is None:
            continue
        box, points = faces.boxes[best], faces.landmarks[best]
        side = float(np.max(box[2:] - box[:2]))
        if side < LEAST_PX:
            continue
        wide = square(box, WIDE)
        size_px = int(min(STORED_PX, round(wide[2] - wide[0])))
        rgb.append(_enlarged(cut(frame, wide, size_px)))
        landmarks.append((points - wide[:2]) * STORED_PX / (wide[2] - wide[0]))
        sides.append(side)
        gaps.append(detail_gap(frame, box, points))
        corner = window_corner(frame.shape, points, AREA_PX)
        middles.append(points.mean(axis=0) - corner)
        areas.append(window(frame, points, AREA_PX))
    if not rgb:
        return None
    measured = (np.asarray(values, dtype=np.float32) for values in (landmarks, gaps, middles))
    points, lacks, centres = measured
    return FaceCrops(np.stack(rgb), points, float(np.median(sides)), lacks, centres, tuple(areas))


def whole_window(area: RGB, centre: NDArray[np.floating]) -> RGB:
    """Return the window around the middle of a face, xy in pixels of what is kept around it, (224, 224, 3)."""
    return at_least(window(area, centre[None]), WINDOW_PX)


def video_moments(data: bytes, n_moments: int = N_MOMENTS) -> list[RGB]:
    """Return frames spread over a video or an animated picture.

    Raises
    ------
    av.FFmpegError
        It cannot be decoded at all.
    """
    with av.open(io.BytesIO(data), "r") as container:
        stream = container.streams.video[0]
        stream.thread_type = "AUTO"
        length = float(stream.duration * stream.time_base) if stream.duration and stream.time_base else 0.0
        if not length and container.duration:
            length = container.duration / av.time_base
        length = min(length or LONGEST_S, LONGEST_S)
        due_times = iter((np.arange(n_moments) + 0.5) / n_moments * length)
        due, start = next(due_times), None
        first: tuple[float, RGB] | None = None
        moments: list[RGB] = []
        try:
            for frame in container.decode(stream):
                time = float(frame.time or 0.0)
                start = time if start is None else start
                time -= start
                if first is not None and time - first[0] >= FOLLOWED_S - 1e-3:
                    moments.append(first[1])
                    first = None
                    later = (next_due for next_due in due_times if next_due > time)
                    if (due := next(later, np.inf)) == np.inf:
                        break
                elif first is None and time >= due - 1e-3:
                    first = (time, _pixels(frame))
        except av.FFmpegError:
            # What precedes a damaged place is good enough to learn from.
            pass
    return moments


def picture_moment(data: bytes) -> list[RGB]:
    """Return the one moment of a still picture, upright."""
    with Image.open(io.BytesIO(data)) as picture:
        return [np.asarray(ImageOps.exif_transpose(picture).convert("RGB"))]


def still(row: dict[Any, Any], opened: Repositories) -> RGB | None:
    """Return the picture that a still of `items` was cut from, as it was looked at; nothing where it is not at hand."""
    data = read(SimpleNamespace(**row), opened)
    if data is None:
        return None
    rgb = (picture_moment(data) if row["kind"] in PICTURES else video_moments(data))[0]
    return part(_scaled_down(rgb, row["short_px"]) if row.get("short_px") else rgb, row["area"])


def _fill_file(rows: pd.DataFrame, folder: Path, opened: Repositories, log: Callable[[str], None]) -> None:
    first = rows.iloc[0]
    data = read(first, opened)
    if data is None:
        log(f"{first['repo']} {first['path']}: not at hand")
        return
    try:
        moments = picture_moment(data) if first["kind"] in PICTURES else video_moments(data)
        if first.get("screened") and not _shows_a_face(moments[0]):
            moments = []
    except (OSError, ValueError, av.FFmpegError) as error:
        log(f"{first['repo']} {first['path']}: {error}")
        moments = []
    for row in rows.to_dict("records"):
        own = moments[:1] if row["static"] else moments
        if short_px := row.get("short_px"):
            own = [_scaled_down(rgb, short_px) for rgb in own]
        store(folder / f"{row['name']}.npz", cut_faces(own, row["area"]) if own else None)


def _scaled_down(rgb: RGB, short_px: int) -> RGB:
    scale = short_px / min(rgb.shape[:2])
    if scale >= 1:
        return rgb
    return jpeg(resized(rgb, round(rgb.shape[0] * scale), round(rgb.shape[1] * scale)), SCALED_QUALITY)


def _shows_a_face(rgb: RGB) -> bool:
    """Tell by a small version, which costs a tenth of looking at the picture itself."""
    short = min(rgb.shape[:2])
    height, width = (min(size, max(1, short * 7 // 4)) for size in rgb.shape[:2])
    scale = SMALL_PX / short
    small = resized(middle(rgb, height, width), max(1, round(height * scale)), max(1, round(width * scale)))
    (faces,) = detect([small])
    sides = (faces.boxes[:, 2:] - faces.boxes[:, :2]).max(axis=1)
    return bool((sides / scale >= SCREENED_PX).any())


def _pixels(frame: av.VideoFrame) -> RGB:
    return np.asarray(frame.to_ndarray(format="rgb24"), dtype=np.uint8)


def part(rgb: RGB, area: tuple[float, float, float, float]) -> RGB:
    """Return what of a picture lies in an area (fractions x1, y1, x2, y2)."""
    height, width = rgb.shape[:2]
    x1, y1, x2, y2 = (round(v * side) for v, side in zip(area, (width, height, width, height), strict=True))
    return np.ascontiguousarray(rgb[y1:y2, x1:x2])


def largest(faces: Detections) -> int | None:
    """Return which face is the largest, None where there is none."""
    if not len(faces):
        return None
    return int(np.argmax((faces.boxes[:, 2:] - faces.boxes[:, :2]).max(axis=1)))


def _enlarged(rgb: RGB) -> RGB:
    if rgb.shape[0] == STORED_PX:
        return rgb
    return np.asarray(Image.fromarray(rgb).resize((STORED_PX, STORED_PX), Image.Resampling.BICUBIC))


def _name(row: dict[Any, Any]) -> str:
    identity = f"{row['repo']}:{row['path']}:{row['area']}"
    if short_px := row.get("short_px"):
        identity += f":{short_px}"
    return hashlib.sha256(identity.encode()).hexdigest()[:24]


def rows_with_faces(table: pd.DataFrame, folder: Path) -> Iterator[tuple[dict[Any, Any], FaceCrops]]:
    """Yield the rows of `items` whose face is in the cache, with their crops."""
    for row in table.to_dict("records"):
        path = folder / f"{row['name']}.npz"
        if path.exists() and (crops := load(path)) is not None:
            yield row, crops
