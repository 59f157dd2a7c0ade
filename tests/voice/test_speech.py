import itertools
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forensix.errors import UsageError
from forensix.training.voice.real_voices import read_samples
from forensix.voice.speech import Segment, as_float, speech_probabilities, speech_segments, spread, total_s
from tests.voice.synthetic import syllables

RATE_HZ = 16000


def _noise(n: int, seed: int = 0) -> np.ndarray:
    return (3000 * np.random.default_rng(seed).normal(size=n)).astype(np.int16)


def _tones(n: int) -> np.ndarray:
    t_s = np.arange(n) / RATE_HZ
    chords = [(262, 330, 392), (294, 370, 440), (330, 415, 494)]
    x = sum(np.sin(2 * np.pi * hz * t_s) for hz in chords[0])
    for i, chord in enumerate(chords):
        part = slice(i * n // 3, (i + 1) * n // 3)
        x[part] = sum(np.sin(2 * np.pi * hz * t_s[part]) for hz in chord)
    return (8000 * x / np.abs(x).max()).astype(np.int16)


@pytest.mark.parametrize("samples", [np.zeros(3 * RATE_HZ, np.int16), _noise(3 * RATE_HZ), _tones(3 * RATE_HZ)])
def test_silence_noise_and_chords_are_no_speech(samples: np.ndarray) -> None:
    assert speech_segments(samples) == ()


def test_empty_and_shorter_than_a_window() -> None:
    assert speech_segments(np.empty(0, np.int16)) == ()
    assert speech_segments(np.ones(100, np.float32)) == ()


def test_not_finite_counts_as_silence() -> None:
    assert speech_segments(np.full(RATE_HZ, np.nan, np.float32)) == ()


@pytest.mark.parametrize("samples", [np.zeros((2, 100), np.int16), np.zeros(100, np.int32), np.array(["a"])])
def test_what_are_no_mono_samples_is_refused(samples: np.ndarray) -> None:
    with pytest.raises(UsageError):
        speech_segments(samples)


def test_int16_becomes_float_of_the_same_wave() -> None:
    assert as_float(np.array([-32768, 0, 16384], np.int16)).tolist() == [-1.0, 0.0, 0.5]


def test_spread_bounds_the_time_and_reaches_both_ends() -> None:
    segments = [Segment(t, t + 7.0) for t in np.arange(0, 600, 10.0)]
    pieces = spread(segments, at_most_s=60)
    assert 45 <= total_s(pieces) <= 60
    assert pieces[0].start_s < 60 and pieces[-1].end_s > 540
    assert all(piece.duration_s <= 5 for piece in pieces)
    assert list(pieces) == sorted(pieces)


def test_spread_keeps_everything_that_fits() -> None:
    segments = (Segment(0, 3), Segment(4, 15))
    pieces = spread(segments, at_most_s=60)
    assert total_s(pieces) == pytest.approx(14)
    assert pieces[0] == Segment(0, 3)


def test_speech_between_silences_is_found_where_it_is(corpora: Path) -> None:
    rows = pd.read_csv(corpora / "voice/manifest.csv", dtype=str)
    path = rows[(rows.split == "train") & (rows.speaker == "LJSpeech") & (rows.label == "real")].path.iloc[0]
    clip = read_samples(corpora / "voice" / path)
    silence = np.zeros(2 * RATE_HZ, np.int16)
    segments = speech_segments(np.concatenate([silence, clip, silence]))
    assert segments
    assert segments[0].start_s > 1.9 and segments[-1].end_s < 2.2 + len(clip) / RATE_HZ
    assert total_s(segments) > 0.6 * len(clip) / RATE_HZ
    assert all(a.end_s <= b.start_s for a, b in itertools.pairwise(segments))


def test_block_borders_do_not_show(corpora: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = pd.read_csv(corpora / "voice/manifest.csv", dtype=str)
    clip = read_samples(corpora / "voice" / rows[rows.label == "real"].path.iloc[0])
    whole = speech_probabilities(clip)
    monkeypatch.setattr("forensix.voice.speech.BLOCK", 7 * 512)
    assert speech_probabilities(clip) == pytest.approx(whole, abs=1e-5)


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")  # how the wheel loads its file
def test_probabilities_are_those_of_the_network_window_by_window() -> None:
    import torch
    from silero_vad import load_silero_vad

    samples = syllables(140, 10)
    network = load_silero_vad()
    with torch.inference_mode():
        windows = torch.from_numpy(samples[: len(samples) // 512 * 512]).view(-1, 512)
        expected = [float(network(window, RATE_HZ)) for window in windows]
    assert max(expected) > 0.3
    assert speech_probabilities(samples)[: len(expected)] == pytest.approx(expected, abs=1e-4)


def test_ten_minutes_take_bounded_time() -> None:
    start_s = time.process_time()
    assert speech_segments(np.tile(_noise(RATE_HZ), 600)) == ()
    assert time.process_time() - start_s < 30
