import time

import numpy as np
import parselmouth
import pytest

from forensix.errors import UsageError
from forensix.schema import AudioFeatures
from forensix.voice.features import MEASURED_S, QUANTISATION_DB, UNITS, extract, measured_pieces
from forensix.voice.speech import Segment, total_s
from tests.voice.synthetic import VOWEL_A, VOWEL_I, syllables, vowel

RATE_HZ = 16000
MEAN_STEP = 2 / np.sqrt(np.pi)
"""Mean absolute difference of two normal numbers of standard deviation 1."""


def test_the_features_are_those_of_the_specification() -> None:
    assert set(UNITS) == set(AudioFeatures.model_fields)
    assert set(extract(vowel(120))) == set(UNITS)


@pytest.mark.parametrize("f0_hz", [90, 120, 220])
def test_f0_of_a_pulse_train(f0_hz: float) -> None:
    assert extract(vowel(f0_hz))["f0"] == pytest.approx(f0_hz, rel=0.005)


@pytest.mark.parametrize("formants", [VOWEL_A, VOWEL_I])
def test_formants_of_a_known_vowel(formants: tuple[tuple[float, float], ...]) -> None:
    values = extract(vowel(120, formants=formants))
    assert values["f1"] == pytest.approx(formants[0][0], abs=60)
    assert values["f2"] == pytest.approx(formants[1][0], abs=60)


@pytest.mark.parametrize("noise", [0.005, 0.01, 0.02])
def test_jitter_is_the_mean_step_of_the_periods(noise: float) -> None:
    jitter = extract(vowel(120, 5.0, period_noise=noise))["jitter"]
    assert jitter == pytest.approx(100 * noise * MEAN_STEP, rel=0.25)


def test_a_regular_voice_has_little_jitter_and_shimmer() -> None:
    values = extract(vowel(120))
    assert values["jitter"] < 0.2 and values["shimmer"] < 1


@pytest.mark.parametrize("noise", [0.03, 0.06])
def test_shimmer_is_the_mean_step_of_the_peaks(noise: float) -> None:
    shimmer = extract(vowel(120, 5.0, amplitude_noise=noise))["shimmer"]
    assert shimmer == pytest.approx(100 * noise * MEAN_STEP, rel=0.25)


@pytest.mark.parametrize("offset", [0.003, 0.02])
def test_a_constant_offset_changes_nothing(offset: float) -> None:
    """Noise and shimmer rose with it, far beyond those of any real voice."""
    noise = 0.0001 * np.random.default_rng(0).normal(size=4 * RATE_HZ)
    samples = np.concatenate([0.2 * vowel(120, 1.0), np.zeros(RATE_HZ)] * 2)
    values, shifted = extract(samples + noise), extract(samples + noise + offset)
    assert values["background_noise"] < -40
    for name, value in values.items():
        assert shifted[name] == pytest.approx(value, rel=0.01), name


def test_pitch_range_of_a_glide_in_semitones() -> None:
    notes = [vowel(110 * 2 ** (i / 12), 0.5) for i in range(11)]
    # From the 20th to the 80th percentile of 11 equal steps of a semitone each there are 6.
    assert extract(np.concatenate(notes))["pitch_consistency"] == pytest.approx(6, abs=0.6)
    assert extract(vowel(110))["pitch_consistency"] < 0.1


PRAAT = """
pitch = To Pitch (ac): 0.01, floor, 15, "no", 0.03, 0.45, 0.01, 0.35, 0.14, ceiling
f0 = Get quantile: 0, 0, 0.5, "Hertz"
selectObject: sound
plusObject: pitch
pulses = To PointProcess (cc)
jitter = Get jitter (local): 0, 0, 0.0001, 0.02, 1.3
selectObject: sound
plusObject: pulses
shimmer = Get shimmer (local): 0, 0, 0.0001, 0.02, 1.3, 1.6
selectObject: sound
To Formant (burg): 0.01, 5, maximum, 0.025, 50
f1 = Get quantile: 1, 0, 0, "Hertz", 0.5
f2 = Get quantile: 2, 0, 0, "Hertz", 0.5
selectObject: sound
To PowerCepstrogram: 60, 0.01, 5000, 50
cpps = Get CPPS: "no", 0.01, 0.001, 60, 330, 0.05, "Parabolic", 0.001, 0.05, "Straight", "Robust"
"""


@pytest.mark.parametrize("f0_hz", [110.0, 210.0])
def test_praat_itself_says_the_same_to_one_per_cent(f0_hz: float) -> None:
    voice = vowel(f0_hz, 3.0, period_noise=0.01, amplitude_noise=0.05)
    sound = parselmouth.Sound((voice - voice.mean()).astype(np.float64), RATE_HZ)
    settings = f"floor = {0.75 * f0_hz}\nceiling = {1.5 * f0_hz}\nmaximum = {5000 if f0_hz < 160 else 5500}\n"
    _, reference = parselmouth.praat.run(sound, "sound = selected ()\n" + settings + PRAAT, return_variables=True)
    values = extract(voice)
    for name, scale in {"f0": 1, "f1": 1, "f2": 1, "jitter": 100, "shimmer": 100}.items():
        assert values[name] == pytest.approx(scale * reference[name], rel=0.01), name
    assert values["naturalness"] == pytest.approx(reference["cpps"], rel=0.01)


