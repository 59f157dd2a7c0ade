"""Float PCM that reaches above full scale is scaled down before it becomes int16; runs in the sandbox."""

from typing import Any

from forensix.media.channels import channels, like
from forensix.media.packets import Decoding, packed
from forensix.media.played import codec_name

MOST = 32_768.0
"""The greatest sample that is taken for a level, as where int16 was written as float unscaled; more is damage."""
_TOLD = 1.005
"""What reaches less far, as int16 that was divided by 32,767 does, is scaled without a word."""


def is_float(stream: Any) -> bool:
    """Tell whether sound is float PCM; MP3 or AAC decode to float too, but what exceeds 1 there comes of the coding."""
    return (codec_name(stream) or "").startswith("pcm_f")


def peak_of(container: Any, stream: Any, longest_s: float) -> float:
    """Return the greatest magnitude of float PCM, for which all of it up to ``longest_s`` is decoded.

    Samples that are no numbers or lie beyond `MOST` do not count.
    """
    import numpy as np

    peak, looked_at_s = 0.0, 0.0
    for frame in packed(frame for _, frame in Decoding(container, stream)):
        magnitudes = np.abs(frame.to_ndarray())
        peak = float(magnitudes.max(initial=peak, where=magnitudes <= MOST))
        looked_at_s += frame.samples / max(1, frame.sample_rate)
        if looked_at_s > longest_s:
            break
    return peak


class Lowered:
    """Scales sound whose peak lies above full scale, which int16 would cut, so that the peak comes to lie at it."""

    def __init__(self, peak: float) -> None:
        self._peak = peak

    def over(self, frame: Any) -> Any:
        """Return a frame of sound scaled down: itself where the sound keeps within full scale."""
        if self._peak <= 1:
            return frame
        return like(frame, channels(frame, frame.to_ndarray() / self._peak))

    def warnings(self) -> list[str]:
        """Return how far the samples reach, in a sentence, or nothing."""
        if self._peak < _TOLD:
            return []
        return [f"the samples of sound reach {self._peak:.2f} times full scale and were scaled down"]
