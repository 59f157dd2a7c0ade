"""Degradations of videos: compressed again, or scaled and compressed, from file to file. Runs in the sandbox.

Frames are encoded as H.264 by one thread, so that equal files give equal results, at the times that they had; sound is
copied as it is. Metadata of the original is left behind.
"""

from fractions import Fraction
from typing import Any

import av
import numpy as np
from av.video.reformatter import VideoReformatter

from forensix.errors import BrokenMedia
from forensix.media import streams
from forensix.media.played import begins_s

_MS = Fraction(1, 1000)
CRF = 18.0
"""Little loss of its own, so that scaling shows what scaling does."""
_X264 = {"preset": "veryfast", "x264-params": "mbtree=0"}
"""With its macroblock tree x264 wrote other bytes in two runs of three, by one thread too."""
_CARRIED = ("aac", "mp3", "mp3float", "opus", "vorbis", "flac", "alac", "ac3", "pcm_s16le")
"""Sound that is copied; others are left out."""


def encode(source: dict[str, str], limits: dict[str, float], target: str, settings: dict[str, float]) -> int:
    """Write ``source`` to the Matroska file ``target`` and return the number of frames.

    ``settings`` may hold ``crf``, the quality of x264 (18, the default, looks like the original, 51 is the worst), and
    ``factor``, which scales both sides.
    """
    crf, factor = settings.get("crf", CRF), settings.get("factor", 1.0)
    n, last_ms = 0, -1
    with av.open(target, "w", format="matroska", options={"fflags": "bitexact"}) as out:
        video: Any = None
        sound = _Sound(source, out)
        reformatter = VideoReformatter()
        for item in streams.frames(source, limits, None, None):
            if isinstance(item, list) and len(item) == 5 and isinstance(item[2], np.ndarray):
                _, ms, rgb, *_ = item
                if video is None:
                    height, width = (max(2, 2 * round(side * factor / 2)) for side in rgb.shape[:2])
                    video = out.add_stream("libx264", rate=25, options={"crf": f"{crf:g}", **_X264})
                    video.width, video.height, video.pix_fmt = width, height, "yuv420p"
                    video.codec_context.time_base = _MS
                    video.codec_context.thread_count = 1
                frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(rgb), format="rgb24")
                frame = reformatter.reformat(frame, video.width, video.height, "yuv420p", interpolation="BICUBIC")
                last_ms = max(round(ms), last_ms + 1)
                frame.pts, frame.time_base = last_ms, _MS
                out.mux(video.encode(frame))
                n += 1
        if video is None:
            raise BrokenMedia(f"{source['name']} holds no frame that can be decoded")
        out.mux(video.encode(None))
        sound.copy()
    return n


class _Sound:
    """The first audio stream, copied without decoding; its stream is added before the first frame is written."""

    def __init__(self, source: dict[str, str], out: Any) -> None:
        self._file = open(source["path"], "rb")  # noqa: SIM115
        self._out = out
        self._container = streams.open_container(self._file, source)
        known = (s for s in self._container.streams.audio if s.codec_context and s.codec_context.name in _CARRIED)
        self._from = next(known, None)
        self._to = None if self._from is None else out.add_stream_from_template(self._from)

    def copy(self) -> None:
        """Write all packets."""
        try:
            if self._from is None:
                return
            begins = begins_s(self._container)
            for packet in self._container.demux(self._from):
                if packet.dts is not None and packet.pts is not None:
                    # As the frames: from where the file begins to play.
                    earlier = round(begins / packet.time_base)
                    packet.pts, packet.dts = packet.pts - earlier, packet.dts - earlier
                    packet.stream = self._to
                    self._out.mux(packet)
        except av.error.FFmpegError:
            # A damaged end: what came before it is there.
            return
        finally:
            self._container.close()
            self._file.close()
