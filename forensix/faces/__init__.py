"""Faces: find and follow them, and tell whether they were manipulated.

>>> from forensix.media import open_media
>>> from forensix.faces import forensix_face, track
>>> with open_media("clip.mp4") as media:            # doctest: +SKIP
...     tracks = track(media)
>>> forensix_face().score(tracks[0].crops)           # doctest: +SKIP
"""

from forensix.faces.classify import FaceClassifier, forensix_face
from forensix.faces.detect import Detections, detect, landmarks
from forensix.faces.track import FaceTrack, track, track_frames

__all__ = [
    "Detections",
    "FaceClassifier",
    "FaceTrack",
    "detect",
    "forensix_face",
    "landmarks",
    "track",
    "track_frames",
]
