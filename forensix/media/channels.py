"""The channels of sound: how they are read, and mixed to one so that what is on any of them is heard.

Runs in the sandbox.
"""

import math
from typing import Any

_OPPOSED, _MIXED = 0.3, 0.5
"""Of the louder channel's energy: with less than the first in their sum, two channels cancel each other, until there is
more than the second."""

_KEPT_S = 1.0
"""How long what was heard of two channels counts: longer than the pauses of speech, in which their noise is alike."""

APART = (
    "the two channels of sound hold different voices or sounds, as of a call with a person on each; they were heard"
    " mixed, so who speaks when is less sure: give each channel as a file of its own"
)
_BLOCK_S = 0.05
_STEP_DB, _N_STEPS = 2.0, 31
"""Below the last step, 60 dB under full scale, is silence."""
_ALONE_DB = 12.0
"""So far a channel that rests lies under its own loud sound, and under the other channel, each beside its own."""
_ALONE_S, _ALONE_SHARE = 1.0, 0.25
"""How long, and in how much of its sound, each of two channels is heard alone where they hold different voices."""

_DEEP = frozenset(("LFE", "LFE2"))
_SILENT = 2.0**-16
"""Half a step of 16 bits, of full scale."""


def mixed(frame: Any) -> Any:
    """Return the mean of the channels where FFmpeg, which mixes the others, would leave out those that sound.

    That is where the file does not say of which loudspeakers they are, so that FFmpeg would guess those and leave out
    the one of deep tones, on which a recorder may have its only voice; and where that one sounds alone.
    """
    import av
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


class Apart:
    """Tells whether two channels hold different voices: each is heard while the other rests."""

    def __init__(self) -> None:
        self._seconds: Any = None

    def over(self, frame: Any) -> Any:
        """Return a frame of sound, and keep for how long both channels were how loud."""
        import numpy as np

        if frame.layout.nb_channels != 2 or not frame.samples:
            return frame
        if self._seconds is None:
            self._seconds = np.zeros((_N_STEPS, _N_STEPS))
        power = np.square(_scaled(frame))
        n, length_s = power.shape[1], frame.samples / max(1, frame.sample_rate)
        edges = np.linspace(0, n, min(n, max(1, round(length_s / _BLOCK_S))) + 1).astype(int)
        means = np.add.reduceat(power, edges[:-1], axis=1) / np.diff(edges)
        steps = np.clip(-10 * np.log10(np.maximum(means, 1e-12)) / _STEP_DB, 0, _N_STEPS - 1).astype(int)
        np.add.at(self._seconds, tuple(steps), length_s / (len(edges) - 1))
        return frame

    def warnings(self) -> list[str]:
        """Return that the channels hold different voices, in a sentence, or nothing."""
        return [APART] if self._are_apart() else []

    def _are_apart(self) -> bool:
        import numpy as np

        if self._seconds is None:
            return False
        both = self._seconds
        # Steps count down from full scale; loud is what a channel reaches for `_ALONE_S` in all.
        loud = [int(np.argmax(np.cumsum(both.sum(axis=1 - side)) >= _ALONE_S)) for side in (0, 1)]
        if min(both[:-1].sum(), both[:, :-1].sum()) < _ALONE_S:
            return False
        first, second = np.meshgrid(*(_STEP_DB * (np.arange(_N_STEPS) - at) for at in loud), indexing="ij")
        for own, other in ((first, second), (second, first)):
            sounds = own < _ALONE_DB
            alone_s = both[sounds & (other >= _ALONE_DB) & (other - own >= _ALONE_DB)].sum()
            if alone_s < max(_ALONE_S, _ALONE_SHARE * both[sounds].sum()):
                return False
        return True


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
    import av
    import numpy as np

    lines = rows if frame.format.is_planar else rows.T.reshape(1, -1)
    audio_frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(lines), format=frame.format.name, layout=frame.layout)
    audio_frame.sample_rate, audio_frame.pts, audio_frame.time_base = frame.sample_rate, frame.pts, frame.time_base
    return audio_frame
