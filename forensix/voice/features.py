"""The ten acoustic features of a speaker.

Each is one number with a unit, measured on the speaker's own speech; `forensix.voice.population` says how usual it is
among real voices. Assumes mono 16 kHz and at least a second of speech. The numbers are evidence to look at, none is a
verdict: noise, telephone bands, codecs and illness move them as synthesis does.

At most 60 s of speech are measured, in pieces of at most 5 s spread evenly over the recording, so time is bounded.
A constant offset, which is of the recorder, changes none of them.
Windows and hops are Praat's unless stated. What cannot be measured (no voiced window, for example) is ``None``.

================== ============= =======================================================================================
feature            unit          definition
================== ============= =======================================================================================
f0                 Hz            median fundamental frequency of voiced windows; autocorrelation [1], hop 10 ms, found
                                 in 60-600 Hz, then again in 0.75 q25 to 1.5 q75 of the first pass [2]
f1, f2             Hz            median first and second formant of voiced windows; Burg, 5 formants up to 5500 Hz
                                 (5000 Hz if f0 < 160 Hz), window 25 ms, hop 10 ms
jitter             %             local: mean absolute difference of successive periods over the mean period; periods of
                                 0.1 to 20 ms that change by a factor of at most 1.3
shimmer            %             local: the same of peak amplitudes, changing by a factor of at most 1.6
background_noise   dB            5th minus 95th percentile of the level of 32 ms windows (hop 16 ms) of the speech and
                                 0.25 s around it: noise floor relative to speech, never above 0
naturalness        dB            smoothed cepstral peak prominence (CPPS) [3]: height of the peak of the cepstrum that
                                 the voice's periodicity makes above its trend; hop 10 ms, smoothed over 10 ms and 1 ms
                                 of quefrency. Clear human voices are high, hoarse, noisy or buzzless ones low
pitch_consistency  st            20th to 80th percentile range of F0 in semitones [4]; monotonous voices are low
spectral_artifacts dB            mean absolute change from window to window of the log power spectrum in 5-7 kHz (window
                                 32 ms, hop 8 ms, windows within 35 dB of the loudest); smooth vocoder output is low
temporal_patterns  1/s           syllable nuclei per second of speech [5]: peaks of intensity within 25 dB of the
                                 loudest, 2 dB above the dip before, voiced
================== ============= =======================================================================================

``spectral_artifacts`` was chosen on training clips, for parting real from synthetic clips of one speaker in one
collection; across microphones and codecs it says little. ``benchmarks/results/voice_components.md`` has its figures.

References
----------
[1] P. Boersma, "Accurate short-term analysis of the fundamental frequency and the harmonics-to-noise ratio of a
    sampled sound", 1993.
[2] C. De Looze, D. Hirst, "Detecting changes in key and range for the automatic modelling and coding of intonation",
    Speech Prosody 2008.
[3] Y. Maryn, D. Weenink, "Objective dysphonia measures in the program Praat: smoothed cepstral peak prominence and
    acoustic voice quality index", Journal of Voice 29(1), 2015.
[4] F. Eyben et al., "The Geneva minimalistic acoustic parameter set (GeMAPS)", IEEE Trans. Affective Computing, 2016.
[5] N. de Jong, T. Wempe, "Praat script to detect syllable nuclei and measure speech rate automatically", 2009.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import parselmouth
from numpy.typing import NDArray
from parselmouth.praat import call

from forensix.voice.speech import RATE_HZ, Segment, as_float, spread

UNITS: dict[str, str] = {
    "background_noise": "dB",
    "f0": "Hz",
    "f1": "Hz",
    "f2": "Hz",
    "jitter": "%",
    "naturalness": "dB",
    "pitch_consistency": "st",
    "shimmer": "%",
    "spectral_artifacts": "dB",
    "temporal_patterns": "1/s",
}

MEASURED_S = 60.0
PIECE_S = 5.0
SHORTEST_PIECE_S = 0.2  # Praat's longest window is 0.1 s
MIN_VOICED_S = 0.2
HOP_S = 0.01
FLOOR_HZ, CEILING_HZ = 60.0, 600.0
MARGIN_S = 0.25
QUANTISATION_DB = 20 * np.log10(1 / 32768 / np.sqrt(12))  # the noise that 16 bits add; digital silence counts as this


@dataclass(frozen=True, eq=False)
class VoicedWindows:
    """F0 and formants of the voiced windows of some speech, shape (n,) each, NaN where a formant was not found."""

    f0_hz: NDArray[np.float64]
    f1_hz: NDArray[np.float64]
    f2_hz: NDArray[np.float64]


@dataclass(frozen=True)
class Heard:
    """One speaker's measured speech as Praat hears it: what features, gender and singing are read from."""

    pieces: tuple[Segment, ...]
    sounds: list[parselmouth.Sound]
    pitches: list[parselmouth.Pitch]
    windows: VoicedWindows


def hear(samples: NDArray[Any], segments: Sequence[Segment] | None = None) -> Heard:
    """Track pitch and formants of at most 60 s of one speaker's speech; parameters as `extract` has them."""
    pieces = measured_pieces(samples, segments)
    sounds = sounds_of(samples, pieces)
    pitches = track_pitch(sounds)
    return Heard(pieces, sounds, pitches, voiced_windows(sounds, pitches))


