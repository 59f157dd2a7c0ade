"""What opened media take and give: limits, what a header says, frames, and pages to draw."""

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from forensix.errors import UsageError

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that an input may be; ``decode_s`` is the longest wait for one decoding.

    Raises
    ------
    UsageError
        One is no number above 0, or infinite.
    """

    max_bytes: int = 32 * 1024**2
    video_s: float = 30 * 60
    video_side_px: int = 2560
    audio_s: float = 20 * 60
    image_pixels: int = 128_000_000
    pdf_pages: int = 5_000
    decode_s: float = 900
    download_s: float = 60

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
                raise UsageError(f"{name} is a finite number above 0, a large one for no limit: got {value!r}")


def limit_text(n_bytes: int) -> str:
    """Return a size as messages on limits give it: in units of 1024, rounded up, so that more never reads as the limit.

    Examples
    --------
    >>> limit_text(32 * 1024**2), limit_text(32 * 1024**2 + 1), limit_text(100 * 1024), limit_text(10)
    ('32 MB', '32.01 MB', '100 KB', '10 bytes')
    """
    unit, size = next(((unit, size) for unit, size in (("MB", 1024**2), ("KB", 1024)) if n_bytes >= size), ("", 1))
    if not unit:
        return f"{n_bytes} byte{'' if n_bytes == 1 else 's'}"
    return f"{math.ceil(100 * n_bytes / size) / 100:,.2f}".rstrip("0").rstrip(".") + f" {unit}"


@dataclass(frozen=True, slots=True)
class MediaInfo:
    """What the header says, as displayed (turned, with square pixels); None where it does not say.

    How long it lasts is counted where the header does not say.
    """

    width_px: int | None = None
    height_px: int | None = None
    duration_s: float | None = None
    frame_rate_hz: float | None = None
    n_frames: int | None = None
    has_video: bool = False
    has_audio: bool = False
    sample_rate_hz: int | None = None
    channels: int | None = None
    video_codec: str | None = None
    audio_codec: str | None = None
    n_pages: int | None = None
    n_video_streams: int = 0
    n_audio_streams: int = 0
    n_unread_video_streams: int | None = None
    n_unread_audio_streams: int | None = None
    """Further ones, of codecs that there is no decoder for; None where there are none."""
    has_clip: bool = False
    """Whether a video stands behind a JPEG or HEIF picture, as in motion photos."""

    def left_out(self, format: str) -> list[str]:
        """Return what of a file no analysis looks at, one sentence each.

        The further pictures of a JPEG file are depth and gain maps or another eye's view, which viewers do not show.
        """
        sentences, only = [], "of which only the"
        videos, sounds = self.n_video_streams, self.n_audio_streams
        if not self.has_video and format != "jpeg" and (self.n_frames or 1) > 1:
            which = "main" if format == "heif" else "first"
            sentences.append(f"the file holds {self.n_frames} pictures, {only} {which} one was looked at")
        if self.has_clip:
            sentences.append("the file holds a video behind the picture (a motion photo), which was not looked at")
        if videos > 1:
            sentences.append(f"the file holds {videos} video streams, {only} one played first was looked at")
        if sounds > 1:
            sentences.append(f"the file holds {sounds} audio streams, {only} one played first was heard")
        for what, unread in (("video", self.n_unread_video_streams), ("audio", self.n_unread_audio_streams)):
            if unread:
                plural = "s" if unread > 1 else ""
                sentences.append(f"{unread} {what} stream{plural} of an unknown codec could not be decoded")
        return sentences


@dataclass(frozen=True, eq=False, slots=True)
class Frame:
    """One frame: ``index`` counts those of the original, ``rgb`` is uint8 (H, W, 3), ``scale`` original / returned.

    ``following`` are the next frames, where they were asked for, of the same shape.
    """

    index: int
    ms: float
    rgb: "np.ndarray"
    scale: float = 1.0
    following: "tuple[np.ndarray, ...]" = ()


@dataclass(frozen=True, slots=True)
class PageJob:
    """A page of a PDF to draw: its number from 1, and places on it, (x0, y0, x1, y1) in points.

    ``end_offset`` is where an earlier version ends, in bytes; None is the last one.
    """

    number: int
    end_offset: int | None = None
    boxes: tuple[tuple[float, ...], ...] = ()


@dataclass(frozen=True, eq=False, slots=True)
class DrawnPage:
    """What came of a job: ``rgb``, uint8 (H, W, 3), None where there is no such page, and its places in pixels.

    ``text`` is that of a page of a version, as it is stored; of the last one, drawn without naming a version, it is
    empty.
    """

    job: int
    rgb: "np.ndarray | None"
    boxes: "np.ndarray"
    text: str = ""
