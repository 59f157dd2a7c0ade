import itertools
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forensix.training.voice.mixtures import Clip, Conditions, clip_of, mix
from forensix.training.voice.real_voices import read_samples
from forensix.training.voice.speakers import confusion
from forensix.voice.speakers import MOST_WINDOWS, Prepared, SpeakerTurns, diarise, group, windows_of
from forensix.voice.speech import Segment, speech_segments, total_s
from tests.voice.synthetic import syllables

RATE_HZ = 16000


def _prepared(segments: tuple[Segment, ...], changes_s: list[float]) -> Prepared:
    """Windows of two voices, as vectors that are near two axes; the voice changes at these times."""
    rng = np.random.default_rng(0)
    windows = tuple(windows_of(segments))
    who = [int(np.searchsorted(changes_s, (w.start_s + w.end_s) / 2)) % 2 for w in windows]
    vectors = np.eye(4)[who] + 0.1 * rng.normal(size=(len(windows), 4))
    return Prepared(windows, vectors / np.linalg.norm(vectors, axis=1, keepdims=True))


def test_no_speech_no_speakers() -> None:
    assert diarise(np.zeros(RATE_HZ, np.int16), ()) == ()


def test_a_short_word_is_one_speaker() -> None:
    segments = (Segment(0.1, 0.4),)
    assert diarise(syllables(140, 2), segments) == (SpeakerTurns("speaker_1", segments),)


def test_one_steady_voice_is_one_speaker() -> None:
    samples = syllables(140, 60)
    segments = (Segment(0, 10.0), Segment(10.2, 24.0))
    speakers = diarise(samples, segments)
    assert [s.segments for s in speakers] == [segments]


def test_two_voices_are_told_apart() -> None:
    segments = tuple(Segment(4.0 * i, 4.0 * i + 3.9) for i in range(6))
    speakers = group(_prepared(segments, [4.0, 8.0, 12.0, 16.0, 20.0]), segments, 0.5)
    assert [s.speaker for s in speakers] == ["speaker_1", "speaker_2"]
    assert speakers[0].segments == segments[::2] and speakers[1].segments == segments[1::2]


def test_a_high_threshold_joins_them() -> None:
    segments = (Segment(0, 4), Segment(5, 9))
    assert len(group(_prepared(segments, [4.5]), segments, 1.5)) == 1


def test_a_change_inside_a_segment_is_found() -> None:
    segments = (Segment(0, 8.0),)
    speakers = group(_prepared(segments, [4.0]), segments, 0.5)
    assert len(speakers) == 2
    assert speakers[0].segments[0].end_s == speakers[1].segments[0].start_s == pytest.approx(4.0, abs=0.4)
    assert speakers[1].segments[-1].end_s == 8.0


def test_a_voice_heard_for_a_moment_is_no_speaker() -> None:
    segments = (Segment(0, 12.0), Segment(13.0, 14.5), Segment(15.0, 27.0))
    speakers = group(_prepared(segments, [12.5, 14.7]), segments, 0.5)
    assert [s.segments for s in speakers] == [segments]


def test_segments_are_kept_whole_in_sum() -> None:
    segments = (*(Segment(4.0 * i, 4.0 * i + 3.9) for i in range(6)), Segment(23.95, 24.1))
    speakers = group(_prepared(segments, [6.0, 11.0, 15.0]), segments, 0.5)
    assert len(speakers) == 2
    assert sum(s.duration_s for s in speakers) == pytest.approx(total_s(segments))
    spoken = sorted(s for speaker in speakers for s in speaker.segments)
    assert all(a.end_s <= b.start_s + 1e-9 for a, b in itertools.pairwise(spoken))


def test_hours_are_not_cut_into_ever_more_windows() -> None:
    segments = [Segment(10.0 * i, 10.0 * i + 9) for i in range(3600)]
    windows = windows_of(segments)
    assert MOST_WINDOWS / 2 < len(windows) <= MOST_WINDOWS
    assert windows[0].start_s < 20 and windows[-1].end_s > 35900


def test_confusion_is_blind_to_names_and_counts_seconds() -> None:
    truth = [(Segment(0, 4), "a"), (Segment(4, 10), "b")]
    assert confusion(truth, [(Segment(0, 4), "x"), (Segment(4, 10), "y")]) == 0
    assert confusion(truth, [(Segment(0, 10), "x")]) == pytest.approx(0.4, abs=0.01)


def test_people_of_the_corpora(corpora: Path) -> None:
    rows = pd.read_csv(corpora / "voice/manifest.csv", dtype=str)
    rows = rows[(rows.split == "dev") & (rows.label == "real") & rows.speaker.isin(["LJSpeech", "emodb03"])]
    clips = [
        clip_of(speaker, read_samples(corpora / "voice" / path))
        for speaker, part in rows.groupby("speaker")
        for path in part.path[:4]
    ]
    for speaker in ("LJSpeech", "emodb03"):
        alone = mix([clip for clip in clips if clip.speaker == speaker], Conditions(), seed=0)
        assert len(diarise(alone.samples, speech_segments(alone.samples))) == 1
    talk = mix(clips, Conditions(), seed=0)
    speakers = diarise(talk.samples, speech_segments(talk.samples))
    assert confusion(talk.turns, [(s, f.speaker) for f in speakers for s in f.segments]) < 0.1


def test_a_mixture_knows_where_its_clips_went() -> None:
    voice = syllables(140, 8)
    clips = [Clip(name, voice, (Segment(0.0, len(voice) / RATE_HZ),)) for name in "ab" for _ in range(3)]
    talk = mix(clips, Conditions(pause_s=(0.5, 0.5), snr_db=30), seed=1)
    assert set(talk.speakers) == {"a", "b"} and len(talk.turns) == 6
    said = np.concatenate([s.of(talk.samples) for s, _ in talk.turns])
    quiet = Segment(talk.turns[-1][0].end_s + 0.5, len(talk.samples) / RATE_HZ).of(talk.samples)
    assert np.sqrt(np.mean(said**2)) > 10 * np.sqrt(np.mean(quiet**2))
    again = mix(clips, Conditions(pause_s=(0.5, 0.5), snr_db=30), seed=1)
    assert again.turns == talk.turns and np.array_equal(again.samples, talk.samples)


@pytest.mark.slow
def test_ten_minutes_take_bounded_time() -> None:
    samples = np.tile((32767 * syllables(140, 25)).astype(np.int16), 60)
    segments = [Segment(10.0 * i, 10.0 * i + 9.8) for i in range(60)]
    start_s = time.process_time()
    assert len(diarise(samples, segments)) == 1
    assert time.process_time() - start_s < 30
