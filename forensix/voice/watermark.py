"""Does speech carry the watermark of a synthesiser?

Resemble's generators, Chatterbox among them, write the inaudible mark PerTh into what they say. Its decoder comes with
the wheel ``resemble-perth`` (MIT; ``pip install 'forensix[watermark]'``), whose weights are read here by code of our
own; nothing else of that package is imported.

PerTh carries no message: its decoder only says how sure it is that there is a mark. A reading of 0.99 or more of speech
of 1.25 s or more is evidence that this speech was synthesised, and no proof: some people's speech reads so by
chance, of learners of English 3 sentences of 1,000. So `forensix.tasks.voices` lets a mark decide only where it lies in
much of a voice (`Mark.is_throughout`) that does not sound recorded. A lower reading means nothing: most synthesisers do
not mark, and noise, narrow bands or another vocoder weaken the mark. Silence has no reading. Long speech is read in up
to eight pieces of 5 s. ``benchmarks/results/voice_watermark.md`` has false alarms and what the mark survives.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from forensix.errors import MissingExtra, WeightsMismatch
from forensix.models.files import of_package
from forensix.voice.speech import Segment, as_float, spread, total_s

MARKED = 0.99
"""Readings from here up are evidence: few pieces of speech that carry no mark reach it."""

LEAST_S = 2.0
"""Marked speech that a mark needs to decide: most that reads as marked by chance is shorter."""

PERTH_SHA256 = "a15bce457ebc53ce5e6c9c3f11df78cf7ee2bf9cdab0a798902135b4c4027670"
PIECE_S = 5.0
READ_S = 40.0
SHORTEST_S = 1.25
QUIET_RMS = 1e-4
N_FFT, HOP = 2048, 320  # at 32 kHz
N_BANDS = 128  # up to 2 kHz
FLOOR_DB, CEILING_DB = -180.0, 15.0
LOUD = 0.05  # of the loudest window: quieter ones do not count
SPEEDS = {"slow": 1.25, "normal": 1.0, "fast": 0.75}


@dataclass(frozen=True)
class Mark:
    """A watermark that was found: whose it is, its reading from 0.99 to 1, and the pieces of speech that carry it.

    ``read_s`` is how much speech was read.
    """

    name: str
    reading: float
    segments: tuple[Segment, ...]
    read_s: float = 0.0

    @property
    def is_throughout(self) -> bool:
        """Whether so much of the speech carries it, 2 s and half of what was read, that chance alone is unlikely."""
        return total_s(self.segments) >= max(LEAST_S, self.read_s / 2)


class _Branch(nn.Module):
    """Convolutions over time: dB bands, shape (n, 128, time), to attention and mark, shape (n, 2, time)."""

    def __init__(self) -> None:
        super().__init__()
        sizes = [(N_BANDS, 256, 1), *[(256, 256, 7)] * 5, (256, 2, 1)]
        self.layers = nn.ModuleList(nn.Conv1d(i, o, k, padding=k // 2) for i, o, k in sizes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers[:-1]:
            x = nn.functional.leaky_relu(layer(x))
        out: torch.Tensor = self.layers[-1](x)
        return out


class PerthDecoder(nn.Module):
    """PerTh's decoder: three branches listen at three speeds, and attention weighs what they read."""

    def __init__(self) -> None:
        super().__init__()
        self.branches = nn.ModuleDict({speed: _Branch() for speed in SPEEDS})

    def forward(self, levels: torch.Tensor) -> torch.Tensor:
        """Return the reading of each piece from its scaled dB spectrum, shape (n, 1025, time); NaN for silence."""
        total = levels.sum(dim=1)
        loud = (total > LOUD * total.amax(dim=1, keepdim=True)).float()[:, None]
        bands = levels[:, :N_BANDS]
        heard = []
        for speed, factor in SPEEDS.items():
            n = int(bands.shape[2] * factor)
            stretched = nn.functional.interpolate(bands, size=n, mode="linear", align_corners=True)
            mask = nn.functional.interpolate(loud, size=n, mode="nearest")
            out = self.branches[speed](bands if speed == "normal" else stretched)
            heard.append((out * mask).sum(2) / mask.sum(2))
        attention, marks = torch.stack(heard, dim=2).unbind(1)
        return (marks * attention.softmax(dim=1)).sum(1)