def extract(
    samples: NDArray[Any], segments: Sequence[Segment] | None = None, *, heard: Heard | None = None
) -> dict[str, float | None]:
    """Measure the ten features of one speaker.

    Parameters
    ----------
    samples
        Shape (n,), int16 or float, mono, 16 kHz; may be a memory map.
    segments
        Where this speaker speaks; without it all of ``samples`` counts as speech.
    heard
        What `hear` returned for the same samples and segments, so that it is not done twice.

    Returns
    -------
    The keys of `UNITS`, each a finite number in that unit, or ``None`` where it cannot be measured.

    Examples
    --------
    >>> extract(np.zeros(16000, np.int16))["f0"] is None
    True
    """
    heard = heard or hear(samples, segments)
    pieces, sounds, pitches, windows = heard.pieces, heard.sounds, heard.pitches, heard.windows
    values: dict[str, float | None] = dict.fromkeys(UNITS)
    if len(windows.f0_hz) * HOP_S >= MIN_VOICED_S:
        values["f0"] = float(np.median(windows.f0_hz))
        values["f1"], values["f2"] = _median(windows.f1_hz), _median(windows.f2_hz)
        low_hz, high_hz = np.percentile(windows.f0_hz, (20, 80))
        values["pitch_consistency"] = 12 * float(np.log2(high_hz / low_hz))
        values["jitter"], values["shimmer"] = _perturbations(sounds, pitches)
        values["naturalness"] = _cpps_db(sounds)
        values["temporal_patterns"] = _syllable_rate(sounds, pitches)
    values["background_noise"] = _noise_db(samples, pieces)
    values["spectral_artifacts"] = _flux_db(samples, pieces)
    return {key: None if value is None or not np.isfinite(value) else float(value) for key, value in values.items()}


def measured_pieces(samples: NDArray[Any], segments: Sequence[Segment] | None) -> tuple[Segment, ...]:
    """Return the pieces of speech that are measured: none is too short, together they stay within 60 s."""
    as_float(samples[:0])
    if segments is None:
        segments = (Segment(0.0, len(samples) / RATE_HZ),)
    inside = [Segment(max(0.0, s.start_s), min(s.end_s, len(samples) / RATE_HZ)) for s in segments]
    long_enough = [s for s in inside if s.duration_s >= SHORTEST_PIECE_S]
    return spread(long_enough, at_most_s=MEASURED_S, piece_s=PIECE_S) if long_enough else ()


def sounds_of(samples: NDArray[Any], pieces: Sequence[Segment]) -> list[parselmouth.Sound]:
    """Return pieces of speech as Praat's sounds, without the mean of them all."""
    heard = [p.of(samples).astype(np.float64) for p in pieces]
    offset = np.concatenate(heard).mean() if heard else 0.0
    return [parselmouth.Sound(x - offset, RATE_HZ) for x in heard]


def track_pitch(sounds: Sequence[parselmouth.Sound]) -> list[parselmouth.Pitch]:
    """Track F0 twice, the second time in the range that this voice uses; empty if nothing is voiced."""
    first = [s.to_pitch_ac(time_step=HOP_S, pitch_floor=FLOOR_HZ, pitch_ceiling=CEILING_HZ) for s in sounds]
    f0_hz = _voiced([p.selected_array["frequency"] for p in first])
    if not len(f0_hz):
        return []
    low_hz, high_hz = np.percentile(f0_hz, (25, 75))
    floor_hz, ceiling_hz = max(FLOOR_HZ, 0.75 * low_hz), min(CEILING_HZ, 1.5 * high_hz)
    return [s.to_pitch_ac(time_step=HOP_S, pitch_floor=floor_hz, pitch_ceiling=ceiling_hz) for s in sounds]


def voiced_windows(sounds: Sequence[parselmouth.Sound], pitches: Sequence[parselmouth.Pitch]) -> VoicedWindows:
    """Return F0 and the first two formants wherever the voice is periodic."""
    all_hz = [p.selected_array["frequency"] for p in pitches]
    f0_hz = _voiced(all_hz)
    if not len(f0_hz):
        return VoicedWindows(np.empty(0), np.empty(0), np.empty(0))
    ceiling_hz = 5000.0 if np.median(f0_hz) < 160 else 5500.0
    formants: list[list[float]] = [[], []]
    for sound, pitch, hz in zip(sounds, pitches, all_hz, strict=True):
        burg = sound.to_formant_burg(time_step=HOP_S, max_number_of_formants=5, maximum_formant=ceiling_hz)
        for t in pitch.xs()[hz > 0]:
            for i, values in enumerate(formants, start=1):
                values.append(burg.get_value_at_time(i, t))
    return VoicedWindows(f0_hz, np.array(formants[0]), np.array(formants[1]))