def test_noise_lowers_the_cepstral_peak() -> None:
    clean = vowel(120)
    noise = np.random.default_rng(0).normal(size=len(clean)).astype(np.float32)
    heights_db = [extract(clean + level * noise)["naturalness"] for level in (0.0, 0.01, 0.05)]
    assert heights_db[0] > heights_db[1] > heights_db[2]


@pytest.mark.parametrize("floor_db", [-60, -40, -20])
def test_noise_floor_is_relative_to_the_voice(floor_db: float) -> None:
    voice = vowel(120, 2.0)
    pause = np.zeros(RATE_HZ, np.float32)
    noise = np.random.default_rng(0).normal(size=4 * RATE_HZ).astype(np.float32)
    voice_rms = np.sqrt(np.mean(voice**2))
    samples = np.concatenate([pause, voice, pause]) + voice_rms * 10 ** (floor_db / 20) * noise
    assert extract(samples, [Segment(1, 3)])["background_noise"] == pytest.approx(floor_db, abs=2.5)


def test_a_gain_changes_no_feature_but_little() -> None:
    samples = syllables(140, 8)
    loud, quiet = extract(samples), extract(0.3 * samples)
    for name in UNITS:
        assert quiet[name] == pytest.approx(loud[name], rel=0.02, abs=0.05), name


@pytest.mark.parametrize("pause_s", [0.2, 0.3])
def test_syllables_are_counted(pause_s: float) -> None:
    n = 10
    samples = syllables(140, n, pause_s=pause_s)
    assert extract(samples)["temporal_patterns"] == pytest.approx(1 / (0.2 + pause_s), rel=0.15)


def test_a_held_high_band_changes_less_than_a_noisy_one() -> None:
    voice = vowel(125, 2.0)
    # A window of 32 ms holds 4 periods and a hop one: without noise every spectrum is the same.
    rough = voice + 0.01 * np.random.default_rng(0).normal(size=len(voice)).astype(np.float32)
    assert extract(voice)["spectral_artifacts"] < 2.5
    # Independent periodogram bins would change by 10 log10(e) * 2 ln 2 = 6.0 dB; windows overlap by three quarters.
    assert 3.5 < extract(rough)["spectral_artifacts"] < 6.0


@pytest.mark.parametrize(
    "samples", [np.zeros(RATE_HZ, np.int16), np.empty(0, np.int16), np.full(RATE_HZ, np.nan, np.float32)]
)
def test_without_a_voice_nothing_is_measured(samples: np.ndarray) -> None:
    assert set(extract(samples).values()) == {None}


def test_noise_has_no_voice_but_a_floor() -> None:
    values = extract((3000 * np.random.default_rng(0).normal(size=2 * RATE_HZ)).astype(np.int16))
    assert values["f0"] is None and values["jitter"] is None and values["naturalness"] is None
    assert -2 < values["background_noise"] <= 0


def test_digital_silence_counts_as_quantisation_noise() -> None:
    samples = np.concatenate([vowel(120, 1.0), np.zeros(RATE_HZ, np.float32)])
    floor_db = extract(samples, [Segment(0, 2)])["background_noise"]
    assert QUANTISATION_DB < floor_db < QUANTISATION_DB + 30


def test_absurdly_loud_floats_do_no_harm() -> None:
    values = extract(vowel(120, 1.0) * np.float32(1e38))
    assert all(value is None or np.isfinite(value) for value in values.values())


def test_only_the_speaker_is_measured() -> None:
    samples = np.concatenate([vowel(110, 2.0), vowel(220, 2.0)])
    assert extract(samples, [Segment(0, 2)])["f0"] == pytest.approx(110, rel=0.01)
    assert extract(samples, [Segment(2, 4)])["f0"] == pytest.approx(220, rel=0.01)


def test_segments_outside_the_recording_are_cut() -> None:
    samples = vowel(120, 1.0)
    assert extract(samples, [Segment(-1, 9)])["f0"] == pytest.approx(120, rel=0.01)
    assert extract(samples, [Segment(5, 6)])["f0"] is None


def test_stereo_is_refused() -> None:
    with pytest.raises(UsageError, match="mono"):
        extract(np.zeros((100, 2), np.int16))


def test_ten_minutes_take_bounded_time() -> None:
    samples = np.tile((32767 * syllables(140, 25)).astype(np.int16), 60)
    assert len(samples) == 600 * RATE_HZ
    assert total_s(measured_pieces(samples, None)) <= MEASURED_S
    start_s = time.process_time()
    assert extract(samples)["f0"] == pytest.approx(140, rel=0.02)
    assert time.process_time() - start_s < 20
