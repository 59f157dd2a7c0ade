"""The channels of sound: how they are read, and mixed to one so that what is on any of them is heard.

Runs in the sandbox.
"""

import math
from typing import Any

import av

_OPPOSED, _MIXED = 0.3, 0.9
"""Of the louder channel's energy: with less than the first in their sum, two channels cancel each other, until there is
more than the second."""

_KEPT_S = 1.0
"""How long what was heard of two channels counts: longer than the pauses of speech, in which their noise is alike."""

_DEEP = frozenset(("LFE", "LFE2"))
_SILENT = 2.0**-16
"""Half a step of 16 bits, of full scale."""


def mixed(frame: Any) -> Any:
    """Return the mean of the channels where FFmpeg, which mixes the others, would leave out those that sound.

    That is where the file does not say of which loudspeakers they are, so that FFmpeg would guess those and leave out
    the one of deep tones, on which a recorder may have its only voice; and where that one sounds alone.
    """
    import numpy as np

    names = [channel.name for channel in frame.layout.channels]
    unnamed = len(names) > 2 and all(name == "NONE" for name in names)
    deep = np.array([name in _DEEP for name in names])
    if not unnamed and not deep.any():
        return frame
    rows = _scaled(frame)
    if not unnamed and (np.abs(rows[~deep]).max(initial=0.0) >= _SILENT or np.abs(rows).max(initial=0.0) < _SILENT):
        return frame
    mean = av.AudioFrame.from_ndarray(rows.mean(axis=0, keepdims=True).astype(np.float32), format="fltp", layout="mono")
    mean.sample_rate, mean.pts, mean.time_base = frame.sample_rate, frame.pts, frame.time_base
    return mean


class Opposed:
    """Replaces the second of two channels by the first where both cancel each other, and counts how long they do.

    Speech whose one channel is inverted is heard over loudspeakers, and mixed to one channel it would be silence, or
    the noise that each channel has of its own.
    """

    def __init__(self) -> None:
        self._s = 0.0
        self._energies: Any = 0.0
        self._cancel = False

    def over(self, frame: Any) -> Any:
        """Return a frame of sound whose channels can be mixed: itself where they can be."""
        import numpy as np

        if frame.layout.nb_channels != 2:
            return frame
        rows = _scaled(frame)
        length_s = rows.shape[1] / max(1, frame.sample_rate)
        now = np.square([*rows, rows.sum(axis=0)]).sum(axis=1)
        if not np.isfinite(now).all():
            return frame
        self._energies = now + math.exp(-length_s / _KEPT_S) * self._energies
        first, second, both = self._energies
        self._cancel = both < (_MIXED if self._cancel else _OPPOSED) * max(first, second)
        if not self._cancel:
            return frame
        self._s += length_s if now.any() else 0.0
        return like(frame, np.repeat(channels(frame, frame.to_ndarray())[:1], 2, axis=0))

    def warnings(self) -> list[str]:
        """Return how long the channels cancel each other, in a sentence, or nothing."""
        if not self._s:
            return []
        return [f"for {self._s:.1f} s the two channels of sound cancel each other; the first alone was used there"]


def _scaled(frame: Any) -> Any:
    """Return the samples of a frame as (channels, n), float64, full scale at 1."""
    import numpy as np

    samples = frame.to_ndarray()
    rows = channels(frame, samples).astype(np.float64)
    if samples.dtype == np.uint8:
        return (rows - 128) / 128
    return rows / (np.iinfo(samples.dtype).max + 1) if samples.dtype.kind == "i" else rows


def channels(frame: Any, samples: Any) -> Any:
    """Return the samples of a frame as (channels, n)."""
    return samples if frame.format.is_planar else samples.reshape(-1, frame.layout.nb_channels).T


def like(frame: Any, rows: Any) -> Any:
    """Return a frame of samples (channels, n) that is like another otherwise."""
    import numpy as np

    lines = rows if frame.format.is_planar else rows.T.reshape(1, -1)
    audio_frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(lines), format=frame.format.name, layout=frame.layout)
    audio_frame.sample_rate, audio_frame.pts, audio_frame.time_base = frame.sample_rate, frame.pts, frame.time_base
    return audio_frame
