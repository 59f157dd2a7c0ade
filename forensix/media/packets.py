"""Frames out of one stream's packets: what is damaged is counted, every frame has its time; runs in the sandbox."""

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import av

from forensix.media.channels import channels, like
from forensix.media.played import LATE_S, begins_s

# Two, whatever the machine: enough to overlap, and damaged streams decode alike everywhere.
_THREADS = 2
_AT_ONCE = 1 << 14
_PLANES = 8
"""PyAV reads beyond the list of planes where there are so many, which ends the process."""

_ANEW_MS = 1000.0
"""Time stamps that fall back by more begin anew."""


class Decoding:
    """Decoded frames with their numbers in the stream; what cannot be decoded is counted, not raised."""

    def __init__(self, container: Any, stream: Any) -> None:
        self._container, self._stream = container, stream
        self._n_damaged, self._ends_badly = 0, False
        self.is_empty = True
        """Whether no stream held a packet so far."""
        self.ends_s = 0.0
        """How long any stream goes on so far, from where the file begins: a stream may end before its file does."""
        stream.thread_type = "AUTO"
        stream.codec_context.thread_count = _THREADS

    def __iter__(self) -> Iterator[tuple[int, Any]]:
        index = 0
        for decode in self._steps():
            try:
                decoded = decode()
            except av.error.FFmpegError:
                self._n_damaged += 1
                index += 1
                continue
            for frame in decoded:
                if frame.is_corrupt:
                    self._n_damaged += 1
                else:
                    yield index, frame
                index += 1

    def _steps(self) -> Iterator[Callable[[], list[Any]]]:
        try:
            streams, begins = self._container.streams, begins_s(self._container)
            for packet in self._container.demux(*streams.video, *streams.audio):
                # The last of each stream holds nothing: it has the decoder hand out what it still has.
                self.is_empty = self.is_empty and not packet.size
                if packet.pts is not None and packet.time_base is not None:
                    end_s = float((packet.pts + (packet.duration or 0)) * packet.time_base) - begins
                    self.ends_s = max(self.ends_s, end_s)
                if packet.stream.index == self._stream.index:
                    yield packet.decode
        except av.error.FFmpegError:
            self._ends_badly = True
            # What the decoder still holds comes out without the packet that could not be read.
            yield lambda: self._stream.codec_context.decode(None)

    def warnings(self, what: str, missing_s: float) -> list[str]:
        """Return what had to be left out, in sentences; ``missing_s`` is how much of the end is not there."""
        messages = []
        if self._n_damaged:
            plural = "s" if self._n_damaged > 1 else ""
            messages.append(f"{self._n_damaged} damaged {what}{plural} left out")
        if self._ends_badly or missing_s > 0:
            where = f" {missing_s:.1f} s before the end that its header states" if missing_s > 0 else " in damaged data"
            messages.append(f"the file ends{where}; only what comes before was analysed")
        return messages


def packed(frames: Iterable[Any]) -> Iterator[Any]:
    """Yield frames of sound, the channels of eight or more in one plane."""
    form, resampler = None, None
    for frame in frames:
        if not frame.format.is_planar or frame.layout.nb_channels < _PLANES:
            yield frame
            continue
        if form != (frame.format.name, frame.layout.name, frame.sample_rate):
            form = frame.format.name, frame.layout.name, frame.sample_rate
            resampler = av.AudioResampler(format=frame.format.packed.name, layout=frame.layout, rate=frame.sample_rate)
        yield from resampler.resample(frame)  # type: ignore[union-attr]


def resampled(frames: Iterable[Any], form: str, rate_hz: int | None = None) -> Iterator[Any]:
    """Yield the sound of frames as mono samples (n,) of a format, at the rate of the first frame or at another.

    A change of channels or rate within the stream, which no resampler's filter can follow, has a new one begin.
    """
    resampler: Any = None
    kind = None
    for frame in frames:
        rate_hz = rate_hz or frame.sample_rate
        before, kind = kind, (frame.format.name, frame.layout.name, frame.layout.nb_channels, frame.sample_rate)
        if kind != before:
            yield from _rest(resampler)
            resampler = av.AudioResampler(format=form, layout="mono", rate=rate_hz)
        for part in resampler.resample(frame):
            yield part.to_ndarray().reshape(-1)
    yield from _rest(resampler)


def _rest(resampler: Any) -> Iterator[Any]:
    for part in resampler.resample(None) if resampler else ():
        if part is not None:
            yield part.to_ndarray().reshape(-1)


