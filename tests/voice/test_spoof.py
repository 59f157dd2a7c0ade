import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forensix.errors import UsageError, WeightsMissing
from forensix.models import get_card, load_model
from forensix.models.files import SHIPPED
from forensix.training.voice.clips import decode
from forensix.voice.spoof import SpoofDetector, detector_of, normalise, speech_span, trim

RATE_HZ = 16_000


def hum(seconds: float, seed: int = 0) -> np.ndarray:
    """Return a wandering harmonic tone with some noise."""
    at_s = np.arange(int(seconds * RATE_HZ)) / RATE_HZ
    phase = 2 * np.pi * np.cumsum(130 + 20 * np.sin(2 * np.pi * 2 * at_s)) / RATE_HZ
    tone = sum(np.sin(k * phase) / k for k in range(1, 30)) * (0.6 + 0.4 * np.sin(2 * np.pi * 4 * at_s))
    return (0.05 * tone + 0.002 * np.random.default_rng(seed).standard_normal(at_s.size)).astype(np.float32)


@pytest.fixture(scope="module")
def detector() -> SpoofDetector:
    return detector_of(load_model("forensix-spoof"))


@pytest.fixture(scope="module")
def published(checkpoints: Path) -> dict[str, SpoofDetector]:
    folder = checkpoints / "aasist"
    return {name: SpoofDetector(load_model(name, folder=folder)) for name in ("aasist", "aasist-l")}


@pytest.mark.parametrize("seconds", [1 / RATE_HZ, 0.05, 0.7, 4.0, 11.3])
def test_any_length_gives_a_score(detector: SpoofDetector, seconds: float) -> None:
    score = detector.score(hum(seconds))
    assert isinstance(score, float)
    assert 0.0 <= score <= 1.0


def test_scores_repeat_and_follow_the_logit(detector: SpoofDetector) -> None:
    sounds = [hum(2.0), hum(2.0)[::-1].copy(), np.random.default_rng(0).normal(0, 0.1, 32_000).astype(np.float32)]
    logits = [detector.logit(sound) for sound in sounds]
    scores = [detector.score(sound) for sound in sounds]
    assert scores == [detector.score(sound) for sound in sounds]
    assert list(np.argsort(logits)) == list(np.argsort(scores))


def test_level_silence_around_and_offset_do_not_matter(detector: SpoofDetector) -> None:
    sound = hum(2.0)
    quiet = np.zeros(16_000, np.float32)
    framed = np.concatenate([quiet, 0.1 * sound, quiet]).astype(np.float32)
    assert detector.logit(framed) == pytest.approx(detector.logit(sound), abs=0.3)
    assert detector.logit(0.05 * sound) == pytest.approx(detector.logit(sound), abs=1e-2)


def test_silence_is_scored_without_trouble(detector: SpoofDetector) -> None:
    assert np.isfinite(detector.logit(np.zeros(48_000, np.float32)))


@pytest.mark.slow
def test_long_speech_is_scored_in_windows(detector: SpoofDetector) -> None:
    n_windows: list[int] = []
    hook = detector.network.module.register_forward_pre_hook(lambda _, given: n_windows.append(len(given[0])))
    try:
        detector.score(hum(9.0))
        assert sum(n_windows) == 4
        n_windows.clear()
        detector.score(np.tile(hum(4.0), 60))
        assert sum(n_windows) == detector.card.preprocessing["at_most"]
    finally:
        hook.remove()


@pytest.mark.parametrize(
    "wrong",
    [
        [0.0, 0.1],
        np.zeros(100, np.float64),
        np.zeros(100, np.int16),
        np.zeros((2, 100), np.float32),
        np.zeros(0, np.float32),
        np.full(100, np.nan, np.float32),
        None,
    ],
)
def test_what_is_no_speech_array_is_refused_in_one_sentence(detector: SpoofDetector, wrong: object) -> None:
    with pytest.raises(UsageError, match=r"^speech must[^.]+$"):
        detector.score(wrong)  # type: ignore[arg-type]


def test_trim_finds_the_loud_part() -> None:
    sound = np.concatenate([np.zeros(8_000), 0.3 * np.ones(16_000), np.zeros(8_000)]).astype(np.float32)
    assert speech_span(sound) == (8_000, 24_000)
    assert trim(np.zeros(5_000, np.float32)).size == 5_000
    assert speech_span(np.ones(3, np.float32)) == (0, 3)


def test_normalise_sets_the_level() -> None:
    levelled = normalise(hum(1.0) + np.float32(0.2))
    assert abs(levelled.mean()) < 1e-4
    assert np.sqrt(np.mean(levelled**2)) == pytest.approx(0.05, rel=1e-3)
    assert not normalise(np.zeros(10, np.float32)).any()


def test_the_card_says_what_it_must() -> None:
    card = get_card("forensix-spoof")
    assert card.calibration is not None
    assert card.calibration.slope > 0
    assert {source.label for source in card.trained_on} == {"real", "fake"}
    assert card.measured
    assert card.inconclusive is not None and card.inconclusive[1] == card.threshold


def test_the_weights_of_all_voice_models_stay_small() -> None:
    weights = [SHIPPED / get_card(f"forensix-{name}").weights for name in ("spoof", "diarisation", "gender")]
    assert sum(path.stat().st_size for path in weights) < 20e6


@pytest.mark.slow
def test_fakes_score_higher_than_human_speech(detector: SpoofDetector, corpora: Path) -> None:
    table = pd.read_csv(corpora / "voice" / "manifest.csv")
    dev = table[table["split"] == "dev"]
    mean = {
        label: np.mean([detector.logit(decode(corpora / "voice" / path)) for path in rows["path"].iloc[::4]])
        for label, rows in dev.groupby("label")
    }
    assert mean["fake"] > mean["real"] + 0.5


@pytest.mark.slow
@pytest.mark.parametrize(("name", "key"), [("aasist", "AASIST"), ("aasist-l", "AASIST-L")])
def test_aasist_gives_its_authors_logits(
    published: dict[str, SpoofDetector], checkpoints: Path, corpora: Path, name: str, key: str
) -> None:
    reference = json.loads((checkpoints / "aasist" / "reference_logits.json").read_text())["models"][key]["logits"]
    assert len(reference) == 16
    for path, (spoof, bona_fide) in reference.items():
        logit = published[name].logit(decode(corpora / "voice" / path))
        assert logit == pytest.approx(spoof - bona_fide, abs=1e-3)


def test_aasist_turns_its_outputs_once() -> None:
    for name in ("aasist", "aasist-l"):
        output = get_card(name).output
        assert output.labels[output.fake] == "spoof"
        assert output.labels[output.real] == "bona fide"


def test_missing_aasist_weights_are_named(tmp_path: Path) -> None:
    with pytest.raises(WeightsMissing, match=r"AASIST\.pth"):
        load_model("aasist", folder=tmp_path)
