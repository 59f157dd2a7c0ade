"""voice_analysis: every field of section 2.4, present and absent where the specification says so."""

import html
import io
import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from rich.console import Console
from scipy.io import wavfile

import forensix
from forensix.demo import RATE_HZ, synthesise
from forensix.models import get_card
from forensix.report import print_report
from forensix.schema import AudioFeature, AudioFeatures, Gender
from forensix.tasks import Options, load_task
from forensix.tasks.evidence import Recording, Table
from forensix.tasks.voice_evidence import HeardPhrase, heaviest, set_beside
from forensix.voice import Segment, SpeakerTurns
from forensix.voice.population import Band
from forensix.voice.watermark import Mark
from tests.making import write_video

TASK = "voice_analysis"


class Opinion:
    """A spoof detector with a fixed opinion."""

    def __init__(self, score: float) -> None:
        self.fixed = score

    def score(self, samples: np.ndarray) -> float:
        assert samples.dtype == np.float32
        return self.fixed


@pytest.fixture(scope="module")
def speech(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("voices") / "speech.wav"
    wavfile.write(path, RATE_HZ, synthesise("The committee will meet again on the first Monday of next month."))
    return path


def report(path: Path, score: float, **options: object) -> forensix.Report:
    return forensix.analyze(path, [TASK], spoof=Opinion(score), **options)


def result(path: Path, score: float, **options: object) -> dict:
    return report(path, score, **options).to_wire(TASK)["result"]


def test_a_fake_voice_is_explained_with_every_field(speech: Path) -> None:
    actual = result(speech, 0.9)
    assert actual["class_name"] == "fake"
    assert actual["class_probability"] == pytest.approx(0.9)
    assert isinstance(actual["transcript"], str)
    assert actual["transcript"]
    (speaker,) = actual["explanation"]
    assert speaker["class_name"] == "fake"
    assert speaker["class_probability"] == pytest.approx(0.9)
    assert speaker["gender"] in {"male", "female", "unknown"}
    assert isinstance(speaker["speaker"], str)
    assert isinstance(speaker["transcript"], str)
    assert all(0 <= s["start"] < s["end"] for s in speaker["segments"])
    assert set(speaker["audio_features"]) == set(AudioFeatures.model_fields)
    for feature in speaker["audio_features"].values():
        assert set(feature) <= set(AudioFeature.model_fields)
        assert feature["lower_bound"] <= feature["upper_bound"]
        assert feature["num_real_samples"] > 100
        assert feature["unit"]


def test_a_real_voice_has_speakers_but_no_probability(speech: Path) -> None:
    actual = result(speech, 0.1)
    assert actual["class_name"] == "real"
    assert "class_probability" not in actual
    assert all("class_probability" not in speaker for speaker in actual["explanation"])


def test_without_explain_and_transcribe_only_the_verdict_is_sent(speech: Path) -> None:
    assert result(speech, 0.1, explain=False, transcribe=False) == {"class_name": "real"}
    assert set(result(speech, 0.9, explain=False)) == {"class_name", "class_probability", "transcript"}
    assert "transcript" not in result(speech, 0.9, transcribe=False)["explanation"][0]


def test_no_speech_is_an_answer_without_score(tmp_path: Path) -> None:
    path = tmp_path / "silence.wav"
    wavfile.write(path, 16000, np.zeros(32000, dtype=np.int16))
    actual = report(path, 0.9)
    assert actual.to_wire(TASK)["result"] == {"class_name": "no_speech", "transcript": ""}
    assert actual.scores == {TASK: None}
    assert not actual.failed


def test_a_video_without_sound_has_no_speech(tmp_path: Path) -> None:
    path = tmp_path / "mute.mp4"
    write_video(path)
    actual = report(path, 0.9)
    assert actual.to_wire(TASK)["result"]["class_name"] == "no_speech"
    assert "no sound" in actual.outcomes[TASK].summary


def test_a_speaker_between_the_bounds_is_called_inconclusive_with_his_score(speech: Path) -> None:
    card = SimpleNamespace(name="unsure", version="", threshold=0.9, inconclusive=(0.2, 0.9), sha256="", limits="")
    fields = {}
    for score in (0.1, 0.5, 0.95):
        opinion = Opinion(score)
        opinion.card = card
        actual = forensix.analyze(speech, [TASK], spoof=opinion, transcribe=False)
        (table,) = (e for e in actual.outcomes[TASK].evidence if isinstance(e, Table))
        fields[score] = dict(zip(table.columns, table.rows[0], strict=True))
        assert actual.to_html().count(">Speakers<") == 1
    assert [fields[score]["verdict"] for score in fields] == [
        "sounds recorded",
        "inconclusive",
        "sounds synthetic",
    ]
    assert [fields[score]["score"] for score in fields] == ["0.10", "0.50", "0.95"]
    assert re.fullmatch(r"unknown|(fe)?male \(0\.\d+\)", fields[0.1]["gender (probability)"])


def test_the_event_is_named_as_the_specification_names_it(speech: Path) -> None:
    assert report(speech, 0.9).to_wire(TASK)["event_type"] == "voice_analysis_complete"


def test_the_shipped_detector_scores_speech(speech: Path) -> None:
    actual = forensix.analyze(speech, [TASK], transcribe=False)
    assert 0 <= actual.scores[TASK] <= 1
    assert actual.models[0]["name"] == "forensix-spoof"


@pytest.mark.parametrize("score", [5.2, -3.0, float("nan")])
def test_scores_that_are_none_are_refused_and_not_squashed(speech: Path, score: float) -> None:
    options = Options(explain=False, transcribe=False, components={"spoof": Opinion(score)})
    with forensix.open_media(speech) as media, pytest.raises(ValueError, match="Opinion must give scores in"):
        load_task(TASK).run(media, options)


def test_a_voice_between_the_bounds_is_inconclusive(speech: Path) -> None:
    opinion = Opinion(0.7)
    opinion.card = SimpleNamespace(name="opinion", sha256="0", threshold=0.5, inconclusive=(0.3, 0.8))
    actual = forensix.analyze(speech, [TASK], spoof=opinion, transcribe=False)
    assert actual.verdicts == {TASK: "inconclusive"}
    assert actual.to_wire(TASK)["result"]["class_name"] == "fake"
    assert "whether speaker_1 sounds synthetic cannot be told" in actual.outcomes[TASK].summary


RATE = 16000


@pytest.fixture(scope="module")
def minute(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty seconds of sound, called speech by the components of the tests; its level says who made it."""
    path = tmp_path_factory.mktemp("voices") / "minute.wav"
    samples = 1000 * np.sin(np.arange(20 * RATE) / 5)
    samples[8 * RATE : 12 * RATE] *= 8
    wavfile.write(path, RATE, samples.astype(np.int16))
    return path


class Level:
    """A spoof detector that calls loud sound synthetic."""

    def score(self, samples: np.ndarray) -> float:
        return 0.98 if np.abs(samples).mean() > 0.1 else 0.03


class Everywhere:
    """Hears speech in five stretches of four seconds with short pauses between them."""

    def segments(self, samples: np.ndarray) -> tuple[Segment, ...]:
        return tuple(Segment(4.0 * i + 0.1, 4.0 * i + 3.9) for i in range(5))


class Turns:
    """Knows who speaks: the segments that are given, by speaker."""

    def __init__(self, *speakers: tuple[int, ...]) -> None:
        self.speakers = speakers

    def diarise(self, samples: np.ndarray, segments: tuple[Segment, ...]) -> tuple[SpeakerTurns, ...]:
        return tuple(
            SpeakerTurns(f"speaker_{n}", tuple(segments[i] for i in chosen))
            for n, chosen in enumerate(self.speakers, 1)
        )


def heard(path: Path, *speakers: tuple[int, ...], **more: object) -> forensix.Report:
    parts = {"spoof": Level(), "speech_activity": Everywhere(), "diarisation": Turns(*speakers), **more}
    return forensix.analyze(path, [TASK], transcribe=False, **parts)


def test_a_real_and_a_fake_speaker_get_two_verdicts(minute: Path) -> None:
    actual = heard(minute, (0, 1, 3, 4), (2,)).to_wire(TASK)["result"]
    assert actual["class_name"] == "fake"
    assert [(s["speaker"], s["class_name"]) for s in actual["explanation"]] == [
        ("speaker_1", "real"),
        ("speaker_2", "fake"),
    ]


@pytest.mark.parametrize(
    ("speakers", "inconclusive", "sentence"),
    [
        (((0, 1, 2, 3, 4),), (0.01, 0.9), "The voice stays undecided."),
        (((0, 1, 3, 4), (2,)), (0.01, 0.99), "The 2 voices stay undecided."),
        (((0, 1), (3, 4), (2,)), (0.1, 0.99), "1 of the 3 voices stays undecided."),
        (((0, 1), (3, 4)), (0.1, 0.99), "Nothing in the 2 voices points to a fake, which is no proof of authenticity."),
    ],
)
def test_the_sentence_for_the_file_counts_its_voices(
    minute: Path, speakers: tuple[tuple[int, ...], ...], inconclusive: tuple[float, float], sentence: str
) -> None:
    spoof = Opinion(0.5) if len(speakers) == 1 else Level()
    spoof.card = SimpleNamespace(name="level", sha256="0", threshold=0.99, inconclusive=inconclusive)
    assert heard(minute, *speakers, spoof=spoof).headline == sentence


def test_several_voices_are_named_as_a_list(minute: Path) -> None:
    spoof = Opinion(0.5)
    spoof.card = SimpleNamespace(name="level", sha256="0", threshold=0.99, inconclusive=(0.01, 0.99))
    summary = heard(minute, (0,), (1,), (3, 4), spoof=spoof).outcomes[TASK].summary
    assert "whether speaker_1, speaker_2 and speaker_3 sound synthetic cannot be told" in summary


class Briefly:
    """Hears speech once, for 0.8 s."""

    def segments(self, samples: np.ndarray) -> tuple[Segment, ...]:
        return (Segment(9.0, 9.8),)


@pytest.mark.parametrize("score", [0.1, 0.9])
def test_a_second_of_speech_is_needed_to_judge_a_voice(minute: Path, score: float) -> None:
    report = heard(minute, (0,), speech_activity=Briefly(), spoof=Opinion(score))
    outcome = report.outcomes[TASK]
    assert report.verdicts == {TASK: "inconclusive"}
    (table,) = (item for item in outcome.evidence if isinstance(item, Table))
    assert table.rows[0][1] == "inconclusive"
    assert any("too little to judge a voice" in note for note in outcome.notes)
    assert "cannot be told" in outcome.summary
    assert report.to_wire(TASK)["result"]["class_name"] == "real", "nothing is called fake that cannot be judged"


class Twice:
    """Hears speech for 4 s, and for 0.8 s."""

    def segments(self, samples: np.ndarray) -> tuple[Segment, ...]:
        return (Segment(1.0, 5.0), Segment(9.0, 9.8))


class Each(Opinion):
    """Scores what is longer than a second as one thing and what is shorter as another."""

    def __init__(self, long: float, short: float) -> None:
        super().__init__(long)
        self.long, self.short = long, short

    def score(self, samples: np.ndarray) -> float:
        return self.long if len(samples) > 16_000 else self.short


@pytest.mark.parametrize(
    ("long", "short", "verdict", "of_the_file"),
    [(0.1, 0.9, "inconclusive", 0.1), (0.1, 0.2, "real", 0.1), (0.9, 0.1, "fake", 0.9), (0.8, 0.9, "fake", 0.8)],
)
def test_a_few_words_of_another_speaker_accuse_nobody(
    minute: Path, long: float, short: float, verdict: str, of_the_file: float
) -> None:
    report = heard(minute, (0,), (1,), speech_activity=Twice(), spoof=Each(long, short))
    outcome = report.outcomes[TASK]
    assert report.verdicts == {TASK: verdict} and report.scores[TASK] == pytest.approx(of_the_file)
    (table,) = (item for item in outcome.evidence if isinstance(item, Table))
    assert [row[1] for row in table.rows] == [
        "sounds synthetic" if long > 0.5 else "sounds recorded",
        "inconclusive",
    ]
    assert report.to_wire(TASK)["result"]["explanation"][1]["class_name"] == "real"
    assert "speaker_2 says less than 1 s, too little to judge the voice." in outcome.notes


def test_speech_that_is_no_second_is_not_shown_as_one(minute: Path) -> None:
    class Nearly:
        def segments(self, samples: np.ndarray) -> tuple[Segment, ...]:
            return (Segment(9.002, 10.0),)

    outcome = heard(minute, (0,), speech_activity=Nearly(), spoof=Opinion(0.1)).outcomes[TASK]
    assert any("less than 1 s of speech" in note for note in outcome.notes)
    assert outcome.summary.startswith("In 0.9 s of speech")
    (table,) = (item for item in outcome.evidence if isinstance(item, Table))
    assert table.rows[0][-1] == "0.9 s"


def test_a_sentence_put_into_a_voice_is_placed_and_listed(minute: Path) -> None:
    report = heard(minute, (0, 1, 2, 3, 4))
    voice, piece = report.to_wire(TASK)["result"]["explanation"]
    assert (voice["class_name"], piece["class_name"]) == ("real", "fake")
    assert (piece["speaker"], piece["segments"]) == ("speaker_1 (inserted)", [{"start": 8.1, "end": 11.9}])
    assert len(voice["segments"]) == 4 and report.scores[TASK] == pytest.approx(piece["class_probability"])
    assert any("from 8.1 to 11.9 s" in note for note in report.outcomes[TASK].notes)
    assert "of speech by 1 speaker, speaker_1 (inserted) sounds synthetic." in report.outcomes[TASK].summary
    assert "by 1 speaker," in report.outcomes[TASK].summary


@pytest.mark.parametrize("apart", [True, False])
def test_of_two_people_that_were_mixed_nothing_is_said_to_be_put_in(apart: bool, minute: Path, tmp_path: Path) -> None:
    """A call with a person on each channel: where both spoke, the one seemed to have been put into the other."""
    sound = wavfile.read(minute)[1]
    turns = np.arange(len(sound)) // RATE % 8 < 4
    sides = (sound * turns, sound * ~turns) if apart else (sound, sound // 2)
    wavfile.write(tmp_path / "call.wav", RATE, np.stack(sides, axis=1))
    report = heard(tmp_path / "call.wav", (0, 1, 2, 3, 4), spoof=Quarter())
    speakers = [s["speaker"] for s in report.to_wire(TASK)["result"]["explanation"]]
    assert speakers == (["speaker_1"] if apart else ["speaker_1", "speaker_1 (inserted)"])
    assert any("two channels of sound hold different voices" in w for w in report.warnings) is apart


class Quarter:
    """A spoof detector that calls sound synthetic which is loud even where only half of it is left."""

    def score(self, samples: np.ndarray) -> float:
        return 0.98 if np.abs(samples).mean() > 0.05 else 0.03


class Women:
    """Hears every voice as a woman's."""

    def classify(self, samples: np.ndarray, segments: tuple[Segment, ...]) -> tuple[str, float]:
        return "female", 0.99


@pytest.mark.parametrize(
    ("gender", "band", "said"),
    [
        ("unknown", "wide", "The reference for all features is 910 voices."),
        (
            "male",
            "narrow",
            "The reference for f0, f1 and f2 is 198 male voices of a telephone's band, for the others 846 voices of a "
            "telephone's band, since the voice was heard as male and has a telephone's band.",
        ),
    ],
)
def test_the_voices_that_features_are_set_beside_are_named(gender: Gender, band: Band, said: str) -> None:
    assert set_beside(gender, band) == said


def test_a_report_says_beside_whose_voices_a_voice_was_measured(speech: Path) -> None:
    actual = report(speech, 0.1, gender=Women(), transcribe=False)
    said = "is 213 female voices, for the others 910 voices, since the voice was heard as female."
    assert said in html.unescape(actual.to_html())
    stream = io.StringIO()
    print_report(actual, Console(file=stream, width=300))
    assert said in stream.getvalue()


class Marked:
    """Reads a watermark in whatever it is given, or in the first piece of it."""

    def __init__(self, reading: float, most: int = 99) -> None:
        self.reading, self.most = reading, most

    def read(self, samples: np.ndarray, segments: tuple[Segment, ...]) -> Mark:
        return Mark("PerTh", self.reading, tuple(segments[: self.most]), sum(s.duration_s for s in segments))


@pytest.mark.parametrize("reading", [0.8, 0.99])
def test_a_watermark_decides(minute: Path, reading: float) -> None:
    shipped = get_card("forensix-spoof")
    spoof = Opinion(0.2)
    spoof.card = shipped
    report = heard(minute, (0, 1), voice_watermark=Marked(reading), spoof=spoof)
    assert report.verdicts == {TASK: "fake"}
    assert report.scores[TASK] == pytest.approx(max(reading, shipped.threshold))
    assert any("PerTh" in note for note in report.outcomes[TASK].notes)


@pytest.mark.parametrize(
    ("score", "most", "verdict", "why"),
    [
        (0.02, 99, "inconclusive", "but the voice sounds recorded"),
        (0.5, 1, "inconclusive", "but that is too little of the voice"),
        (0.02, 1, "inconclusive", "but the voice sounds recorded"),
        (0.95, 1, "fake", "synthesisers write into what they say."),
    ],
)
def test_a_watermark_that_chance_can_make_accuses_nobody(
    minute: Path, score: float, most: int, verdict: str, why: str
) -> None:
    """One phrase of a person, untouched, reads as marked: speaker and recording were called fake at 1.0."""
    spoof = Opinion(score)
    spoof.card = get_card("forensix-spoof")
    report = heard(minute, (0, 1, 2, 3), voice_watermark=Marked(1.0, most), spoof=spoof)
    assert report.verdicts == {TASK: verdict} and report.scores[TASK] == pytest.approx(score)
    assert report.to_wire(TASK)["result"]["class_name"] == ("fake" if verdict == "fake" else "real")
    (note,) = (note for note in report.outcomes[TASK].notes if "PerTh" in note)
    assert why in note


def test_what_weighed_most_pulled_to_the_side_that_the_most_suspect_voice_lies_on() -> None:
    said = [("a", 0.0, 2.0, 0.1), ("a", 2.0, 4.0, 0.3), ("a", 4.0, 5.0, 0.6), ("b", 5.0, 9.0, 0.01)]
    phrases = [HeardPhrase(speaker, Segment(start_s, end_s), score) for speaker, start_s, end_s, score in said]
    assert [(span.start_s, span.label) for span in heaviest(phrases, 0.5)] == [(0.0, "72 %"), (2.0, "28 %")]


@pytest.mark.slow
def test_the_recording_is_shown_with_its_phrases_and_its_sound(minute: Path) -> None:
    (output,) = (e for e in heard(minute, (0, 1, 2, 3, 4)).outcomes[TASK].evidence if isinstance(e, Recording))
    assert [span.lane for span in output.timeline.spans] == ["speaker_1"] * 4 + ["speaker_1 (inserted)"]
    assert max(output.highs) == pytest.approx(8000 / 32768, abs=0.001)
    assert output.heaviest[0].start_s == pytest.approx(8.1) and output.heaviest[0].label == "100 %"
    assert output.sound.startswith("data:audio/mpeg;base64,") and output.sound_s == 20
    page = html.unescape(heard(minute, (0, 1)).to_html())
    assert "<audio" in page and page.count("<script>") == 1 and "script-src 'sha256-" in page


@pytest.mark.slow
def test_explaining_does_not_move_the_score(minute: Path) -> None:
    scores = {heard(minute, (0, 1, 2, 3, 4), explain=explain).scores[TASK] for explain in (True, False)}
    assert len(scores) == 1
