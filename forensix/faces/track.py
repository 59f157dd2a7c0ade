"""Follow each face of an image or a video: where it is in the frames looked at, and crops of it spread over time.

At most ``MAX_RATE_HZ`` frames a second are looked at, fewer in long videos so that the whole takes bounded time; boxes
between those frames are not invented. The whole frame is searched for faces every ``KEY_S``, where the picture changes
at once, and while a face that was followed is lost; in the other frames each face is only followed, from where it was
(`FaceDetector.follow`). A face that is lost for up to ``MAX_GAP_S``, or in one frame looked at, is picked up again. A
track says nothing about real or fake. It fails when two like faces cross between two frames looked at, and splits when
a face turns away for long; a face that comes into view slowly is found up to ``KEY_S`` late. What is seen once is
dropped, unless no frame was looked at near enough to show it again. An image that shows no upright face is turned
(`forensix.faces.turned`); in a video no face is found that lies on its side.

Memory does not grow with duration beyond a few numbers a detection: at most ``MAX_TRACKS`` tracks of ``MAX_CROPS``
crops.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from forensix.faces.detect import MAX_SIDE_PX, Detections, FaceDetector, mtcnn
from forensix.faces.linking import Linker
from forensix.faces.sampling import MAX_RATE_HZ, follow_s, sampling_rate_hz, thinned
from forensix.faces.steadiness import N_VALUES
from forensix.faces.stills import Still, Stills
from forensix.faces.turned import surest_turn, turned, turned_back
from forensix.media.ahead import read_ahead

if TYPE_CHECKING:
    from forensix.media import Frame, Media

KEY_S = 2.0
"""Time between two searches of the whole frame while faces are followed."""

EMPTY_KEY_S = 0.4
"""The same while there is none to follow."""

MAX_GAP_S = 1.0
MAX_CROPS = 16

IMAGE_SIDE_PX = 1280
VIDEO_SIDE_PX = 1280
"""Frames are decoded at most this large: enough for crops at full sharpness of any face a tenth of the frame wide."""

_CHANGE = 20.0
"""Mean difference of two frames, in grey levels, from which the picture has changed at once."""

_COARSE = 32
_AHEAD = 8
_SEEN_TWICE_FRAMES = 3


@dataclass(frozen=True, eq=False)
class FaceTrack:
    """One face over the frames in which it was found.

    boxes (n, 4) float xyxy in pixels of the frame as players show it, scores (n,) of the detector, frame_idx (n,) and
    frame_ms (n,) in the original video. ``kept`` (k,) says which of the n were kept as ``crops``, uint8
    (k, 224, 224, 3) as `forensix.faces.align` cuts them, with ``windows`` of the same shape, which show the face as it
    lies in the frame that was looked at (`forensix.faces.crop.window`), ``landmarks`` (k, 5, 2) in pixels of the
    original frame and ``detail_gaps`` (k,), how much less fine detail the face holds than its surroundings
    (`forensix.faces.detail_gap`): NaN where that cannot be told, in most crops of a longer track (`linking.GAP_EVERY`),
    and in an image. ``steadiness`` (m, 12) says of some frames how steady the face is from there to the next ones
    (`forensix.faces.steadiness`); there is none in an image.
    ``frame_rate_hz`` is the video's own rate, 0 for an image. ``id`` counts from 0, the most prominent face first.
    ``turns`` is after how many quarter turns to the left of an image the face was found: crops show it upright.
    """

    id: int
    boxes: np.ndarray
    scores: np.ndarray
    frame_idx: np.ndarray
    frame_ms: np.ndarray
    frame_rate_hz: float
    kept: np.ndarray
    crops: np.ndarray
    windows: np.ndarray
    landmarks: np.ndarray
    detail_gaps: np.ndarray
    steadiness: np.ndarray
    turns: int = 0

    def __len__(self) -> int:
        return len(self.boxes)

    @property
    def views(self) -> np.ndarray:
        """Each crop with its window, uint8 (k, 2, 224, 224, 3)."""
        return np.stack([self.crops, self.windows], axis=1)

    @property
    def crop_ms(self) -> np.ndarray:
        """Time of each crop in the original video, float (k,), milliseconds."""
        times: np.ndarray = self.frame_ms[self.kept]
        return times

    @property
    def mean_size_px(self) -> tuple[float, float]:
        """Average width and height of the boxes."""
        width, height = (self.boxes[:, 2:] - self.boxes[:, :2]).mean(axis=0)
        return float(width), float(height)


def track(
    media: "Media",
    *,
    detector: FaceDetector | None = None,
    progress: Callable[[float], None] | None = None,
) -> tuple[FaceTrack, ...]:
    """Find and follow the faces of an image or a video.

    Parameters
    ----------
    media
        An opened image or video; an image is a video of one frame.
    detector
        What finds and follows faces; by default the embedded MTCNN.
    progress
        Called with the share of the duration that was followed, in [0, 1].

    Returns
    -------
    Tracks, most prominent first (number of detections times mean area); empty where there is no face.
    """
    return _followed(media, detector, progress)[1]


def stills(media: "Media", *, detector: FaceDetector | None = None) -> tuple[Still, ...]:
    """Return small pictures of the frames that `track` looked at with the same detector, at most ``MAX_STILLS``."""
    return _followed(media, detector, None)[2]


def track_picture(rgb: np.ndarray, *, detector: FaceDetector | None = None) -> tuple[FaceTrack, ...]:
    """Return the faces of a picture, uint8 (H, W, 3), found and cut as `track` does those of an image."""
    from forensix.media import Frame

    return _of_image([Frame(0, 0.0, rgb)], detector)


_Followed = tuple[FaceDetector, tuple[FaceTrack, ...], tuple[Still, ...]]
"""The detector is kept with what it found, so that no other can come to have its id."""


def _followed(media: "Media", detector: FaceDetector | None, progress: Callable[[float], None] | None) -> _Followed:
    detector = detector or mtcnn()
    return media.memo(f"faces.track:{id(detector)}", lambda: _follow(media, detector, progress))


def track_frames(
    frames: "Iterable[Frame]",
    *,
    detector: FaceDetector | None = None,
    frame_rate_hz: float = 0.0,
    interval_s: float = 1 / MAX_RATE_HZ,
    duration_s: float | None = None,
    max_crops: int = MAX_CROPS,
    max_side_px: int = MAX_SIDE_PX,
    measures_gaps: bool = True,
) -> tuple[FaceTrack, ...]:
    """Follow faces over frames that come in order of time; see `track`.

    ``interval_s`` is the time between frames, ``duration_s`` how long they go on, where that is known: fewer crops are
    then cut in vain. ``max_side_px`` is the size at which whole frames are searched; ``measures_gaps`` says whether the
    gap of fine detail is measured.
    """
    detector = detector or mtcnn()
    linker = Linker(
        max_gap_ms=1000 * max(MAX_GAP_S, 2.5 * interval_s),
        max_crops=max_crops,
        n_expected=int((duration_s or 0.0) / interval_s),
        measures_gaps=measures_gaps,
    )
    searched_ms, before = -np.inf, None
    for frame in frames:
        now = _coarse(frame.rgb)
        followed = linker.current
        is_due = frame.ms - searched_ms >= 1000 * (KEY_S if followed else EMPTY_KEY_S) - 1
        is_due |= len(followed) < len(linker.near(frame.ms))
        has_changed = before is None or bool(np.abs(now - before).mean() > _CHANGE)
        before = now
        if not is_due and not has_changed:
            expected = np.array([one.expected(frame.ms) for one in followed]).reshape(-1, 4) / frame.scale
            # A face that was on its way out is looked for at the edge.
            expected = _pulled_in(expected, frame.rgb.shape)
            if linker.add(frame, detector.follow(frame.rgb, expected), unless_lost=True):
                continue
        searched_ms = frame.ms
        linker.add(frame, _searched(frame.rgb, detector, max_side_px))
    return _finished(linker, frame_rate_hz)


def _pulled_in(boxes: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Shift boxes, float (n, 4), so that their middles lie in a picture of a shape (H, W, 3)."""
    middles = (boxes[:, :2] + boxes[:, 2:]) / 2
    shifted: np.ndarray = boxes + np.tile(np.clip(middles, 0, (shape[1], shape[0])) - middles, 2)
    return shifted


