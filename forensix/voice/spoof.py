"""Synthetic speech: does a recording carry the traces that vocoders and voice conversion leave?

Assumes speech, which `forensix.voice.speech_segments` finds: music, noise and silence mean nothing to it. The score is
calibrated, as if real and fake were equally likely, on collections and systems that training did not see; 0.5 says
nothing either way. It fails on systems unlike any it knows, and heavy noise, narrow bands and short clips (under 1 s)
blur it; the card has the figures. Long speech is cut into windows and the mean of their logits is scored.

>>> import numpy as np
>>> from forensix.models import load_detector
>>> detector = load_detector("forensix-spoof")
>>> hum = np.sin(np.arange(32_000) / 20).astype(np.float32)
>>> 0.0 <= detector.score(hum) <= 1.0
True
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from forensix.models import LoadedModel
from forensix.models.architectures.efficientnet import Backbone, fuse
from forensix.models.detector import Detector, Scores, batches
from forensix.models.inputs import recording
from forensix.voice.speech import RATE_HZ

FRAME = 320  # 20 ms
QUIET_DB = 35.0
LEVEL_RMS = 0.05
BATCH = 8
Samples = NDArray[np.float32]


def speech_span(samples: Samples) -> tuple[int, int]:
    """Return where speech starts and stops, in samples: frames of 20 ms at most `QUIET_DB` under the loud ones.

    Everything is speech where no frame is louder than the rest.
    """
    n_frames = samples.size // FRAME
    if n_frames < 2:
        return 0, samples.size
    frames = samples[: n_frames * FRAME].reshape(n_frames, FRAME)
    power = np.einsum("ij,ij->i", frames, frames)
    loud = np.flatnonzero(power > np.quantile(power, 0.95) * 10 ** (-QUIET_DB / 10))
    if not loud.size:
        return 0, samples.size
    return int(loud[0]) * FRAME, min(samples.size, int(loud[-1] + 1) * FRAME)


def trim(samples: Samples) -> Samples:
    """Cut what lies before and after speech, see `speech_span`."""
    start, stop = speech_span(samples)
    return samples[start:stop]


def normalise(samples: Samples) -> Samples:
    """Remove the mean and set the root mean square to 0.05; silence stays silent."""
    if not samples.size:
        return samples
    samples = samples - np.float32(samples.mean())
    rms = float(np.sqrt(np.mean(np.square(samples, dtype=np.float64))))
    return (samples * np.float32(LEVEL_RMS / max(rms, 1e-4))).astype(np.float32)


def standardised(samples: Samples) -> Samples:
    """Remove the mean and divide by the standard deviation; silence stays silent."""
    variance = float(samples.var(dtype=np.float64))
    return np.asarray((samples - samples.mean(dtype=np.float64)) / np.sqrt(variance + 1e-5), dtype=np.float32)


def shaped(samples: Samples, plan: Mapping[str, Any]) -> Samples:
    """Return a recording as the ``preprocessing`` of a card wants the whole of it, before it is cut into windows."""
    if emphasis := np.float32(plan.get("emphasis", 0.0)):
        samples = np.concatenate([samples[:1], samples[1:] - emphasis * samples[:-1]])
    return standardised(samples) if plan.get("standard", False) else samples


@dataclass(frozen=True, eq=False)
class _Cut:
    """Windows of one recording (n, samples), and which are not near silent."""

    windows: Samples
    loud: NDArray[np.bool_]


class SpoofDetector(Detector):
    """Scores speech with a loaded network, fed as its card says.

    One input is what `forensix.models.inputs.recording` takes: a file, or mono samples at 16 kHz, float32 in [-1, 1],
    of any length. Many come as a list: two axes may be channels as well.

    The card's ``preprocessing`` holds ``window`` and ``hop`` (samples at 16 kHz), ``shortest`` (shorter input is
    repeated end to end up to it), ``at_most`` (windows of one recording, spread evenly), ``level`` (whether speech is
    trimmed and brought to one loudness), ``emphasis`` (what of each sample the next one loses before that, over the
    whole recording; none where it is left out) and ``standard`` (whether the whole recording is brought to zero mean
    and unit variance; not where it is left out).
    """

    batch = BATCH

    def __init__(self, model: LoadedModel) -> None:
        for part in list(model.module.modules()):
            if isinstance(part, Backbone):
                fuse(part).to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        super().__init__(model)
        plan: dict[str, Any] = self.card.preprocessing
        self._window, self._hop = int(plan["window"]), int(plan["hop"])
        self._shortest, self._at_most = int(plan["shortest"]), int(plan["at_most"])
        self._level = bool(plan["level"])

    def logits(self, many: Iterable[Any]) -> Scores:
        """Return the uncalibrated logit of each recording, float64 (n,), higher for fake.

        It is the mean over windows that are not near silent.
        """
        return np.fromiter((float(logits[cut.loud].mean()) for logits, cut in self._each(many)), np.float64)

    def _each(self, many: Iterable[Any]) -> Iterator[tuple[NDArray[np.float64], _Cut]]:
        kept: deque[_Cut] = deque()

        def windows() -> Iterator[torch.Tensor]:
            for one in many:
                kept.append(self._cut(recording(one)))
                yield torch.from_numpy(kept[-1].windows)

        for (outputs,) in batches(self.network, windows()):
            yield self._one_logit(outputs), kept.popleft()

    def _cut(self, samples: Samples) -> _Cut:
        start, stop = speech_span(samples) if self._level else (0, samples.size)
        samples = shaped(samples[start:stop], self.card.preprocessing)
        last = max(0, samples.size - self._window)
        n = min(1 + -(-last // self._hop), self._at_most)
        starts = np.linspace(0, last, n).astype(np.int64)
        power = np.array([float(np.mean(np.square(samples[s : s + self._window], dtype=np.float64))) for s in starts])
        windows = np.stack([self._prepared(samples[s : s + self._window]) for s in starts])
        return _Cut(windows, power >= power.max() * 10**-2.5)

    def _prepared(self, window: Samples) -> Samples:
        if self._level:
            window = normalise(window)
        if window.size < self._shortest:
            window = np.tile(window, -(-self._shortest // window.size))[: self._shortest]
        return np.ascontiguousarray(window, dtype=np.float32)

    def _is_one_array(self, given: "NDArray[Any] | torch.Tensor") -> bool:
        return True


class HubSpoofDetector(SpoofDetector):
    """A classifier of the hub, each window fed by the extractor that comes with it."""

    def _prepared(self, window: Samples) -> Samples:
        extractor: Any = self.network.module.processor
        prepared = extractor(super()._prepared(window), sampling_rate=RATE_HZ, return_tensors="np")
        return np.asarray(prepared["input_values"][0], dtype=np.float32)


def detector_of(model: LoadedModel) -> SpoofDetector:
    """Return the detector that a card of the slot ``spoof`` asks for."""
    return HubSpoofDetector(model) if model.card.architecture == "hub" else SpoofDetector(model)
