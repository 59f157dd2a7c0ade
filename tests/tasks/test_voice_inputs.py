"""Difficult sound through voice_analysis: a right verdict, none, or one clear sentence; never a traceback."""

import re
from pathlib import Path

import numpy as np
import pytest
from scipy.io import wavfile
from scipy.signal import resample_poly

import forensix
from forensix.demo import RATE_HZ, SPEECH, synthesise

TASK = "voice_analysis"
RATE = 16000


@pytest.fixture(scope="module")
def voice() -> np.ndarray:
    """Computed speech, floats at 16 kHz."""
    return (resample_poly(synthesise(SPEECH).astype(float), RATE, RATE_HZ) / 32768).astype(np.float32)


def analysed(folder: Path, samples: np.ndarray, rate_hz: int = RATE) -> forensix.Report:
    wavfile.write(folder / "input.wav", rate_hz, samples)
    (report,) = forensix.analyze_many([str(folder / "input.wav")], [TASK], transcribe=False)
    return report


T_S = np.arange(5 * RATE) / RATE
CLIPPED = "the recording is clipped or damaged"
NO_VOICE = {
    "silence": np.zeros(len(T_S), np.int16),
    "noise": (3000 * np.random.default_rng(0).normal(size=len(T_S))).astype(np.int16),
    "chords": (6000 * sum(np.sin(2 * np.pi * f * T_S) * np.exp(-3 * (T_S % 0.5)) for f in (262, 330, 392))).astype(
        np.int16
    ),
    "direct current": np.full(len(T_S), 20000, np.int16),
}


@pytest.mark.parametrize("name", list(NO_VOICE))
def test_what_is_no_voice_is_not_judged(name: str, tmp_path: Path) -> None:
    report = analysed(tmp_path, NO_VOICE[name])
    assert report.verdicts == {TASK: "no_speech"} and report.scores == {TASK: None}
    level = [f"100 % of the recording lies at the peak: {CLIPPED}."] if name == "direct current" else []
    assert list(report.outcomes[TASK].notes) == level


@pytest.mark.parametrize(
    ("factor", "said"), [(2e-4, "7[3-6] dB under full scale: speech so quiet"), (1e30, "at the peak")]
)
def test_where_speech_cannot_be_heard_for_its_level_that_is_said(
    factor: float, said: str, voice: np.ndarray, tmp_path: Path
) -> None:
    report = analysed(tmp_path, (factor * voice).astype(np.float32))
    assert report.verdicts[TASK] != "real" and not report.failed
    (note,) = report.outcomes[TASK].notes[:1]
    assert re.search(said, note) and len(report.outcomes[TASK].notes) == 1