def _searched(rgb: np.ndarray, detector: FaceDetector, max_side_px: int) -> Detections:
    """Find the faces of a whole frame; boxes and points come from the same last step as of faces that are followed."""
    first = detector.detect([rgb], max_side_px=max_side_px)[0]
    again = detector.follow(rgb, first.boxes)
    lost = again.scores == 0
    return Detections(
        np.where(lost[:, None], first.boxes, again.boxes),
        first.scores,
        np.where(lost[:, None, None], first.landmarks, again.landmarks),
    )


def _follow(media: "Media", detector: FaceDetector, progress: Callable[[float], None] | None) -> _Followed:
    stills = Stills()
    reported = partial(_reported, stills=stills, duration_s=media.info.duration_s, progress=progress)
    if media.kind == "image":
        pictures = list(reported(media.frames()))
        tracks = _of_image(pictures, detector) or _of_turned(pictures, detector)
    else:
        rate_hz = sampling_rate_hz(media.info.duration_s)
        apart_s = follow_s(media.info.duration_s, rate_hz)
        frames = media.frames(rate_hz=rate_hz, max_side_px=VIDEO_SIDE_PX, follow_s=apart_s)
        with closing(read_ahead(frames, _AHEAD)) as ahead:
            tracks = track_frames(
                reported(thinned(ahead)),
                detector=detector,
                frame_rate_hz=float(media.info.frame_rate_hz or 0.0),
                interval_s=1 / rate_hz,
                duration_s=media.info.duration_s,
            )
    return detector, tracks, tuple(stills.kept)


