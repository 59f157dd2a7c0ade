"""Degradations of mono 16 kHz speech: the same set for training and for measuring robustness.

Every function takes float32 samples in [-1, 1] at 16 kHz, returns a new float32 array of the same length, and draws
whatever is random from the generator that it is given, so equal generators give equal results. What a function leaves
out of [-1, 1] stays there: only the codecs clip. Their names and strengths are in `registry`.

>>> import numpy as np
>>> tone = np.sin(np.arange(16_000) / 5).astype(np.float32)
>>> noisy = noise(tone, np.random.default_rng(0), snr_db=20.0)
>>> noisy.shape, noisy.dtype
((16000,), dtype('float32'))
"""

import io
from collections.abc import Callable
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray
from scipy import fft

SAMPLE_RATE_HZ = 16_000
Samples = NDArray[np.float32]
#: The rates that MP3 has at 16 kHz: an encoder takes the nearest of them for any other.
MP3_KBPS = (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)
EQUALISED_DB = 8.0
_EPSILON = 1e-9

# Container, encoder and working rate of each codec.
_CODECS = {
    "mp3": ("mp3", "libmp3lame", 16_000),
    "aac": ("adts", "aac", 16_000),
    "opus": ("ogg", "libopus", 16_000),
    "mu_law": ("wav", "pcm_mulaw", 8_000),
    "a_law": ("wav", "pcm_alaw", 8_000),
    "g722": ("wav", "g722", 16_000),
}


