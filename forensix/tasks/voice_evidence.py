"""What `voice_analysis` shows: the recording with who speaks when, what weighed most, and sound to listen to."""

import base64
import io
import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from forensix.calibration import logit
from forensix.forensics.findings import joined
from forensix.schema import AudioFeatures, Gender
from forensix.tasks.evidence import Evidence, Recording, Span, Timeline
from forensix.voice.population import Band, distribution, named, stratum
from forensix.voice.speech import RATE_HZ, Segment, as_float

SOUND_S = 300.0
"""The most that is embedded for listening: 1.6 MB."""

SOUND_BITS_PER_S = 32_000
EFFORT = "7"
"""Of the encoder, 0 to 9, least last: half the time of the default."""
N_HEAVIEST = 5
COLUMNS = 800
N_FFT = 512
RANGE_DB = 70.0
WINDOWS_A_COLUMN = 4
BANDS: Mapping[Band, str] = {"narrow": "a telephone's band", "wide": "a wider band than a telephone's"}


@dataclass(frozen=True)
class HeardPhrase:
    """One phrase with whose it is and its score."""

    speaker: str
    segment: Segment
    score: float


def set_beside(gender: Gender, band: Band) -> str:
    """Return which real voices the features of a voice are set beside, and why these, in words.

    Examples
    --------
    >>> set_beside("unknown", "wide")
    'The reference for all features is 910 voices.'
    """
    features: dict[str, list[str]] = {}
    for name in AudioFeatures.model_fields:
        features.setdefault(stratum(name, gender, band), []).append(name)
    parts: list[str] = []
    for part, names in sorted(features.items(), key=lambda item: len(item[1])):
        counts = sorted({distribution(name, gender, band).count for name in names})
        n = " to ".join(f"{count:,}" for count in (counts[0], counts[-1])[: len(counts)])
        voices = f"{gender} voices" if gender in part.split() else "voices"
        of_band = f" of {BANDS[band]}" if band in part.split() else ""
        rest = "the others" if parts else "all features"
        which = rest if len(parts) == len(features) - 1 else joined(names).replace("_", " ")
        parts.append(f"for {which}{'' if parts else ' is'} {n} {voices}{of_band}")
    chosen = {word for part in features for word in part.split()}
    reasons = [f"was heard as {gender}"] if gender in chosen else []
    reasons += [f"has {BANDS[band]}"] if band in chosen else []
    why = f", since the voice {' and '.join(reasons)}" if reasons else ""
    own = named()
    of_own = f" It is a population of one's own: {own}." if own else ""
    return f"The reference {', '.join(parts)}{why}.{of_own}"


def recording(samples: NDArray[Any], phrases: Sequence[HeardPhrase], threshold: float) -> tuple[Evidence, ...]:
    """Return the display of a recording: phrases with scores over waveform and spectrogram, and the sound itself.

    Parameters
    ----------
    samples
        Shape (n,), int16 or float, mono, 16 kHz; may be a memory map, which is read in parts.
    phrases
        All phrases, of every speaker.
    threshold
        The score at and above which a phrase counts as fake.
    """
    spans = tuple(Span(p.speaker, p.segment.start_s, p.segment.end_s, score=p.score) for p in phrases)
    lows, highs = _envelope(samples)
    return (
        Recording(
            "Who speaks when, and how synthetic each phrase sounds",
            Timeline("Phrases", len(samples) / RATE_HZ, spans),
            lows,
            highs,
            _spectrogram(samples),
            RATE_HZ / 2,
            _encoded(samples[: round(SOUND_S * RATE_HZ)]),
            min(SOUND_S, len(samples) / RATE_HZ),
            heaviest(phrases, threshold),
        ),
    )


