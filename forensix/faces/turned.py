"""Pictures that lie on their side or stand on their head, turned until the faces in them stand upright.

A detector of faces knows upright ones. Scans lie in any way, and what passes pictures on drops the tag that says how
they are to be shown.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from forensix.faces.crop import resized

if TYPE_CHECKING:
    from forensix.faces.detect import FaceDetector
    from forensix.faces.track import FaceTrack
    from forensix.media import Frame

SIDE_PX = 640
"""Pictures are searched at most this large after each turn: most have no face at all."""

WORDS = {1: "a quarter to the left", 2: "by half", 3: "a quarter to the right"}


def turned(rgb: NDArray[np.uint8], turns: int) -> NDArray[np.uint8]:
    """Return a picture, uint8 (H, W, 3), after so many quarter turns to the left."""
    return np.ascontiguousarray(np.rot90(rgb, turns)) if turns else rgb


def surest_turn(rgb: NDArray[np.uint8], detector: "FaceDetector") -> int:
    """Return after how many quarter turns to the left a picture shows the surest face; 0 where none shows any."""
    height, width = rgb.shape[:2]
    scale = min(1.0, SIDE_PX / max(height, width))
    small = resized(rgb, (max(1, round(width * scale)), max(1, round(height * scale)))) if scale < 1 else rgb
    scores = {0: 0.0}
    for turns in WORDS:
        (faces,) = detector.detect([turned(small, turns)], max_side_px=SIDE_PX)
        scores[turns] = float(faces.scores.max(initial=0.0))
    return max(scores, key=lambda turns: scores[turns])


def turned_back(face: "FaceTrack", turns: int, frame: "Frame") -> "FaceTrack":
    """Return a face that was found after so many quarter turns, with its places as they are in the frame itself."""
    height, width = (side * frame.scale for side in frame.rgb.shape[:2])
    corners = _turned_back(face.boxes.reshape(-1, 2, 2), turns, width, height)
    boxes = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
    landmarks = _turned_back(face.landmarks, turns, width, height)
    return replace(face, boxes=boxes, landmarks=landmarks, turns=turns)


def _turned_back(points: NDArray[np.floating], turns: int, width: float, height: float) -> NDArray[np.floating]:
    """Return points (..., 2) xy of a turned picture as they lie in the one of a width and a height."""
    x, y = points[..., 0], points[..., 1]
    places = {1: (width - y, x), 2: (width - x, height - y), 3: (y, height - x)}
    return np.stack(places[turns], axis=-1)
