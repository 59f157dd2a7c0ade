"""Synthetic speech: does a recording carry the traces that vocoders and voice conversion leave?

Assumes speech, which `forensix.voice.speech_segments` finds: music, noise and silence mean nothing to it. The score is
calibrated under equal priors on collections and systems that training did not see; 0.5 says nothing either way. It
fails on systems unlike any it knows, and heavy noise, narrow bands and short clips (under 1 s) blur it; the card has
the figures. Long speech is cut into windows and the mean of their logits is scored.

>>> import numpy as np
>>> detector = forensix_spoof()
>>> hum = np.sin(np.arange(32_000) / 20).astype(np.float32)
>>> 0.0 <= detector.score(hum) <= 1.0
True
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from forensix.calibration import Calibration
from forensix.errors import UsageError
from forensix.models import LoadedModel, load_model

SAMPLE_RATE_HZ = 16_000
FRAME = 320  # 20 ms
LEVEL_RMS = 0.05
BATCH = 8
Samples = NDArray[np.float32]


def speech_span(samples: Samples, *, below_db: float = 35.0) -> tuple[int, int]:
    """Return where speech starts and stops, in samples: frames of 20 ms at most ``below_db`` under the loud ones.

    Everything is speech where no frame is louder than the rest.
    """
    n_frames = samples.size // FRAME
    if n_frames < 2:
        return 0, samples.size
    frames = samples[: n_frames * FRAME].reshape(n_frames, FRAME)
    power = np.einsum("ij,ij->i", frames, frames)
    loud = np.flatnonzero(power > np.quantile(power, 0.95) * 10 ** (-below_db / 10))
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


class SpoofDetector:
    """Scores speech with a loaded network, fed as its card says.

    The card's ``preprocessing`` holds ``window`` and ``hop`` (samples at 16 kHz), ``shortest`` (shorter input is
    repeated end to end up to it), ``at_most`` (windows of one recording, spread evenly) and ``level`` (whether speech
    is trimmed and brought to one loudness).
    """

    def __init__(self, model: LoadedModel) -> None:
        self.card = model.card
        self._module = model.module.eval()
        plan: dict[str, Any] = self.card.preprocessing
        self._window, self._hop = int(plan["window"]), int(plan["hop"])
        self._shortest, self._at_most = int(plan["shortest"]), int(plan["at_most"])
        self._level = bool(plan["level"])
        self.calibration = self.card.calibration or Calibration(slope=1.0, intercept=0.0)

    def score(self, samples: Samples) -> float:
        """Return how likely the speech is synthetic: calibrated, in [0, 1], higher is more likely fake.

        Parameters
        ----------
        samples
            Speech, mono, 16 kHz, float32 in [-1, 1], any length.

        Raises
        ------
        UsageError
            The samples are no such array.
        """
        return float(self.calibration.score(self.logit(samples)))

    def logit(self, samples: Samples) -> float:
        """Return the uncalibrated logit, higher for fake: the mean over windows that are not near silent."""
        _, logits, loud = self._windows(samples)
        return float(logits[loud].mean())

    def window_scores(self, samples: Samples) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the middle of each window in seconds from the first sample, and its calibrated score, for display."""
        times_s, logits, _ = self._windows(samples)
        return times_s, self.calibration.score(logits)

    def _windows(self, samples: Samples) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]]:
        _check(samples)
        offset, stop = speech_span(samples) if self._level else (0, samples.size)
        samples = samples[offset:stop]
        last = max(0, samples.size - self._window)
        n = min(1 + -(-last // self._hop), self._at_most)
        starts = np.linspace(0, last, n).astype(np.int64)
        power = np.array([float(np.mean(np.square(samples[s : s + self._window], dtype=np.float64))) for s in starts])
        logits = np.empty(n)
        with torch.inference_mode():
            for i in range(0, n, BATCH):
                batch = np.stack([self._prepared(samples[s : s + self._window]) for s in starts[i : i + BATCH]])
                logits[i : i + BATCH] = self._one_logit(self._module(torch.from_numpy(batch)))
        middle = (offset + starts + min(self._window, samples.size) / 2) / SAMPLE_RATE_HZ
        return middle, logits, power >= power.max() * 10**-2.5

    def _prepared(self, window: Samples) -> Samples:
        if self._level:
            window = normalise(window)
        if window.size < self._shortest:
            window = np.tile(window, -(-self._shortest // window.size))[: self._shortest]
        return np.ascontiguousarray(window, dtype=np.float32)

    def _one_logit(self, outputs: torch.Tensor) -> NDArray[np.float64]:
        """Turn the outputs into one logit per window, higher for fake; the only place where direction is set."""
        values = outputs.double().numpy()
        fake, real = self.card.output.fake, self.card.output.real
        if values.ndim == 1:
            return values
        return values[:, fake] - (values[:, real] if real is not None else 0.0)


def _check(samples: Any) -> None:
    if not isinstance(samples, np.ndarray) or samples.ndim != 1 or samples.dtype != np.float32:
        what = (
            f"{samples.dtype} of shape {samples.shape}" if isinstance(samples, np.ndarray) else type(samples).__name__
        )
        raise UsageError(f"speech must be a one-dimensional float32 array at 16 kHz, not {what}")
    if not samples.size:
        raise UsageError("speech must hold at least one sample, not none")
    if not np.isfinite(samples).all():
        raise UsageError("speech must hold finite samples only, but some are infinite or not a number")


def forensix_spoof() -> SpoofDetector:
    """Return the detector that ships with forensix."""
    return SpoofDetector(load_model("forensix-spoof"))


def aasist() -> SpoofDetector:
    """Return the published AASIST, whose weights must be on this machine (`forensix models pull aasist`)."""
    return SpoofDetector(load_model("aasist"))
