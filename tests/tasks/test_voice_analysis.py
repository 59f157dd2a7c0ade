"""voice_analysis: every field of section 2.4, present and absent where the specification says so."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.io import wavfile

import forensix
from forensix.demo import RATE_HZ, synthesise
from forensix.schema import AudioFeature, AudioFeatures
from forensix.tasks import Options, load_task
from forensix.tasks.voice_analysis import stretches
from forensix.voice import Segment
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
    found = result(speech, 0.9)
    assert found["class_name"] == "fake"
    assert found["class_probability"] == pytest.approx(0.9)
    assert isinstance(found["transcript"], str)
    assert found["transcript"]
    (speaker,) = found["explanation"]
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
    found = result(speech, 0.1)
    assert found["class_name"] == "real"
    assert "class_probability" not in found
    assert all("class_probability" not in speaker for speaker in found["explanation"])


def test_without_explain_and_transcribe_only_the_verdict_is_sent(speech: Path) -> None:
    assert result(speech, 0.1, explain=False, transcribe=False) == {"class_name": "real"}
    assert set(result(speech, 0.9, explain=False)) == {"class_name", "class_probability", "transcript"}
    assert "transcript" not in result(speech, 0.9, transcribe=False)["explanation"][0]


def test_no_speech_is_an_answer_without_score(tmp_path: Path) -> None:
    path = tmp_path / "silence.wav"
    wavfile.write(path, 16000, np.zeros(32000, dtype=np.int16))
    found = report(path, 0.9)
    assert found.to_wire(TASK)["result"] == {"class_name": "no_speech", "transcript": ""}
    assert found.scores == {TASK: None}
    assert not found.failed


def test_a_video_without_sound_has_no_speech(tmp_path: Path) -> None:
    path = tmp_path / "mute.mp4"
    write_video(path)
    found = report(path, 0.9)
    assert found.to_wire(TASK)["result"]["class_name"] == "no_speech"
    assert "no sound" in found.outcomes[TASK].summary


def test_the_event_is_named_as_the_specification_names_it(speech: Path) -> None:
    assert report(speech, 0.9).to_wire(TASK)["event_type"] == "voice_analysis_complete"


def test_short_pauses_stay_inside_what_is_scored_as_one() -> None:
    parts = [Segment(0, 1), Segment(1.3, 2), Segment(3, 3.2), Segment(5, 7)]
    assert stretches(parts) == (Segment(0, 2), Segment(5, 7))
    assert stretches([Segment(1, 1.3)]) == (Segment(1, 1.3),)


def test_the_shipped_detector_scores_speech(speech: Path) -> None:
    found = forensix.analyze(speech, [TASK], transcribe=False)
    assert 0 <= found.scores[TASK] <= 1
    assert found.models[0]["name"] == "forensix-spoof"


@pytest.mark.parametrize("score", [5.2, -3.0, float("nan")])
def test_scores_that_are_none_are_refused_and_not_squashed(speech: Path, score: float) -> None:
    options = Options(explain=False, transcribe=False, components={"spoof": Opinion(score)})
    with forensix.open_media(speech) as media, pytest.raises(ValueError, match="Opinion must give scores in"):
        load_task(TASK).run(media, options)


def test_a_voice_between_the_bounds_is_inconclusive(speech: Path) -> None:
    opinion = Opinion(0.7)
    opinion.card = SimpleNamespace(name="opinion", sha256="0", threshold=0.5, inconclusive=(0.3, 0.8))
    found = forensix.analyze(speech, [TASK], spoof=opinion, transcribe=False)
    assert found.verdicts == {TASK: "inconclusive"}
    assert found.to_wire(TASK)["result"]["class_name"] == "fake"
    assert "cannot be told" in found.outcomes[TASK].summary
