"""Copy synthesis: rebuild a real recording the way that vocoders do, to get a fake with the same voice and channel.

A detector that is shown studio fakes and telephone reals learns the telephone. A copy shares everything with its
original except what synthesis leaves: phase that follows from magnitudes, envelopes smoothed by mel bands, excitation
that is too regular or too random, images of the lower band made by upsampling. Every function takes float32 samples at
16 kHz and returns as many.

References
----------
D. Griffin and J. Lim, "Signal estimation from modified short-time Fourier transform", 1984.
M. Morise et al., "WORLD", 2016 (the idea of envelope, F0 and aperiodicity; nothing of its code).
X. Wang and J. Yamagishi, "Spoofed training data for speech spoofing countermeasure can be efficiently created using
neural vocoders", 2023 (copy synthesis as training data).
"""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.signal import firwin, lfilter
from torch import Tensor
from torchaudio.functional import melscale_fbanks

from forensix.voice.speech import RATE_HZ

Samples = NDArray[np.float32]
Generator = np.random.Generator


def _grid(rng: Generator) -> tuple[int, int]:
    """Draw a window and a hop in samples, of the sizes that vocoders use."""
    window = int(rng.choice([512, 800, 1024]))
    return window, window // int(rng.choice([4, 4, 5, 8]))


def _stft(samples: Samples, window: int, hop: int) -> Tensor:
    return torch.stft(torch.from_numpy(samples), window, hop, window=torch.hann_window(window), return_complex=True)


def _istft(spectrum: Tensor, window: int, hop: int, n: int) -> Samples:
    out = torch.istft(spectrum, window, hop, window=torch.hann_window(window), length=n)
    return out.numpy().astype(np.float32)


def _griffin_lim(magnitude: Tensor, window: int, hop: int, n: int, rounds: int, rng: Generator) -> Samples:
    """Find a signal with these magnitudes, from random phases, with momentum."""
    phase = torch.from_numpy(rng.uniform(-np.pi, np.pi, tuple(magnitude.shape)).astype(np.float32))
    angles, previous = torch.polar(torch.ones_like(phase), phase), torch.zeros((), dtype=torch.complex64)
    hann = torch.hann_window(window)
    for _ in range(rounds):
        signal = torch.istft(magnitude * angles, window, hop, window=hann, length=n)
        rebuilt = torch.stft(signal, window, hop, window=hann, return_complex=True)
        pushed = rebuilt + 0.9 * (rebuilt - previous)
        angles, previous = pushed / (pushed.abs() + 1e-8), rebuilt
    return _istft(magnitude * angles, window, hop, n)