def test_a_fifth_of_a_second_is_too_little(voice: np.ndarray, tmp_path: Path) -> None:
    report = analysed(tmp_path, voice[RATE : RATE + RATE // 5])
    assert report.verdicts[TASK] == "no_speech" or any("too little" in n for n in report.outcomes[TASK].notes)


def test_less_than_a_second_of_speech_is_not_set_beside_voices_that_speak_longer(
    voice: np.ndarray, tmp_path: Path
) -> None:
    """Half a word has no rhythm: it was 'below the bounds' with no syllable a second."""
    report = analysed(tmp_path, voice[RATE : RATE + 3 * RATE // 5])
    outcome = report.outcomes[TASK]
    assert outcome.result.explanation and all(s.audio_features is None for s in outcome.result.explanation)
    assert any("acoustic features" in note for note in outcome.notes)


@pytest.mark.parametrize(
    ("rate_hz", "change"),
    [
        (8000, lambda x: resample_poly(x, 1, 2).astype(np.float32)),
        (192_000, lambda x: resample_poly(x, 12, 1).astype(np.float32)),
        (RATE, lambda x: np.clip(10 * x, -1, 1)),
        (RATE, lambda x: 0.5 * x + np.float32(0.45)),
    ],
    ids=["8 kHz", "192 kHz", "clipped", "on a direct current"],
)
def test_a_damaged_voice_is_judged(rate_hz: int, change: object, voice: np.ndarray, tmp_path: Path) -> None:
    report = analysed(tmp_path, change(voice), rate_hz)
    assert report.verdicts[TASK] in {"real", "fake", "inconclusive"}
    assert 0 <= report.scores[TASK] <= 1 and report.outcomes[TASK].result.explanation
    damaged = any("at the peak" in note for note in report.outcomes[TASK].notes)
    assert damaged == (float(np.abs(change(voice)).max()) == 1.0)


@pytest.mark.slow
def test_no_voice_is_told_to_be_recorded_where_much_is_clipped(voice: np.ndarray, tmp_path: Path) -> None:
    class Clearing:
        card = None
        name = "clearing"

        def score(self, samples: np.ndarray) -> float:
            return 0.01

    def verdict(samples: np.ndarray) -> tuple[str, str]:
        path = tmp_path / "a.wav"
        wavfile.write(path, RATE, samples)
        report = forensix.analyze(path, tasks=[TASK], transcribe=False, spoof=Clearing())
        return report.verdicts[TASK], report.outcomes[TASK].summary

    assert verdict(voice)[0] == "real"
    undecided, summary = verdict(np.clip(100 * voice, -1, 1))
    assert undecided == "inconclusive" and "cannot be told" in summary
    pause = np.zeros(60 * RATE, np.float32)
    assert verdict(np.r_[pause, np.clip(100 * voice, -1, 1), pause])[0] == "inconclusive", "silence mends no voice"


def test_samples_that_are_no_numbers_are_told_and_hardly_move_the_score(voice: np.ndarray, tmp_path: Path) -> None:
    holed = voice.copy()
    holed[::4000], holed[1::4000] = np.nan, np.inf
    complete, mended = analysed(tmp_path, voice), analysed(tmp_path, holed)
    assert abs(mended.scores[TASK] - complete.scores[TASK]) < 0.1
    assert not complete.warnings and any("are no numbers" in warning for warning in mended.warnings)


def test_two_channels_are_heard_as_one_recording(voice: np.ndarray, tmp_path: Path) -> None:
    pause = np.zeros_like(voice)
    both = np.stack([np.r_[voice, pause], np.r_[pause, voice]], axis=1)
    output = analysed(tmp_path, both).outcomes[TASK].result.explanation
    segments = [segment for speaker in output for segment in speaker.segments]
    assert min(s.start for s in segments) < 1 and max(s.end for s in segments) > 1.5 * len(voice) / RATE


def test_more_than_20_minutes_are_refused_in_a_sentence(tmp_path: Path) -> None:
    report = analysed(tmp_path, np.zeros(8000 * 1260, np.int16), 8000)
    assert report.failed and "the limit for audio is 20.0 minutes" in report.error


def test_singing_is_said_so() -> None:
    from forensix.voice.singing import held_share

    notes = np.repeat([220.0, 247.0, 262.0, 294.0], 60)  # 0.6 s each
    vibrato = notes * 2 ** (0.3 / 12 * np.sin(2 * np.pi * 5.5 * np.arange(len(notes)) / 100))
    glide = 120 * 2 ** (np.sin(np.arange(240) / 12) / 3)
    assert held_share(vibrato) > 0.9 and held_share(glide) < 0.1
    assert held_share(np.zeros(100)) == 0.0 and held_share(np.full(5, 200.0)) == 0.0


class Nothing:
    def segments(self, samples: np.ndarray) -> None:
        pass


def test_a_finder_of_speech_that_gives_nothing_is_told_apart_from_silence(voice: np.ndarray, tmp_path: Path) -> None:
    wavfile.write(tmp_path / "input.wav", RATE, voice)
    report = forensix.analyze(tmp_path / "input.wav", [TASK], transcribe=False, speech_activity=Nothing())
    assert report.errors == {TASK: "Nothing must give a list of segments, not None"}
