from collections.abc import Callable

import numpy as np
import pytest

from forensix.perturb import audio
from forensix.perturb.audio import SAMPLE_RATE_HZ, Samples, high_pass, low_pass, noise, reverberate, telephone

Degrade = Callable[[Samples, np.random.Generator], Samples]
CODECS: tuple[Degrade, ...] = (audio.mp3, audio.aac, audio.opus, audio.g722)
DEGRADATIONS: tuple[Degrade, ...] = (
    *(noise, low_pass, high_pass, audio.equalise, audio.clip, reverberate, telephone),
    *CODECS,
)


def speech_like(seconds: float = 1.0) -> np.ndarray:
    """Return a harmonic tone whose pitch and level wander."""
    at_s = np.arange(int(seconds * SAMPLE_RATE_HZ)) / SAMPLE_RATE_HZ
    phase = 2 * np.pi * np.cumsum(140 + 30 * np.sin(2 * np.pi * 1.7 * at_s)) / SAMPLE_RATE_HZ
    tone = sum(np.sin(k * phase) / k for k in range(1, 40))
    return (0.1 * tone * (0.6 + 0.4 * np.sin(2 * np.pi * 3 * at_s))).astype(np.float32)


def power_between(samples: np.ndarray, low_hz: float, high_hz: float) -> float:
    power = np.abs(np.fft.rfft(samples)) ** 2
    at_hz = np.fft.rfftfreq(samples.size, 1 / SAMPLE_RATE_HZ)
    return float(power[(at_hz >= low_hz) & (at_hz < high_hz)].sum())


@pytest.mark.parametrize("degrade", DEGRADATIONS)
def test_length_and_type_are_kept_and_the_input_is_not_touched(degrade: Degrade) -> None:
    samples = speech_like()
    before = samples.copy()
    degraded = degrade(samples, np.random.default_rng(0))
    assert degraded.shape == samples.shape
    assert degraded.dtype == np.float32
    assert np.isfinite(degraded).all()
    assert (samples == before).all()
    assert not np.array_equal(degraded, samples)


@pytest.mark.parametrize("degrade", DEGRADATIONS)
def test_equal_generators_give_equal_results(degrade: Degrade) -> None:
    samples = speech_like(0.5)
    once, again = (degrade(samples, np.random.default_rng(7)) for _ in range(2))
    assert np.array_equal(once, again)


@pytest.mark.parametrize("degrade", CODECS)
def test_a_codec_gives_back_the_same_sound_at_the_same_place(degrade: Degrade) -> None:
    samples = speech_like()
    coded = degrade(samples, np.random.default_rng(0))
    assert np.corrcoef(samples, coded)[0, 1] > 0.8


@pytest.mark.parametrize("degrade", DEGRADATIONS)
@pytest.mark.parametrize("size", [1, 400])
def test_very_short_and_silent_input(degrade: Degrade, size: int) -> None:
    assert np.isfinite(degrade(np.zeros(size, np.float32), np.random.default_rng(0))).all()


@pytest.mark.parametrize("degrade", DEGRADATIONS)
def test_no_sound_stays_none_without_a_warning(degrade: Degrade) -> None:
    assert degrade(np.zeros(0, np.float32), np.random.default_rng(0)).shape == (0,)


def test_what_is_next_to_silence_is_never_clipped() -> None:
    voice, quiet = speech_like(), np.full(48_000, 1e-5, np.float32)
    clipped = audio.clip(np.concatenate([voice, quiet]), np.random.default_rng(0), fraction=0.5)
    assert np.abs(clipped).max() == np.float32(1e-4) and (clipped[voice.size :] == quiet).all()
    share = np.mean(audio.clip(voice, np.random.default_rng(0), fraction=0.5) != voice)
    assert share == pytest.approx(0.5, abs=0.01)


def test_noise_has_the_asked_ratio() -> None:
    samples = speech_like()
    added = noise(samples, np.random.default_rng(0), snr_db=15.0, slope=1.0) - samples
    assert 10 * np.log10(np.mean(samples**2) / np.mean(added**2)) == pytest.approx(15.0, abs=0.1)


def test_filters_cut_on_their_side_only() -> None:
    samples, rng = speech_like(), np.random.default_rng(0)
    low, high = low_pass(samples, rng, cutoff_hz=2_000.0), high_pass(samples, rng, cutoff_hz=2_000.0)
    assert power_between(low, 3_000, 8_000) < 0.01 * power_between(samples, 3_000, 8_000)
    assert power_between(low, 100, 1_000) == pytest.approx(power_between(samples, 100, 1_000), rel=0.05)
    assert power_between(high, 100, 1_000) < 1e-2 * power_between(samples, 100, 1_000)


def test_a_room_rings_on_after_the_voice() -> None:
    click = np.zeros(8_000, np.float32)
    click[100] = 1.0
    wet = reverberate(click, np.random.default_rng(0), decay_s=0.3, direct_db=6.0)
    assert wet[100] == pytest.approx(1.0, abs=0.05)
    assert np.abs(wet[200:2_000]).max() > 1e-3
    assert np.abs(wet[:100]).max() < 1e-6


def test_telephone_is_narrow() -> None:
    samples = speech_like()
    line = telephone(samples, np.random.default_rng(0))
    assert power_between(line, 4_200, 8_000) < 1e-3 * power_between(line, 300, 3_400)