def _of_image(frames: "Iterable[Frame]", detector: FaceDetector | None) -> tuple[FaceTrack, ...]:
    return track_frames(frames, detector=detector, max_side_px=IMAGE_SIDE_PX, measures_gaps=False)


def _of_turned(frames: "Sequence[Frame]", detector: FaceDetector) -> tuple[FaceTrack, ...]:
    """Return the faces of an image that shows none upright, after the turn that shows the surest one."""
    for frame in frames:
        if turns := surest_turn(frame.rgb, detector):
            tracks = _of_image([replace(frame, rgb=turned(frame.rgb, turns))], detector)
            return tuple(turned_back(one, turns, frame) for one in tracks)
    return ()


def _reported(
    frames: "Iterable[Frame]", stills: Stills, duration_s: float | None, progress: Callable[[float], None] | None
) -> "Iterator[Frame]":
    """Pass frames on, keep stills of them, and say how far it is, a hundred times at most."""
    reported = -1.0
    for frame in frames:
        stills.add(frame)
        if progress is not None and duration_s and (share := min(1.0, frame.ms / 1000 / duration_s)) - reported >= 0.01:
            progress(reported := share)
        yield frame


def _coarse(rgb: np.ndarray) -> np.ndarray:
    """Return some grey values spread over the frame, at the same places in every frame of one size: float."""
    height, width = rgb.shape[:2]
    rows, columns = (np.linspace(0, n - 1, _COARSE).round().astype(int) for n in (height, width))
    grey: np.ndarray = rgb[np.ix_(rows, columns)].mean(axis=2)
    return grey


def _finished(linker: Linker, frame_rate_hz: float) -> tuple[FaceTrack, ...]:
    # In a video a face is there in more than one frame; what is seen once is mostly not a face.
    least = 2 if len(linker.times_ms) >= _SEEN_TWICE_FRAMES else 1
    tracks = [one for one in linker.done + linker.active if len(one.boxes) >= least or linker.is_alone(one.frame_ms[0])]
    tracks.sort(key=lambda one: (-one.prominence, one.frame_idx[0]))
    return tuple(
        FaceTrack(
            id=number,
            boxes=np.array(one.boxes),
            scores=np.array(one.scores),
            frame_idx=np.array(one.frame_idx, dtype=np.int64),
            frame_ms=np.array(one.frame_ms),
            frame_rate_hz=frame_rate_hz,
            kept=np.array(one.kept, dtype=np.int64),
            crops=np.array(one.crops),
            windows=np.array(one.windows),
            landmarks=np.array(one.landmarks),
            detail_gaps=np.array(one.detail_gaps),
            steadiness=np.array(one.steadiness, dtype=np.float64).reshape(-1, N_VALUES),
        )
        for number, one in enumerate(tracks)
    )
