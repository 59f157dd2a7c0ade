"""Pictures with times to a short film that plays in a page, and back: MP4 as a data URI."""

import base64
import io
from collections.abc import Iterable, Iterator
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

_TICKS_HZ = 1000


def film_uri(pictures: Iterable[tuple[float, NDArray[np.uint8]]], end_ms: float) -> str:
    """Return a film that shows each picture from its time until that of the next, and the last until the end.

    Parameters
    ----------
    pictures
        Time in milliseconds and uint8 (H, W, 3) RGB, in order of time, all of one size.
    end_ms
        When the film ends.

    Returns
    -------
    A data URI of H.264 in MP4, without sound; empty without pictures.
    """
    import av

    target = io.BytesIO()
    last: NDArray[np.uint8] | None = None
    last_ms = -1
    with av.open(target, "w", format="mp4") as container:
        stream = container.add_stream("libx264", rate=25)
        stream.pix_fmt = "yuv420p"
        stream.options = {"preset": "veryfast", "crf": "28", "threads": "1", "g": "25", "bf": "0"}
        stream.time_base = stream.codec_context.time_base = Fraction(1, _TICKS_HZ)

        def add(rgb: NDArray[np.uint8], ms: int) -> None:
            frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(rgb), format="rgb24")
            frame.pts, frame.time_base = ms, Fraction(1, _TICKS_HZ)
            container.mux(stream.encode(frame))

        for ms, rgb in pictures:
            # The codec halves the resolution of colour.
            last = rgb[: rgb.shape[0] // 2 * 2, : rgb.shape[1] // 2 * 2]
            if last_ms < 0:
                stream.height, stream.width = last.shape[:2]
            last_ms = max(round(ms), last_ms + 1)
            add(last, last_ms)
        if last is None:
            return ""
        if _closing_ms(end_ms) > last_ms:
            add(last, _closing_ms(end_ms))
        container.mux(stream.encode(None))
    return f"data:video/mp4;base64,{base64.b64encode(target.getvalue()).decode()}"


def pictures_of(uri: str, end_ms: float) -> Iterator[tuple[float, NDArray[np.uint8]]]:
    """Yield time in whole milliseconds and picture, uint8 (H, W, 3), of each that `film_uri` made a film of.

    The last picture is not repeated at ``end_ms``, which `film_uri` was given too.
    """
    import av

    with av.open(io.BytesIO(base64.b64decode(uri.partition(",")[2])), "r", format="mp4") as container:
        for number, frame in enumerate(container.decode(video=0)):
            ms = round(1000 * float(frame.time or 0.0))
            if number and ms == _closing_ms(end_ms):
                return
            yield ms, np.asarray(frame.to_ndarray(format="rgb24"), np.uint8)


def _closing_ms(end_ms: float) -> int:
    """Return when the last picture is repeated, so that it is shown until the end."""
    return round(end_ms) - 1