class Bridge:
    """Replaces samples of sound that are no numbers by a straight line between their neighbours, and counts them.

    Left as they are, they would come out of the resampler as clicks at full scale.
    """

    def __init__(self) -> None:
        self._n_bridged = 0

    def over(self, frame: Any) -> Any:
        """Return a frame of sound without NaN or infinity: itself where it holds none."""
        import numpy as np

        if not frame.format.name.startswith(("flt", "dbl")):
            return frame
        samples = frame.to_ndarray()
        if np.isfinite(samples).all():
            return frame
        rows = channels(frame, samples)
        finite = np.isfinite(rows)
        at = np.arange(rows.shape[1])
        bridged = [
            np.interp(at, at[good], row[good]) if good.any() else np.zeros(len(row))
            for row, good in zip(rows, finite, strict=True)
        ]
        self._n_bridged += int((~finite.all(axis=0)).sum())
        return like(frame, np.array(bridged, samples.dtype))

    def warnings(self) -> list[str]:
        """Return how many samples were replaced, in a sentence, or nothing."""
        if not self._n_bridged:
            return []
        if self._n_bridged == 1:
            return ["a sample of sound is no number (NaN or infinite); it was bridged from those beside it"]
        return [
            f"{self._n_bridged} samples of sound are no numbers (NaN or infinite); they were bridged from those beside"
            " them"
        ]


class Pauses:
    """Fills with silence where the time stamps of sound leave some out, so that what comes after keeps its time.

    So it is where recording was paused, where a packet is damaged, and where the sound of a video begins late.
    """

    def __init__(self, stream: Any, late_s: float, most_s: float) -> None:
        """``late_s`` is how long after the file the stream begins, ``most_s`` how long it can be."""
        start = stream.start_time
        self._origin_s = None if start is None else float(start * stream.time_base) - late_s
        self._late_s, self._most_s = late_s, most_s
        self._at_s = self._lag_s = self._filled_s = 0.0

    def filled(self, frames: Iterable[Any]) -> Iterator[Any]:
        """Yield the frames of sound with silent ones where some is missing."""
        for frame in frames:
            missing = round(self.missing_s(frame) * frame.sample_rate)
            for start in range(0, missing, _AT_ONCE):
                yield _silent(frame, min(_AT_ONCE, missing - start))
            yield frame

    def missing_s(self, frame: Any) -> float:
        """Return how much sound is missing before a frame; to be asked of every frame in turn."""
        length_s, missing_s = frame.samples / max(1, frame.sample_rate), 0.0
        if frame.pts is not None and frame.time_base is not None:
            missing_s = self._missing_s(float(frame.pts * frame.time_base), length_s)
        self._filled_s += missing_s if self._at_s else 0.0
        self._at_s += missing_s + length_s
        return missing_s

    def _missing_s(self, stamp_s: float, length_s: float) -> float:
        if self._origin_s is None:
            self._origin_s = stamp_s - self._late_s
        before_s, self._lag_s = self._lag_s, stamp_s - self._origin_s - self._at_s
        if self._lag_s < -1 or self._at_s + self._lag_s > self._most_s:
            # The time stamps begin anew, which is no pause.
            self._origin_s += self._lag_s
            self._lag_s = 0.0
        # Sound whose stamps run a little fast throughout is not cut up.
        if self._lag_s < LATE_S or self._lag_s - before_s < length_s / 2:
            return 0.0
        missing_s, self._lag_s = self._lag_s, 0.0
        return missing_s

    def warnings(self) -> list[str]:
        """Return how much was filled in behind the beginning, in a sentence, or nothing."""
        if self._filled_s < LATE_S:
            return []
        return [f"the time stamps leave out {self._filled_s:.1f} s within the sound; silence stands for them"]


def _silent(frame: Any, n_samples: int) -> Any:
    silent = av.AudioFrame(frame.format.name, frame.layout, n_samples)
    silence = b"\x80" if frame.format.name.startswith("u8") else b"\0"
    for plane in silent.planes:
        plane.update(silence * plane.buffer_size)
    silent.sample_rate, silent.time_base = frame.sample_rate, frame.time_base
    return silent


class Clock:
    """Milliseconds of a frame from its time stamp, from where the file begins to play; never backwards.

    Where the time stamps begin anew, as in recordings that were joined, time goes on.
    """

    def __init__(self, video: Any, late_s: float) -> None:
        """``late_s`` is how long after the file the stream begins."""
        rate = float(video.average_rate or video.guessed_rate or 25)
        self._frame_ms = 1000 / rate if math.isfinite(rate) and rate > 0 else 40.0
        self.half_frame_ms = min(self._frame_ms / 2, 20.0)
        self._late_ms = 1000 * late_s
        self._origin_ms: float | None = None
        self._last_ms = 0.0
        self.ends_ms = 0.0
        """When the last frame so far is no longer shown."""

    def ms(self, frame: Any, index: int) -> float:
        """Return when a frame is shown; ``index`` counts those of the stream."""
        if frame.pts is None or frame.time_base is None:
            now = self._late_ms + index * self._frame_ms
        else:
            stamp = float(frame.pts * frame.time_base) * 1000
            if self._origin_ms is None:
                # The first frame that decodes need not be the first of the stream.
                self._origin_ms = stamp - index * self._frame_ms - self._late_ms
            if stamp - self._origin_ms < self._last_ms - _ANEW_MS:
                self._origin_ms = stamp - self.ends_ms
            now = stamp - self._origin_ms
        self._last_ms = max(now, self._last_ms)
        self.ends_ms = self._last_ms + (1000 * float((frame.duration or 0) * (frame.time_base or 0)) or self._frame_ms)
        return self._last_ms
