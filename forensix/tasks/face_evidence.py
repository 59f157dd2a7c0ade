"""What `face_manipulation` shows: the video with boxes, the score of each face over time, crops and heat maps."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from forensix.faces import Still
from forensix.faces.verdict import odd_gap
from forensix.models import DetailGap
from forensix.synthetic.overlay import draw_heatmap, fitted
from forensix.tasks.evidence import FACE_HEATMAP_CAPTION, Bound, Bounds, Curve, Evidence, Film, Picture, Span, Timeline
from forensix.tasks.film import film_uri
from forensix.tasks.judged_faces import JudgedFace
from forensix.tasks.pictures import jpeg_uri, outlined, score_colour
from forensix.tasks.verdicts import score_text

MAX_FACES_SHOWN = 12
"""Faces drawn in the report, most suspect first; the result lists all of them."""
ABOUT_DETAIL = (
    "How much less fine detail a face holds than what lies around it. A face above the band is a reason to look; some "
    "recorded ones lie there too, and no score moves."
)
BOX_COLOURS = "blue at 0, grey at 0.5, orange at 1"
_SCALE_PX = 34


def face_evidence(
    stills: Sequence[Still],
    faces: Sequence[JudgedFace],
    regions: Any,
    *,
    duration_s: float | None,
    upper: float,
    explained: bool,
) -> Iterator[Evidence]:
    """Yield what a person looks at; ``duration_s`` is none for an image, ``explained`` if the result carries pictures.

    Faces that score ``upper`` or more, or of which a part differs, have a heat map, which ``regions`` draws.
    """
    if duration_s is not None:
        yield _film(stills, faces, duration_s, upper if upper < 1 else None)
    if (frame := _most_telling(stills, faces)) is not None:
        yield frame
    if explained:
        return
    for face in faces[:MAX_FACES_SHOWN]:
        crop, n = face.track.crops[face.strongest], len(face.track)
        verdict = f"not judged: {face.doubt}" if face.doubt else f"score {score_text(face.score)}"
        yield Picture(f"Face {face.track.id}", jpeg_uri(crop), f"{verdict}; in {n} frame{'s' if n > 1 else ''}")
        if (heat := heated(face, regions, upper)) is not None:
            yield Picture(f"Face {face.track.id}: heat map", jpeg_uri(heat), FACE_HEATMAP_CAPTION)


def detail_bounds(faces: Sequence[JudgedFace], lacked: DetailGap | None) -> Iterator[Bounds]:
    """Yield the fine detail that each judged face of a video lacks beside its surroundings, over that of recorded ones.

    Only a face that lacks more than nearly all recorded ones do is an outlier (`forensix.faces.verdict.odd_gap`): to
    hold more means nothing.
    """
    judged = [face for face in faces[:MAX_FACES_SHOWN] if not face.doubt]
    if lacked is None or not judged:
        return
    least, mean, _, most = lacked.recorded
    high = odd_gap(lacked, max(1, n_measured(faces)))
    rows = []
    for face in judged:
        value = face.detail_gap if np.isfinite(face.detail_gap) else None
        is_outlier = value is not None and value > high
        rows.append(Bound(f"face {face.track.id}", "", value, least, high, least, most, mean, None, is_outlier))
    yield Bounds("Lack of fine detail beside the surroundings", tuple(rows), ABOUT_DETAIL)


def n_measured(faces: Sequence[JudgedFace]) -> int:
    """Return of how many judged faces the gap of fine detail is known: so many chances for one of them to be odd."""
    return sum(not face.doubt and bool(np.isfinite(face.detail_gap)) for face in faces)


def heated(face: JudgedFace, regions: Any, upper: float) -> NDArray[np.uint8] | None:
    """Return the crop that speaks most for the score under its heat map, with a scale beside it.

    There is none without a component that draws it, and none of a face that is not judged, or that is smooth or lies
    below the upper bound and of which no part differs: a map of nothing would still show something.
    """
    is_accused = face.score >= upper and not face.is_smooth
    if not hasattr(regions, "heatmap") or face.doubt or not (is_accused or face.differs):
        return None
    crop = face.track.crops[face.strongest]
    return np.concatenate(
        [draw_heatmap(crop, fitted(regions.heatmap(crop), crop.shape)), _scale(crop.shape[0])], axis=1
    )


def _scale(height_px: int) -> NDArray[np.uint8]:
    """Return a strip with the colours from 1 at the top to 0 at the bottom, over grey."""
    strip = np.full((height_px, _SCALE_PX, 3), 255, np.uint8)
    bar = slice(10, height_px - 10), slice(6, 18)
    values = np.linspace(1, 0, height_px - 20)[:, None]
    strip[bar] = draw_heatmap(np.full((height_px - 20, 12, 3), 128, np.uint8), np.repeat(values, 12, axis=1))
    picture = Image.fromarray(strip)
    draw = ImageDraw.Draw(picture)
    for value, y in ((1, 4), (0, height_px - 16)):
        draw.text((22, y), str(value), fill=(0, 0, 0))
    return np.asarray(picture)


def _most_telling(stills: Sequence[Still], faces: Sequence[JudgedFace]) -> Picture | None:
    """Return the still nearest to where the most suspect face scores highest, with the boxes of all faces in it."""
    if not faces:
        return None
    first = faces[0]
    near = sorted(stills, key=lambda still: abs(still.ms - first.track.crop_ms[first.strongest]))
    still = next((still for still in near if first.box_at(still.index) is not None), None)
    if still is None:
        return None
    uri = jpeg_uri(_drawn(still, faces))
    is_video = first.track.frame_rate_hz > 0
    shown = [face for face in faces if face.box_at(still.index) is not None]
    parts = [f"At {still.ms / 1000:.2f} s"] if is_video else []
    if any(face.score_at(still.ms) is not None for face in shown):
        parts.append(f"boxes with the scores{' of this frame' if is_video else ''}, {BOX_COLOURS}")
    return Picture("The faces", uri, ": ".join(parts))


def preview_uri(stills: Sequence[Still], faces: Sequence[JudgedFace], max_side_px: int) -> str | None:
    """Draw the boxes of the first still that the most suspect face is seen in; without faces, the first still."""
    first = next((still for still in stills if faces and faces[0].box_at(still.index) is not None), None)
    if first is None and stills:
        first = stills[0]
    return None if first is None else jpeg_uri(_drawn(first, faces), max_side_px=max_side_px)


def _film(stills: Sequence[Still], faces: Sequence[JudgedFace], duration_s: float, threshold: float | None) -> Film:
    by_id = sorted(faces, key=lambda face: face.track.id)
    spans, curves = [], []
    for face in by_id:
        lane, start_s, end_s = f"face {face.track.id}", *(float(ms) / 1000 for ms in face.track.frame_ms[[0, -1]])
        label, score = ("not judged", None) if face.doubt else (f"{score_text(face.score)}", face.score)
        spans.append(Span(lane, start_s, end_s, label, score))
    duration_s = max([duration_s, *(span.end_s for span in spans)])
    for face in [face for face in faces if not face.doubt][:MAX_FACES_SHOWN]:
        x, y = (face.track.crop_ms / 1000).tolist(), face.crop_scores.tolist()
        curves.append(Curve(f"face {face.track.id}", tuple(x), tuple(y), "time (s)", "score", threshold))
    clip = film_uri(((still.ms, _drawn(still, faces)) for still in stills), 1000 * duration_s)
    timeline = Timeline("Faces", duration_s, tuple(spans))
    scores = " and their scores" if curves else ""
    title = f"The video with the faces{scores}" if faces else "The video"
    return Film(title, timeline, tuple(curves), clip)


def _drawn(still: Still, faces: Sequence[JudgedFace]) -> NDArray[np.uint8]:
    boxes, labels, colours = [], [], []
    for face in faces:
        box = face.box_at(still.index)
        if box is None:
            continue
        score = face.score_at(still.ms)
        boxes.append(box / still.scale)
        labels.append(f"face {face.track.id}" + ("" if score is None else f": {score_text(score)}"))
        colours.append(score_colour(score))
    return outlined(still.rgb, np.array(boxes).reshape(-1, 4), labels, colours)
