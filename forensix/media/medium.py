"""An opened medium: what it is, and its pixels, frames and samples, decoded in the sandbox when asked for.

One whose header cannot be read has ``broken`` saying what is wrong, so that its structure can be examined; pixels,
frames and samples then raise that.
"""

import contextlib
import os
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from forensix.errors import BrokenMedia, InputChanged, InputNotFound, UnsupportedMedia
from forensix.media import sniff
from forensix.media.sandbox import call, stream
from forensix.media.values import DrawnPage, Frame, Limits, MediaInfo, PageJob
from forensix.schema import MediaKind

if TYPE_CHECKING:
    import numpy as np

T = TypeVar("T")

STREAM_BYTES = 2 << 30
"""Memory of a decoder: frames of 2560p by two threads reserve 0.4 GB."""
_IMAGE_S = 120.0
_PAGES_S = 60.0
_SHARED_PIXELS = 16_000_000
"""A larger picture that is wanted small is shrunk where it is decoded: it would be slow to send and to hold."""
# A progressive picture of the largest size holds its coefficients beside its pixels.
_IMAGE_BYTES = 3 << 30


class Media:
    """An opened input; made by ``open_media``. Close it, or use it in a ``with`` statement.

    ``written`` says what forensix wrote the file from, where an array or a PIL picture was given instead of one.
    """

    def __init__(
        self,
        *,
        source: str,
        path: Path,
        name: str,
        kind: MediaKind,
        format: str,
        mime: str,
        size_bytes: int,
        sha256: str,
        info: MediaInfo,
        broken: str | None,
        only_named: bool,
        limits: Limits,
        resources: contextlib.ExitStack,
        written: str | None = None,
        state: tuple[int, ...] | None = None,
    ) -> None:
        self.source, self.path, self.name = source, path, name
        self.kind, self.format, self.mime = kind, format, mime
        self.size_bytes, self.sha256 = size_bytes, sha256
        self.info, self.broken, self.only_named, self.limits = info, broken, only_named, limits
        self.written = written
        self._state = state
        self._warnings = info.left_out(format)
        self._memo: dict[str, Any] = {}
        self._lock, self._making = threading.Lock(), dict[str, threading.RLock]()
        # Also at exit, and when a Media is dropped without being closed.
        self._finalizer = weakref.finalize(self, resources.close)

    def __repr__(self) -> str:
        return f"Media({self.name!r}, kind={self.kind!r}, format={self.format!r}, size_bytes={self.size_bytes})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Forget what was memoised and delete temporary files; arrays already handed out stay valid."""
        self._memo.clear()
        self._finalizer()

    @property
    def warnings(self) -> tuple[str, ...]:
        """What is left out of the analysis, and what decoding had to leave out so far, one sentence each."""
        return tuple(self._warnings)

    def image(self) -> "np.ndarray":
        """Return the picture, uint8 (H, W, 3) RGB, orientation applied; the first frame of an animation.

        Raises
        ------
        UnsupportedMedia
            For anything but an image.
        BrokenMedia
            When it cannot be decoded in full.
        """
        if self.kind != "image":
            raise UnsupportedMedia(f"{self._short_name} is {_article(self.kind)}, not an image")
        rgb: np.ndarray = self.memo("media.image", lambda: self._decode_image(None))
        # A copy each, so that one task cannot paint into what another will see.
        return rgb.copy()

    def clear_share(self) -> float:
        """Return the share of a picture's pixels that are wholly transparent, [0, 1]; the first frame's."""
        share: float = call(
            "forensix.media.images:clear_share",
            self.for_decoder(),
            self.limits.image_pixels,
            timeout_s=_IMAGE_S,
            memory_bytes=_IMAGE_BYTES,
            modules=("numpy",),
        )
        return share

    def frames(
        self, *, rate_hz: float | None = None, max_side_px: int | None = None, follow_s: float | None = None
    ) -> Iterator[Frame]:
        """Yield the frames in order, decoded while they are consumed; an image yields one.

        ``rate_hz`` keeps at most so many frames per second of video, evenly; ``max_side_px`` bounds the longer side.
        All frames of a video have one size. Every ``follow_s``, where it is given, a frame comes with the two that
        follow it at least 0.03 s apart, if there are such before the next one that is kept.

        Raises
        ------
        UnsupportedMedia
            For sound and documents.
        BrokenMedia
            When no frame can be decoded.
        LimitExceeded
            When the video turns out to be longer or larger than its header said.
        """
        if rate_hz is not None and not rate_hz > 0:
            raise ValueError(f"rate_hz must be above 0, got {rate_hz}")
        if max_side_px is not None and max_side_px < 1:
            raise ValueError(f"max_side_px must be at least 1, got {max_side_px}")
        if self.kind == "image":
            return self._image_frame(max_side_px)
        if self.kind != "video":
            raise UnsupportedMedia(f"{self._short_name} is {_article(self.kind)} and has no pictures to analyse")
        return self._video_frames(rate_hz, max_side_px, follow_s)

    def pages(
        self, jobs: Sequence[PageJob], *, max_side_px: int, timeout_s: float | None = None
    ) -> Iterator[DrawnPage]:
        """Yield pages of a PDF as a viewer shows them, in the order of the jobs, without those that fail.

        ``timeout_s`` is for all of them; it is a minute where it is left out.

        Raises
        ------
        UnsupportedMedia
            For anything but a PDF.
        BrokenMedia
            When drawing takes too long, or the program that draws breaks down.
        """
        import numpy as np

        if self.kind != "pdf":
            raise UnsupportedMedia(f"{self._short_name} is {_article(self.kind)} and has no pages")
        asked = [{"page": job.number, "end": job.end_offset, "boxes": [list(box) for box in job.boxes]} for job in jobs]
        items = stream(
            "forensix.media.paper:draw", self.for_decoder(), asked, max_side_px, timeout_s=timeout_s or _PAGES_S
        )
        with contextlib.closing(items):  # type: ignore[type-var]
            for item in items:
                boxes = np.array(item["boxes"], np.float64).reshape(-1, 4)
                yield DrawnPage(item["job"], item["rgb"], boxes, item["text"])

    def samples(self) -> "np.ndarray":
        """Return the sound that a player starts with, int16 mono at 16 kHz, (n,), read-only.

        ``samples / 32768`` is in [-1, 1). They lie in a temporary file that is mapped, so that memory does not grow
        with the duration.

        Raises
        ------
        UnsupportedMedia
            When there is no sound.
        BrokenMedia
            When none of it can be decoded.
        LimitExceeded
            When it turns out to be longer than its header said.
        """
        if self.kind not in ("audio", "video"):
            raise UnsupportedMedia(f"{self._short_name} is {_article(self.kind)} and has no sound")
        samples: np.ndarray = self.memo("media.samples", self._decode_samples)
        return samples

    def change(self, *, reread: bool = False) -> InputChanged | None:
        """Return what to raise where the file no longer holds the bytes that its SHA-256 is of, or cannot be read.

        One whose status is what it was is taken as unchanged, unless ``reread``: a disk or network that fails shows
        when the bytes are asked for.
        """
        if self._state is None:
            return None
        try:
            status = self.path.stat()
            if not reread and state_of(status) == self._state:
                return None
            with sniff.open_regular(self.path, self.name) as file:
                if status.st_size == self.size_bytes and sniff.sha256_of(file) == self.sha256:
                    return None
        except (OSError, InputNotFound) as error:
            if self.path.exists():
                return InputChanged(f"{self._short_name} could no longer be read while it was analysed: {error}")
            return InputChanged(
                f"{self._short_name} was moved or deleted while it was analysed, or its disk taken away"
            )
        return InputChanged(
            f"{self._short_name} was changed while it was analysed, so nothing is said of it: analyse it again once it"
            " is whole, or a copy that nothing writes to"
        )

    def memo(self, key: str, make: Callable[[], T]) -> T:
        """Return ``make()``, called once per ``key`` until the medium is closed; errors are not kept.

        Threads that ask for the same wait for the first; other keys are made meanwhile.
        """
        with self._lock:
            making = self._making.setdefault(key, threading.RLock())
        with making:
            if key not in self._memo:
                self._memo[key] = make()
            value: T = self._memo[key]
            return value

    @property
    def _short_name(self) -> str:
        return sniff.shorten(self.name)

    def for_decoder(self) -> dict[str, str]:
        """Return what a decoder in the child process is told of the file.

        Raises
        ------
        ValueError
            The medium is closed.
        BrokenMedia
            It holds nothing to decode.
        """
        if not self._finalizer.alive:
            raise ValueError(f"{self._short_name} is closed; open it again")
        if self.broken:
            raise BrokenMedia(self.broken)
        return described(self.path, self.format, self.mime, self.name)

    def _warn(self, warnings: list[str]) -> None:
        self._warnings += [text for text in warnings if text not in self._warnings]

    def _decode_image(self, max_side_px: int | None) -> "np.ndarray":
        decoded = call(
            "forensix.media.images:decode",
            self.for_decoder(),
            self.limits.image_pixels,
            max_side_px,
            timeout_s=_IMAGE_S,
            memory_bytes=_IMAGE_BYTES,
            modules=("numpy",),
        )
        self._warn(decoded["warnings"])
        rgb: np.ndarray = decoded["rgb"]
        return rgb

    def _image_frame(self, max_side_px: int | None) -> Iterator[Frame]:
        sides = (self.info.height_px or 0, self.info.width_px or 0)
        if max_side_px is None or max(sides) <= max_side_px:
            yield Frame(0, 0.0, self.image())
            return
        if sides[0] * sides[1] <= _SHARED_PIXELS:
            from forensix.media.images import shrunk

            # Others want the whole of it as well: decoded once for all.
            rgb = shrunk(self.image(), max_side_px)
        else:
            rgb = self._decode_image(max_side_px)
        yield Frame(0, 0.0, rgb, max(sides) / max(rgb.shape[:2]))

    def _video_frames(self, rate_hz: float | None, max_side_px: int | None, follow_s: float | None) -> Iterator[Frame]:
        items = self._stream("frames", rate_hz, max_side_px, follow_s)
        with contextlib.closing(items):  # type: ignore[type-var]
            for index, ms, rgb, scale, following in items:
                yield Frame(index, ms, rgb, scale, tuple(following))

    def _decode_samples(self) -> "np.ndarray":
        import numpy as np

        # Without a name from the start: it goes when the last array over it goes, whatever happens to us.
        with tempfile.TemporaryFile(prefix="forensix-") as file:
            n_samples = 0
            for chunk in self._stream("samples"):
                file.write(chunk.astype("<i2", copy=False).tobytes())
                n_samples += chunk.size
            file.flush()
            return np.memmap(file, dtype="<i2", mode="r", shape=(n_samples,))

    def _stream(self, function: str, *args: object) -> Iterator[Any]:
        """Yield what a function of ``streams`` yields, and keep the warnings that it yields last."""
        items = stream(
            f"forensix.media.streams:{function}",
            self.for_decoder(),
            asdict(self.limits),
            *args,
            timeout_s=self.limits.decode_s,
            memory_bytes=STREAM_BYTES,
        )
        with contextlib.closing(items):  # type: ignore[type-var]
            for item in items:
                if isinstance(item, list) and all(isinstance(text, str) for text in item):
                    self._warn(item)
                else:
                    yield item


def state_of(status: os.stat_result) -> tuple[int, ...]:
    """Return what of a file's status differs once it was written to or replaced, and where only its name was."""
    # Its time of content can be set back, as by what copies it; its time of status cannot.
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def described(path: Path, slug: str, mime: str, name: str) -> dict[str, str]:
    """Return what functions in the sandbox are told of a file; absolute, since they run in another folder."""
    return {"path": str(path.absolute()), "slug": slug, "mime": mime, "name": sniff.shorten(name)}


def _article(kind: str) -> str:
    return {"image": "an image", "video": "a video", "audio": "an audio recording", "pdf": "a PDF document"}[kind]