def _through_mel(magnitude: Tensor, n_mels: int) -> Tensor:
    """Project magnitudes onto mel bands and spread them back."""
    n_mels = min(n_mels, magnitude.shape[0] // 4)  # narrower bands would hold no bin
    bank = melscale_fbanks(magnitude.shape[0], 0.0, RATE_HZ / 2, n_mels, RATE_HZ)
    bands = (bank.T @ magnitude) / bank.sum(0)[:, None].clamp_min(1e-6)
    smooth: Tensor = (bank @ bands) / bank.sum(1)[:, None].clamp_min(1e-6)
    return smooth


def linear_griffin_lim(samples: Samples, rng: Generator) -> Samples:
    """Keep the magnitudes, forget the phases, find others in 4 to 15 rounds."""
    window, hop = _grid(rng)
    return _griffin_lim(_stft(samples, window, hop).abs(), window, hop, samples.size, int(rng.integers(4, 16)), rng)


def mel_griffin_lim(samples: Samples, rng: Generator) -> Samples:
    """Keep 40 to 128 mel bands only, and find phases."""
    window, hop = _grid(rng)
    magnitude = _through_mel(_stft(samples, window, hop).abs(), int(rng.choice([40, 64, 80, 80, 100, 128])))
    return _griffin_lim(magnitude, window, hop, samples.size, int(rng.integers(6, 20)), rng)


def mel_magnitude(samples: Samples, rng: Generator) -> Samples:
    """Smooth the magnitudes through 60 to 160 mel bands but keep the true phases: an acoustic model's envelope."""
    window, hop = _grid(rng)
    spectrum = _stft(samples, window, hop)
    magnitude = _through_mel(spectrum.abs(), int(rng.choice([60, 80, 100, 128, 160])))
    return _istft(torch.polar(magnitude, spectrum.angle()), window, hop, samples.size)


def phase_noise(samples: Samples, rng: Generator) -> Samples:
    """Keep the magnitudes and disturb the phases, more so at high frequencies, as neural vocoders do."""
    window, hop = _grid(rng)
    spectrum = _stft(samples, window, hop)
    bins = torch.linspace(0, 1, spectrum.shape[0])[:, None]
    spread = float(rng.uniform(0.3, 1.8)) * (bins + float(rng.uniform(0, 0.3))).clamp_max(1.0)
    angle = torch.from_numpy(rng.standard_normal(tuple(spectrum.shape)).astype(np.float32)) * spread
    return _istft(spectrum * torch.polar(torch.ones_like(angle), angle), window, hop, samples.size)


def noise_band(samples: Samples, rng: Generator) -> Samples:
    """Replace what lies above 2 to 5 kHz with noise under the same mel envelope."""
    window, hop = 512, 128
    spectrum = _stft(samples, window, hop)
    envelope = _through_mel(spectrum.abs(), int(rng.choice([40, 80, 128])))
    shape = (2, *spectrum.shape)
    re, im = torch.from_numpy(rng.standard_normal(shape).astype(np.float32) / np.float32(np.sqrt(2)))
    from_bin = int(rng.uniform(2_000, 5_000) / RATE_HZ * window)
    fade = ((torch.arange(spectrum.shape[0]) - from_bin) / 12).clamp(0, 1)[:, None]
    return _istft(spectrum * (1 - fade) + torch.complex(re, im) * envelope * fade, window, hop, samples.size)


def _pitch(samples: Samples, hop: int) -> tuple[Samples, Samples]:
    """Return F0 in Hz and how periodic each frame is (0 to 1), by normalised autocorrelation over 40 ms."""
    size, low, high = 640, RATE_HZ // 400, RATE_HZ // 65
    padded = np.pad(samples, (size // 2, size))
    frames = np.lib.stride_tricks.sliding_window_view(padded, size)[: samples.size : hop] * np.hanning(size)
    power = np.abs(np.fft.rfft(frames, 2 * size)) ** 2
    correlation = (
        np.fft.irfft(power)[:, :size] / np.fft.irfft(np.abs(np.fft.rfft(np.hanning(size), 2 * size)) ** 2)[:size]
    )
    correlation /= correlation[:, :1] + 1e-9
    best = correlation[:, low:high].argmax(1)
    periodic = np.clip(correlation[np.arange(best.size), best + low], 0, 1)
    return (RATE_HZ / (best + low)).astype(np.float32), periodic.astype(np.float32)


def source_filter(samples: Samples, rng: Generator) -> Samples:
    """Excite a smooth minimum-phase envelope with pulses at the measured F0 and noise: the classic vocoder."""
    window, hop = 1024, 80
    spectrum = _stft(samples, window, hop).abs().numpy()
    log_power = np.log(spectrum + 1e-5)
    cepstrum = np.fft.irfft(log_power, axis=0)
    lifter = np.zeros(window)
    n_kept = int(rng.integers(30, 70))
    lifter[0], lifter[1:n_kept] = 1.0, 2.0
    minimum_phase = np.exp(np.fft.rfft(cepstrum * lifter[:, None], axis=0))
    f0, periodic = _pitch(samples, hop)
    f0 = np.repeat(f0, hop)[: samples.size] * float(rng.uniform(0.97, 1.03))
    voiced = np.repeat(periodic > rng.uniform(0.4, 0.6), hop)[: samples.size]
    phase = np.cumsum(f0 / RATE_HZ)
    pulses = np.diff(np.floor(phase), prepend=0.0) * np.sqrt(RATE_HZ / f0)
    hiss = rng.standard_normal(samples.size)
    breath = float(rng.uniform(0.1, 0.4))
    if rng.random() < 0.25:
        voiced = np.zeros_like(voiced)  # a whisper: noise alone
    excitation = np.where(voiced, pulses * (1 - breath) + hiss * breath, hiss).astype(np.float32)
    driven = _stft(excitation, window, hop)
    n_frames = min(driven.shape[1], minimum_phase.shape[1])
    built = driven[:, :n_frames] * torch.from_numpy(minimum_phase[:, :n_frames].astype(np.complex64))
    return _istft(built, window, hop, samples.size)


def linear_prediction(samples: Samples, rng: Generator) -> Samples:
    """Whiten with linear prediction, replace part of the residual with noise or roughen it, and filter back."""
    order, size = int(rng.integers(12, 24)), 480
    mix = float(rng.uniform(0.3, 1.0))
    n_frames = -(-samples.size // size)
    padded = np.pad(samples, (0, n_frames * size - samples.size + size)).astype(np.float64)
    out = np.zeros(n_frames * size)
    state_in, state_out = np.zeros(order), np.zeros(order)
    for i in range(n_frames):
        frame = padded[i * size : i * size + 2 * size] * np.hanning(2 * size)
        r = np.fft.irfft(np.abs(np.fft.rfft(frame, 4 * size)) ** 2)[: order + 1]
        a = _levinson(
            r * np.exp(-0.5 * (0.01 * np.arange(order + 1)) ** 2) + np.eye(1, order + 1)[0] * (1e-4 * r[0] + 1e-7)
        )
        piece = padded[i * size : (i + 1) * size]
        residual, state_in = lfilter(a, [1.0], piece, zi=state_in)
        hiss = rng.standard_normal(size) * (np.sqrt(np.mean(residual**2)) + 1e-9)
        out[i * size : (i + 1) * size], state_out = lfilter([1.0], a, (1 - mix) * residual + mix * hiss, zi=state_out)
    return out[: samples.size].astype(np.float32)


def _levinson(r: NDArray[np.float64]) -> NDArray[np.float64]:
    a, error = np.array([1.0]), r[0]
    for i in range(1, r.size):
        k = -(a @ r[i:0:-1]) / error
        a = np.append(a, 0.0) + k * np.append(a, 0.0)[::-1]
        error *= 1 - k * k
    return a


def upsampling_images(samples: Samples, rng: Generator) -> Samples:
    """Rebuild the upper bands from images of the lower ones, through filters too short to hold them back.

    Transposed convolutions leave such images and a tone at multiples of the lower rate.
    """
    factor = int(rng.choice([2, 2, 4, 5, 8]))
    kept = np.convolve(samples, firwin(63, 0.9 / factor), "same").astype(np.float32)
    held = np.zeros_like(kept)
    held[::factor] = kept[::factor] * factor
    short = firwin(factor * int(rng.integers(2, 5)) + 1, 0.95 / factor)
    rebuilt = np.convolve(held, short * (1 + 0.15 * rng.standard_normal(short.size)), "same").astype(np.float32)
    rough = np.convolve(rng.standard_normal(samples.size), [0.5, -0.5], "same") * np.abs(rebuilt) * rng.uniform(0, 0.3)
    amount = float(rng.uniform(0.15, 1.0))
    ripple = 1 + float(rng.uniform(0, 0.05)) * np.resize(rng.standard_normal(factor), samples.size)
    return ((samples - amount * (samples - rebuilt)) * ripple + rough * amount).astype(np.float32)


def coarse_samples(samples: Samples, rng: Generator) -> Samples:
    """Quantise to 6 to 9 bits of mu-law, or disturb each sample, as autoregressive models over samples do."""
    peak = float(np.abs(samples).max()) + 1e-6
    mu = float(2 ** int(rng.integers(6, 10)) - 1)
    squeezed = np.sign(samples) * np.log1p(mu * np.abs(samples) / peak) / np.log1p(mu)
    steps = (np.round((squeezed + 1) / 2 * mu + rng.uniform(-0.5, 0.5, samples.size)) / mu) * 2 - 1
    coarse: Samples = (np.sign(steps) * peak * np.expm1(np.abs(steps) * np.log1p(mu)) / mu).astype(np.float32)
    return coarse


def residual_noise(samples: Samples, rng: Generator) -> Samples:
    """Leave noise 12 to 35 dB under each mel band, as diffusion that stops early does, on slightly blurred magnitudes.

    The noise follows the speech, unlike a room's.
    """
    window, hop = _grid(rng)
    spectrum = _stft(samples, window, hop)
    envelope = _through_mel(spectrum.abs(), int(rng.choice([80, 100, 128])))
    re, im = torch.from_numpy(rng.standard_normal((2, *spectrum.shape)).astype(np.float32) / np.float32(np.sqrt(2)))
    tilt = torch.linspace(0, float(rng.uniform(0, 10)), spectrum.shape[0])[:, None]
    gain = 10 ** ((tilt - float(rng.uniform(12, 35))) / 20)
    kept = torch.polar(spectrum.abs().lerp(envelope, float(rng.uniform(0, 0.3))), spectrum.angle())
    return _istft(kept + torch.complex(re, im) * envelope * gain, window, hop, samples.size)


METHODS: dict[str, Callable[[Samples, Generator], Samples]] = {
    "linear_griffin_lim": linear_griffin_lim,
    "mel_griffin_lim": mel_griffin_lim,
    "mel_magnitude": mel_magnitude,
    "phase_noise": phase_noise,
    "noise_band": noise_band,
    "source_filter": source_filter,
    "linear_prediction": linear_prediction,
    "upsampling_images": upsampling_images,
    "coarse_samples": coarse_samples,
    "residual_noise": residual_noise,
}


def resynthesise(samples: Samples, method: str, rng: Generator) -> Samples:
    """Return a copy made by one of `METHODS`, at the loudness of the original."""
    copy = np.nan_to_num(METHODS[method](samples, rng))
    return copy * np.float32(np.sqrt(np.mean(samples**2) / (np.mean(copy**2) + 1e-12)))