def _voiced(tracks_hz: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    f0_hz = np.concatenate(tracks_hz) if tracks_hz else np.empty(0)
    return f0_hz[f0_hz > 0]


def _median(values: NDArray[np.float64]) -> float | None:
    values = values[np.isfinite(values)]
    return float(np.median(values)) if len(values) else None


def _weighted(values: list[tuple[float, float]]) -> float | None:
    """Return the mean of (value, weight) pairs whose value is finite, or None."""
    finite = [(v, w) for v, w in values if np.isfinite(v) and w > 0]
    return sum(v * w for v, w in finite) / sum(w for _, w in finite) if finite else None


def _perturbations(
    sounds: Sequence[parselmouth.Sound], pitches: Sequence[parselmouth.Pitch]
) -> tuple[float | None, float | None]:
    """Return jitter and shimmer in percent; pieces weigh by their number of periods."""
    jitter, shimmer = [], []
    for sound, pitch in zip(sounds, pitches, strict=True):
        pulses = call([sound, pitch], "To PointProcess (cc)")
        n = call(pulses, "Get number of points")
        if n < 3:
            continue
        jitter.append((100 * call(pulses, "Get jitter (local)", 0, 0, 0.0001, 0.02, 1.3), n))
        shimmer.append((100 * call([sound, pulses], "Get shimmer (local)", 0, 0, 0.0001, 0.02, 1.3, 1.6), n))
    return _weighted(jitter), _weighted(shimmer)


def _cpps_db(sounds: Sequence[parselmouth.Sound]) -> float | None:
    """Return smoothed cepstral peak prominence, pieces weighing by their duration."""
    values = []
    for sound in sounds:
        if not np.any(sound.values):
            continue
        cepstrogram = call(sound, "To PowerCepstrogram", 60, HOP_S, 5000, 50)
        search = (60, 330, 0.05, "Parabolic", 0.001, 0.05, "Straight", "Robust")
        values.append((call(cepstrogram, "Get CPPS", "no", 0.01, 0.001, *search), sound.duration))
    return _weighted(values)


def _syllable_rate(sounds: Sequence[parselmouth.Sound], pitches: Sequence[parselmouth.Pitch]) -> float:
    """Return voiced peaks of intensity per second."""
    tracks = [sound.to_intensity(minimum_pitch=50, time_step=0.016) for sound in sounds]
    levels_db = [track.values[0] for track in tracks]
    threshold_db = np.quantile(np.concatenate(levels_db), 0.99) - 25
    n = 0
    for track, level_db, pitch in zip(tracks, levels_db, pitches, strict=True):
        dip_db = level_db[0]
        peaks = np.flatnonzero((level_db[1:-1] > level_db[:-2]) & (level_db[1:-1] >= level_db[2:])) + 1
        last = 0
        for peak in peaks.tolist():
            dip_db = min(dip_db, level_db[last : peak + 1].min())
            last = peak
            if level_db[peak] < threshold_db or level_db[peak] - dip_db < 2:
                continue
            dip_db = level_db[peak]
            n += bool(pitch.get_value_at_time(track.xs()[peak]) > 0)
    return float(n / sum(sound.duration for sound in sounds))


def _levels_db(x: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the level of each window without its mean: that of all speech would raise the floor of a gated voice."""
    if len(x) < 512:
        return np.empty(0)
    windows = np.lib.stride_tricks.sliding_window_view(x, 512)[::256]
    power: NDArray[np.float64] = np.var(windows, axis=1, dtype=np.float64)
    return np.asarray(10 * np.log10(power + 10 ** (QUANTISATION_DB / 10)))


def _noise_db(samples: NDArray[Any], pieces: Sequence[Segment]) -> float | None:
    around = [Segment(p.start_s - MARGIN_S, p.end_s + MARGIN_S).of(samples) for p in pieces]
    levels_db = np.concatenate([_levels_db(x) for x in around]) if around else np.empty(0)
    if not len(levels_db) or levels_db.max() < QUANTISATION_DB + 6:
        return None
    low_db, high_db = np.percentile(levels_db, (5, 95))
    return float(low_db - high_db)


def _flux_db(samples: NDArray[Any], pieces: Sequence[Segment]) -> float | None:
    taper = np.hanning(512)
    band = slice(5000 * 512 // RATE_HZ, 7000 * 512 // RATE_HZ)
    spectra = []
    for piece in pieces:
        x = piece.of(samples)
        if len(x) >= 1024:
            windows = np.lib.stride_tricks.sliding_window_view(x, 512)[::128] * taper
            spectra.append(np.abs(np.fft.rfft(windows)) ** 2)
    if not spectra:
        return None
    # An offset is in the two lowest lines.
    levels_db = [10 * np.log10(s[:, 2:].sum(1) + 1e-12) for s in spectra]
    loudest_db = np.concatenate(levels_db).max()
    if loudest_db <= -119:
        return None
    changes = []
    for power, level_db in zip(spectra, levels_db, strict=True):
        loud = level_db > loudest_db - 35
        both = loud[1:] & loud[:-1]
        changes.append(np.abs(np.diff(10 * np.log10(power[:, band] + 1e-10), axis=0))[both].ravel())
    change_db = np.concatenate(changes)
    return float(change_db.mean()) if len(change_db) else None