class PerthReader:
    """Fills the slot ``voice_watermark`` with PerTh's decoder."""

    name = "perth"

    def __init__(self, decoder: PerthDecoder) -> None:
        self._decoder = decoder.eval()

    def reading(self, samples: NDArray[Any]) -> float | None:
        """Return how sure the decoder is that one piece of speech is marked, 0 to 1; ``None`` for silence.

        Parameters
        ----------
        samples
            Shape (n,), int16 or float, mono, 16 kHz, at least 1.25 s.
        """
        x = as_float(samples)
        x = x - x.mean(dtype=np.float64).astype(np.float32) if len(x) else x
        if len(x) < SHORTEST_S * 16_000 or float(np.sqrt(np.mean(np.square(x, dtype=np.float64)))) < QUIET_RMS:
            return None
        # It loads half of SciPy, and few have the decoder.
        from scipy.signal import resample_poly

        levels, _ = levels_and_spectrum(torch.from_numpy(resample_poly(x, 2, 1).astype(np.float32)))
        with torch.inference_mode():
            value = float(self._decoder(levels[None])[0])
        return min(max(value, 0.0), 1.0) if np.isfinite(value) else None

    def pieces(self, segments: Sequence[Segment]) -> tuple[Segment, ...]:
        """Return the pieces of speech that are read: up to eight, none so short that it has no reading."""
        long_enough = [s for s in segments if s.duration_s >= SHORTEST_S]
        return spread(long_enough, at_most_s=READ_S, piece_s=PIECE_S) if long_enough else ()

    def read(self, samples: NDArray[Any], segments: Sequence[Segment]) -> Mark | None:
        """Look for the mark in speech.

        Parameters
        ----------
        samples
            Shape (n,), int16 or float, mono, 16 kHz; may be a memory map.
        segments
            Where there is speech.

        Returns
        -------
        The mark, or ``None`` where no piece of speech reads 0.99 or more, which says nothing.
        """
        pieces = self.pieces(segments)
        readings = [(self.reading(piece.of(samples)), piece) for piece in pieces]
        marked = [(value, piece) for value, piece in readings if value is not None and value >= MARKED]
        if not marked:
            return None
        return Mark("PerTh", max(value for value, _ in marked), tuple(piece for _, piece in marked), total_s(pieces))


class NoReader:
    """Fills the slot where no reader is installed: finds nothing."""

    name = "none"

    def read(self, samples: NDArray[Any], segments: Sequence[Segment]) -> Mark | None:
        """Return ``None``."""
        return None


def _weights() -> Path | None:
    return of_package("perth", "perth_net/pretrained/implicit/perth_net_250000.pth.tar")


def levels_and_spectrum(samples: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the spectrum of mono 32 kHz floats: dB scaled so that -180 is 0 and 15 is 1, and complex, (1025, time)."""
    spectrum = torch.stft(samples, N_FFT, HOP, window=torch.hann_window(N_FFT), return_complex=True)
    level_db = 20 * torch.log10(spectrum.abs().clamp(min=10 ** (FLOOR_DB / 20)))
    return (level_db - FLOOR_DB) / (CEILING_DB - FLOOR_DB), spectrum


def perth_state() -> dict[str, torch.Tensor]:
    """Return the tensors of PerTh's network, encoder and decoder.

    Raises
    ------
    MissingExtra
        The wheel ``resemble-perth`` is not installed.
    WeightsMismatch
        Its weights are not the ones that were measured.
    """
    path = _weights()
    if path is None:
        raise MissingExtra("PerTh's weights come with a wheel: run \"pip install 'forensix[watermark]'\"")
    with path.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != PERTH_SHA256:
            raise WeightsMismatch(
                f"{path.name} of resemble-perth is not the file that was measured: install resemble-perth==1.0.1"
            )
    state: dict[str, torch.Tensor] = torch.load(path, map_location="cpu", weights_only=True)["model"]
    return state


@cache
def perth() -> PerthReader:
    """Return the reader of PerTh; raises what `perth_state` raises."""
    state = perth_state()
    decoder = PerthDecoder()
    renamed = {
        f"branches.{speed}.layers.{i}.{kind}": state[f"decoder.{speed}_layers.{i}.conv.{kind}"]
        for speed in SPEEDS
        for i in range(7)
        for kind in ("weight", "bias")
    }
    decoder.load_state_dict(renamed, strict=True)
    return PerthReader(decoder)


def available() -> PerthReader | NoReader:
    """Return the reader of PerTh where its wheel is installed, otherwise one that finds nothing."""
    return perth() if _weights() else NoReader()