def shape_spectrum(samples: Samples, response: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Samples:
    """Multiply the spectrum by a real gain that depends on frequency in Hz."""
    n = fft.next_fast_len(samples.size + 2048, real=True)
    spectrum = fft.rfft(samples, n)
    gain = response(np.arange(spectrum.size) * (SAMPLE_RATE_HZ / n))
    shaped: Samples = fft.irfft(spectrum * gain.astype(np.float32), n)[: samples.size].astype(np.float32)
    return shaped


def noise(
    samples: Samples, rng: np.random.Generator, *, snr_db: float | None = None, slope: float | None = None
) -> Samples:
    """Add Gaussian noise whose power falls as ``frequency ** -slope``: 0 is white, 1 pink, 2 brown.

    ``snr_db`` is the ratio of mean powers (drawn from 10 to 40 dB), ``slope`` is drawn from 0 to 2.
    """
    snr_db = float(rng.uniform(10, 40)) if snr_db is None else snr_db
    slope = float(rng.uniform(0, 2)) if slope is None else slope
    if not samples.size:
        return samples.copy()
    white = rng.standard_normal(samples.size, dtype=np.float32)
    coloured = shape_spectrum(white, lambda f: np.maximum(f, 40.0) ** (-slope / 2)) if slope else white
    power = float(np.mean(samples**2)) / 10 ** (snr_db / 10)
    return samples + coloured * np.float32(np.sqrt(power / (float(np.mean(coloured**2)) + _EPSILON)))


def low_pass(samples: Samples, rng: np.random.Generator, *, cutoff_hz: float | None = None) -> Samples:
    """Cut frequencies above ``cutoff_hz`` (drawn from 3 to 7.5 kHz) with a smooth edge a tenth of it wide."""
    cutoff_hz = float(rng.uniform(3_000, 7_500)) if cutoff_hz is None else cutoff_hz
    return shape_spectrum(samples, lambda f: 0.5 - 0.5 * np.tanh((f - cutoff_hz) / (0.03 * cutoff_hz)))


def high_pass(samples: Samples, rng: np.random.Generator, *, cutoff_hz: float | None = None) -> Samples:
    """Cut frequencies below ``cutoff_hz`` (drawn from 40 to 300 Hz)."""
    cutoff_hz = float(rng.uniform(40, 300)) if cutoff_hz is None else cutoff_hz
    return shape_spectrum(samples, lambda f: 0.5 + 0.5 * np.tanh((f - cutoff_hz) / (0.2 * cutoff_hz)))


def equalise(samples: Samples, rng: np.random.Generator) -> Samples:
    """Apply a smooth random frequency response: a tilt and six bands, each within `EQUALISED_DB` of flat."""
    at_hz = np.array([0, 200, 500, 1_200, 2_500, 4_500, 8_000], dtype=np.float64)
    bands_db = rng.uniform(-EQUALISED_DB, EQUALISED_DB, at_hz.size) / 2
    gains_db = bands_db + np.linspace(0, rng.uniform(-EQUALISED_DB, EQUALISED_DB) / 2, 7)
    return shape_spectrum(samples, lambda f: 10 ** (np.interp(f, at_hz, gains_db) / 20))


def reverberate(
    samples: Samples, rng: np.random.Generator, *, decay_s: float | None = None, direct_db: float | None = None
) -> Samples:
    """Add a room: noise ``direct_db`` under the voice that decays by 60 dB in ``decay_s`` (0.1 to 0.8 s)."""
    decay_s = float(rng.uniform(0.1, 0.8)) if decay_s is None else decay_s
    direct_db = float(rng.uniform(2, 15)) if direct_db is None else direct_db
    n = max(1, int(decay_s * SAMPLE_RATE_HZ))
    tail = rng.standard_normal(n, dtype=np.float32) * np.exp(-6.9 * np.arange(n, dtype=np.float32) / n)
    tail[: min(n, 32)] = 0
    tail *= np.float32(10 ** (-direct_db / 20) / (np.sqrt(np.sum(tail**2)) + _EPSILON))
    tail[0] = 1.0
    size = fft.next_fast_len(samples.size + n, real=True)
    wet: Samples = fft.irfft(fft.rfft(samples, size) * fft.rfft(tail, size), size)[: samples.size].astype(np.float32)
    return wet


def clip(samples: Samples, rng: np.random.Generator, *, fraction: float | None = None) -> Samples:
    """Clip the loudest ``fraction`` of samples (drawn from 0.1 % to 2 %), as an overdriven microphone does.

    Samples below 0.0001, next to silence, stay: fewer are clipped where fewer are louder.
    """
    fraction = float(rng.uniform(0.001, 0.02)) if fraction is None else fraction
    bound = max(float(np.quantile(np.abs(samples[::4]), 1 - fraction)), 1e-4) if samples.size else 1.0
    return np.clip(samples, -bound, bound)


def telephone(samples: Samples, rng: np.random.Generator) -> Samples:
    """Send through a telephone line: 300 to 3400 Hz, G.711 at 8 kHz with the mu-law or the A-law."""
    narrow = low_pass(high_pass(samples, rng, cutoff_hz=280.0), rng, cutoff_hz=3_300.0)
    return _coded(narrow, "mu_law" if rng.random() < 0.5 else "a_law", None)


def mp3(samples: Samples, rng: np.random.Generator, *, kbps: int | None = None) -> Samples:
    """Encode as MP3 at ``kbps``, one of `MP3_KBPS` (drawn from 16 to 128), and decode."""
    return _coded(samples, "mp3", int(rng.choice([16, 24, 32, 48, 64, 128])) if kbps is None else kbps)


def aac(samples: Samples, rng: np.random.Generator, *, kbps: int | None = None) -> Samples:
    """Encode as AAC at ``kbps`` (16 to 96) and decode."""
    return _coded(samples, "aac", int(rng.choice([16, 24, 32, 48, 96])) if kbps is None else kbps)


def opus(samples: Samples, rng: np.random.Generator, *, kbps: int | None = None) -> Samples:
    """Encode as Opus at ``kbps`` (8 to 48) and decode."""
    return _coded(samples, "opus", int(rng.choice([8, 12, 16, 24, 32, 48])) if kbps is None else kbps)


def g722(samples: Samples, rng: np.random.Generator) -> Samples:
    """Encode as G.722, wide-band telephony at 64 kbit/s, and decode."""
    return _coded(samples, "g722", None)


def _coded(samples: Samples, codec: str, kbps: int | None) -> Samples:
    """Encode and decode in memory; the result is aligned with the input and as long."""
    container, encoder, rate_hz = _CODECS[codec]
    buffer = io.BytesIO()
    with av.open(buffer, "w", format=container) as out:
        stream: Any = out.add_stream(encoder, rate=rate_hz)
        stream.layout = "mono"
        if kbps is not None:
            stream.bit_rate = kbps * 1000
        pcm = (np.clip(samples, -1, 1) * 32767).astype(np.int16)
        frame = av.AudioFrame.from_ndarray(np.concatenate([pcm, np.zeros(1600, np.int16)])[None], "s16", "mono")
        frame.sample_rate = SAMPLE_RATE_HZ
        resampler = av.AudioResampler(format=stream.format, layout="mono", rate=rate_hz, frame_size=stream.frame_size)
        for piece in [*resampler.resample(frame), *resampler.resample(None)]:
            out.mux(stream.encode(piece))
        out.mux(stream.encode(None))
    buffer.seek(0)
    back = av.AudioResampler(format="s16", layout="mono", rate=SAMPLE_RATE_HZ)
    with av.open(buffer, "r", format="aac" if container == "adts" else container) as source:
        frames = [piece for frame in source.decode(audio=0) for piece in back.resample(frame)]
        frames += back.resample(None)
    decoded = np.concatenate([frame.to_ndarray()[0] for frame in frames]) / np.float32(32768)
    return _aligned(decoded.astype(np.float32), samples)


def _aligned(decoded: Samples, samples: Samples) -> Samples:
    """Undo a coder's delay (up to 0.2 s either way) by cross-correlation, and cut to the input's length."""
    n = fft.next_fast_len(decoded.size + samples.size, real=True)
    matched = fft.irfft(fft.rfft(decoded, n) * np.conj(fft.rfft(samples, n)), n)
    reach = min(3_200, n // 2)
    lags = np.concatenate([np.arange(reach), np.arange(-reach, 0)])
    lag = int(lags[np.argmax(matched[lags])])
    shifted = decoded[lag:] if lag >= 0 else np.concatenate([np.zeros(-lag, np.float32), decoded])
    return np.pad(shifted[: samples.size], (0, max(0, samples.size - shifted.size)))
