"""Does a voice sound like a man's or a woman's?

A logistic regression on pitch, two formants and the mean and deviation of the cepstra of at most 60 s of speech.
The probability is calibrated on collections that the fit did not see, under equal priors. Below the card's threshold,
below a second of speech, where nothing is voiced and above the pitch of nearly all women the answer is ``unknown``.

It learnt adult read and conversational English, as recorded and over a telephone line, and knows nothing of a person's
identity: high male and low female voices are mistaken for each other, men who shout or exult for women (4 of 5 such
clips of actors in the corpora's ``dev`` rows). Children were not heard in training, and before their voice breaks boys
sound like girls: those whose pitch lies beyond that of women are unknown, most others are called female. Neither pitch
nor formants part children of six to ten years from women better: `benchmarks/results/voice_components.md` has how many
are called what. Clones sound like the person they copy.

References
----------
K. Wu, D. Childers, "Gender recognition from speech. Part I: coarse analysis", JASA 90(4), 1991 (pitch and formants).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from forensix.calibration import Calibration
from forensix.errors import WeightsMismatch
from forensix.models import LoadedModel, load_model
from forensix.schema import Gender
from forensix.voice import features
from forensix.voice.cepstra import cepstra
from forensix.voice.speech import Segment, total_s

LEAST_SPEECH_S = 1.0
HIGHEST_HZ = 260.0
"""Median pitch of the highest voices that are answered: above it children speak, and adults who shout or exult."""
N_INPUTS = 43
"""log F0, log F1, log F2 (medians), then the mean and the log deviation of 20 cepstra."""


def voice_vector(
    samples: NDArray[Any], segments: Sequence[Segment] | None = None, *, heard: features.Heard | None = None
) -> NDArray[np.float32] | None:
    """Return what the classifier looks at, shape (43,), or ``None`` where it cannot be measured.

    Parameters
    ----------
    samples
        Shape (n,), int16 or float, mono, 16 kHz.
    segments
        Where this speaker speaks; without it all of ``samples`` counts as speech.
    heard
        What `features.hear` returned for them.
    """
    pieces = heard.pieces if heard else features.measured_pieces(samples, segments)
    if total_s(pieces) < LEAST_SPEECH_S:
        return None
    windows = (heard or features.hear(samples, segments)).windows
    if len(windows.f0_hz) * features.HOP_S < features.MIN_VOICED_S:
        return None
    formants_hz = [np.nanmedian(x) if np.isfinite(x).any() else np.nan for x in (windows.f1_hz, windows.f2_hz)]
    c = np.concatenate([cepstra(piece.of(samples)) for piece in pieces])[:, 1:]
    vector = np.concatenate([np.log([np.median(windows.f0_hz), *formants_hz]), c.mean(0), np.log(c.std(0) + 1e-3)])
    return vector.astype(np.float32) if np.isfinite(vector).all() else None


class GenderClassifier:
    """Fills the slot ``gender``: says male, female or unknown, and how probable that is."""

    def __init__(self, model: LoadedModel) -> None:
        if model.card.calibration is None or model.card.output.labels != ("male",):
            raise WeightsMismatch(f"the card of {model.card.name!r} is no calibrated gender classifier of ours")
        self.card = model.card
        self.module = model.module
        self._calibration: Calibration = model.card.calibration

    def probability_male(self, vectors: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the calibrated probability of a male voice for vectors of shape (n, 43)."""
        with torch.inference_mode():
            logits = self.module(torch.from_numpy(vectors))[:, 0].numpy()
        return self._calibration.score(logits)

    def classify(
        self,
        samples: NDArray[Any],
        segments: Sequence[Segment] | None = None,
        *,
        heard: features.Heard | None = None,
    ) -> tuple[Gender, float | None]:
        """Classify one speaker.

        Parameters
        ----------
        samples
            Shape (n,), int16 or float, mono, 16 kHz; may be a memory map.
        segments
            Where this speaker speaks; without it all of ``samples`` counts as speech.
        heard
            What `features.hear` returned for them.

        Returns
        -------
        The gender and its probability, 0.5 to 1; ``("unknown", None)`` where it is not clear.
        """
        vector = voice_vector(samples, segments, heard=heard)
        if vector is None:
            return "unknown", None
        p = float(self.probability_male(vector[None])[0])
        if max(p, 1 - p) < self.card.threshold or vector[0] > np.log(HIGHEST_HZ):
            return "unknown", None
        return ("male", p) if p >= 0.5 else ("female", 1 - p)


def forensix_gender() -> GenderClassifier:
    """Return the classifier that ships with the package."""
    return GenderClassifier(load_model("forensix-gender"))
