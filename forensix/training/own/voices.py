"""Speech: crops of clips through rooms, microphones, noise and codecs, as for the detector that ships."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from forensix.errors import UnsupportedMedia
from forensix.media import Media, open_media
from forensix.models import LoadedModel
from forensix.training.own.material import Arrays
from forensix.training.own.recipe import Recipe, Rng
from forensix.training.voice.clips import SHORTEST_S, as_int16, cut, degrade_randomly
from forensix.training.voice.fit import Settings, levelled
from forensix.voice.speech import RATE_HZ, as_float
from forensix.voice.spoof import normalise, shaped, trim

CLIPS = 4
"""Clips kept of a long recording."""


class Voices(Recipe):
    """Tells synthetic speech from recordings; feeds the network as its card says."""

    slot = "spoof"
    kind = "clips"
    degradations = ("mp3=32", "telephone")
    batch_size = 16
    rate = 3e-4

    def __init__(self, model: LoadedModel) -> None:
        super().__init__(model)
        self._plan: dict[str, Any] = model.card.preprocessing
        self._level = bool(self._plan["level"])
        least, window = int(self._plan["shortest"]), int(self._plan["window"])
        # Shorter crops than its window only where the network takes any length.
        self._sizes = [window] if least == window else [int(s * RATE_HZ) for s in Settings.crops_s]

    def kept(self, media: Media, rng: Rng) -> Arrays:
        """Return int16 clips of at most 5 s, trimmed."""
        clips = [trim(clip) for clip in cut(trim(_samples(media)), at_most=CLIPS, rng=rng)]
        clips = [clip for clip in clips if clip.size >= SHORTEST_S * RATE_HZ]
        kept = tuple(as_int16(normalise(clip) if self._level else clip) for clip in clips)
        if not kept:
            raise UnsupportedMedia(f"{media.name} has less than {SHORTEST_S} s of sound to learn from")
        return kept

    def size(self, rng: Rng) -> int:
        """Return the samples of a batch's crops."""
        return int(rng.choice(self._sizes))

    def example(self, arrays: Arrays, size: int, rng: Rng) -> tuple[np.ndarray[Any, Any], int]:
        """Return a crop of ``size`` samples, degraded as often as shipped training does."""
        clip = as_float(arrays[int(rng.integers(len(arrays)))])
        if clip.size < size:
            clip = np.tile(clip, -(-size // clip.size))
        start = int(rng.integers(clip.size - size + 1))
        crop = clip[start : start + size]
        if rng.random() < Settings.clean:
            return crop, 0
        if self._level:
            return degrade_randomly(crop, rng)[:size], 0
        # The chain works at one loudness; what is not levelled afterwards gets its own back.
        loud, degraded = rms(crop), degrade_randomly(normalise(crop), rng)[:size]
        return degraded * np.float32(loud / max(rms(degraded), 1e-4)), 0

    def inputs(self, drawn: list[np.ndarray[Any, Any]]) -> Tensor:
        """Return waves (n, samples), shaped and brought to one loudness as the card says."""
        waves = torch.from_numpy(np.stack([shaped(crop, self._plan) for crop in drawn]).astype(np.float32))
        return levelled(waves) if self._level else waves

    @staticmethod
    def logit(detector: Any, path: Path) -> float:
        """Return the logit of a recording's whole sound."""
        with open_media(path) as media:
            return float(detector.logit(_samples(media)))


def rms(samples: np.ndarray[Any, Any]) -> float:
    """Return the root mean square."""
    return float(np.sqrt(np.mean(np.square(samples, dtype=np.float64))))


def _samples(media: Media) -> np.ndarray[Any, Any]:
    if media.kind not in ("audio", "video"):
        raise UnsupportedMedia(f"{media.name} is {media.kind}, which has no sound")
    samples = as_float(media.samples())
    if not samples.any():
        raise UnsupportedMedia(f"{media.name} is silent")
    return samples
