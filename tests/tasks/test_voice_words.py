"""What is said: in the answer, by each speaker, in the table and in the notes."""

from pathlib import Path

import numpy as np
import pytest
from scipy.io import wavfile

import forensix
from forensix.tasks.evidence import Table
from forensix.voice import Segment, SpeakerTurns
from forensix.voice.transcript import Phrase, Transcript

TASK = "voice_analysis"
RATE_HZ = 16000


class Spoof:
    def score(self, samples: np.ndarray) -> float:
        return 0.1


class Twice:
    """Hears speech twice, from one speaker each."""

    def segments(self, samples: np.ndarray) -> tuple[Segment, ...]:
        return Segment(0.0, 4.0), Segment(6.0, 10.0)

    def diarise(self, samples: np.ndarray, segments: tuple[Segment, ...]) -> tuple[SpeakerTurns, ...]:
        return tuple(SpeakerTurns(f"speaker_{n}", (segment,)) for n, segment in enumerate(segments, 1))


class Writer:
    """Writes down three phrases, the second of which was said where nobody is heard, nearer to the second speaker."""

    def __init__(
        self, engine: str | None = "an engine", complete: bool = True, unsure: tuple[Segment, ...] = ()
    ) -> None:
        self.engine, self.complete, self.unsure = engine, complete, unsure

    def transcribe(self, samples: np.ndarray, segments: tuple[Segment, ...]) -> Transcript:
        said = ((1.0, "good morning"), (5.2, "and"), (8.0, "thank you"))
        phrases = tuple(Phrase(Segment(at_s, at_s + 0.2), text) for at_s, text in said)
        text = " ".join(phrase.text for phrase in phrases)
        return Transcript(text, text, "en", phrases, self.engine, self.complete, self.unsure)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("words") / "sound.wav"
    wavfile.write(path, RATE_HZ, (1000 * np.sin(np.arange(10 * RATE_HZ) / 5)).astype(np.int16))
    return path


def report(path: Path, **more: object) -> forensix.Report:
    parts = {"spoof": Spoof(), "speech_activity": Twice(), "diarisation": Twice(), "transcript": Writer()}
    return forensix.analyze(path, [TASK], **{**parts, **more})


def table(of: forensix.Report) -> Table:
    (found,) = (item for item in of.outcomes[TASK].evidence if isinstance(item, Table) and item.title == "Speakers")
    return found


def test_words_are_told_of_the_recording_and_of_each_speaker(sound: Path) -> None:
    actual = report(sound)
    wire = actual.to_wire(TASK)["result"]
    assert wire["transcript"] == "good morning and thank you"
    assert [speaker["transcript"] for speaker in wire["explanation"]] == ["good morning", "and thank you"]
    assert table(actual).columns[-1] == "transcript"
    assert [row[-1] for row in table(actual).rows] == ["good morning", "and thank you"]


def test_without_a_transcript_nothing_is_said_of_words(sound: Path) -> None:
    actual = report(sound, transcribe=False)
    wire = actual.to_wire(TASK)["result"]
    assert "transcript" not in wire and all("transcript" not in speaker for speaker in wire["explanation"])
    assert "transcript" not in table(actual).columns
    assert all(len(row) == len(table(actual).columns) for row in table(actual).rows)
    assert not any("transcript" in note for note in actual.outcomes[TASK].notes)


@pytest.mark.parametrize(
    ("writer", "notes"),
    [
        (Writer(), ["The transcript was written by an engine."]),
        (Writer(complete=False), ["The transcript was written by an engine; it ends early."]),
        (
            Writer("pocketsphinx"),
            ["The transcript was written by pocketsphinx, which takes every language for English."],
        ),
        (Writer(None), []),
    ],
)
def test_the_engine_that_wrote_it_is_named_with_its_limits(sound: Path, writer: Writer, notes: list[str]) -> None:
    assert [note for note in report(sound, transcript=writer).outcomes[TASK].notes if "transcript" in note] == notes


def test_what_could_not_be_made_out_is_said(sound: Path) -> None:
    notes = report(sound, transcript=Writer(unsure=(Segment(2.0, 5.0), Segment(6.0, 6.5)))).outcomes[TASK].notes
    assert any(note.startswith("It leaves out what was said in 3.5 s of the recording") for note in notes)
    assert not any("leaves out" in note for note in report(sound).outcomes[TASK].notes)