def heaviest(phrases: Sequence[HeardPhrase], threshold: float) -> tuple[Span, ...]:
    """Return the phrases that moved the verdict of the most suspect speaker most, with their share in per cent.

    A phrase weighs its distance from the threshold on the logit scale times its seconds, which is what pooling adds up;
    only those count that pull to the side on which the speaker's score lies.
    """
    weights: dict[str, list[tuple[float, HeardPhrase]]] = {}
    for phrase in phrases:
        pull = float(logit(phrase.score) - logit(threshold)) * phrase.segment.duration_s
        weights.setdefault(phrase.speaker, []).append((pull, phrase))
    if not weights:
        return ()

    def mean(pulls: list[tuple[float, HeardPhrase]]) -> float:
        return sum(pull for pull, _ in pulls) / max(1e-9, sum(p.segment.duration_s for _, p in pulls))

    most = max(weights.values(), key=mean)
    side = 1.0 if mean(most) >= 0 else -1.0
    pulling = sorted(((side * pull, p) for pull, p in most if side * pull > 0), key=lambda pair: -pair[0])
    total = sum(pull for pull, _ in pulling)
    return tuple(
        Span(p.speaker, p.segment.start_s, p.segment.end_s, f"{100 * pull / total:.0f} %", p.score)
        for pull, p in pulling[:N_HEAVIEST]
    )


def _columns(n: int) -> Iterator[tuple[int, int]]:
    """Yield where each column of a picture starts and stops, in samples."""
    edges = np.linspace(0, n, min(COLUMNS, max(1, n)) + 1).astype(int).tolist()
    yield from itertools.pairwise(edges)


def _envelope(samples: NDArray[Any]) -> tuple[tuple[float, ...], tuple[float, ...]]:
    lows, highs = [], []
    for start, stop in _columns(len(samples)):
        part = as_float(samples[start:stop])
        lows.append(round(float(part.min(initial=0.0)), 4))
        highs.append(round(float(part.max(initial=0.0)), 4))
    return tuple(lows), tuple(highs)


def _spectrogram(samples: NDArray[Any]) -> str:
    taper = np.hanning(N_FFT).astype(np.float32)
    powers = []
    for start, stop in _columns(len(samples)):
        at = np.linspace(start, max(start, stop - N_FFT), WINDOWS_A_COLUMN if stop - start > N_FFT else 1).astype(int)
        windows = [np.resize(part, N_FFT) for a in at if len(part := as_float(samples[a : a + N_FFT]))]
        powers.append(np.mean(np.abs(np.fft.rfft(np.stack(windows) * taper)) ** 2, axis=0))
    level_db = 10 * np.log10(np.stack(powers, axis=1)[::-1] + 1e-10)
    loudness = np.clip(1 + (level_db - level_db.max()) / RANGE_DB, 0, 1)
    picture = Image.fromarray((255 * (1 - loudness)).astype(np.uint8)).resize((COLUMNS, 160), Image.Resampling.BOX)
    target = io.BytesIO()
    picture.save(target, "JPEG", quality=75)
    return f"data:image/jpeg;base64,{base64.b64encode(target.getvalue()).decode()}"


def _encoded(samples: NDArray[Any]) -> str:
    """Return samples as an MP3 data URI."""
    import av

    target = io.BytesIO()
    with av.open(target, "w", format="mp3", options={"write_xing": "0", "id3v2_version": "0"}) as container:
        stream = container.add_stream("libmp3lame", rate=RATE_HZ, layout="mono", options={"compression_level": EFFORT})
        stream.bit_rate = SOUND_BITS_PER_S
        for start in range(0, len(samples), RATE_HZ):
            part = np.rint(32767 * np.clip(as_float(samples[start : start + RATE_HZ]), -1, 1)).astype(np.int16)
            frame = av.AudioFrame.from_ndarray(part[None], format="s16p", layout="mono")
            frame.rate, frame.pts = RATE_HZ, start
            container.mux(stream.encode(frame))
        container.mux(stream.encode(None))
    return f"data:audio/mpeg;base64,{base64.b64encode(target.getvalue()).decode()}"
