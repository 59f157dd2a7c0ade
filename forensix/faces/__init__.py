"""Faces: find and follow them, and tell whether they were manipulated.

>>> from forensix.media import open_media
>>> from forensix.faces import forensix_face, track
>>> with open_media("forensix-demo/moving-face.mp4") as media:  # doctest: +SKIP
...     tracks = track(media)
>>> forensix_face().score(tracks[0].views)  # doctest: +SKIP
"""

from forensix.faces.align import aligned
from forensix.faces.classify import FaceClassifier, forensix_face
from forensix.faces.detail_gap import detail_gap
from forensix.faces.detect import Detections, FaceDetector, detect, landmarks
from forensix.faces.ffhq import is_ffhq_aligned
from forensix.faces.regions import RegionDetector, forensix_face_regions
from forensix.faces.stills import Still
from forensix.faces.track import FaceTrack, stills, track, track_frames, track_picture

__all__ = [
    "Detections",
    "FaceClassifier",
    "FaceDetector",
    "FaceTrack",
    "RegionDetector",
    "Still",
    "aligned",
    "detail_gap",
    "detect",
    "forensix_face",
    "forensix_face_regions",
    "is_ffhq_aligned",
    "landmarks",
    "stills",
    "track",
    "track_frames",
    "track_picture",
]
