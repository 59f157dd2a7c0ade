from pathlib import Path

import numpy as np
import pytest
from scipy.io import wavfile

from forensix.training import population, speakers
from forensix.training.voices import Voice, alone, fingerprint, read_rttm, read_samples, real_voices, samples_of
from forensix.voice import population as shipped
from forensix.voice.speech import Segment


def _voice(collection: str, speaker: str | None, name: str = "a") -> Voice:
    return Voice(Path(name), name, collection, speaker, None, "none")


def test_speakers_weigh_the_same_whatever_they_recorded() -> None:
    voices = [_voice("one", "a"), _voice("one", "a"), _voice("one", "b"), _voice("two", "c")]
    assert population.weights(voices).tolist() == [0.5, 0.5, 1.0, 1.0]


def test_a_large_collection_is_held_down_and_an_anonymous_one_counts_its_promise() -> None:
    name = "Picovoice/wake-word-benchmark"
    voices = [_voice("big", str(i)) for i in range(240)] + [_voice(name, None)] * 10
    weight = population.weights(voices)
    assert weight[:240].sum() == pytest.approx(population.MOST_SPEAKERS)
    assert weight[240:].sum() == pytest.approx(50)


def test_table_leaves_out_what_was_not_measured() -> None:
    voices = [Voice(Path("a"), "a", "one", str(i), "FM"[i % 2], "none") for i in range(6)]
    values = [dict.fromkeys(shipped._table()["features"], float(i)) for i in range(6)]
    values[5]["f0"] = None
    table = population.table(voices, values)
    assert table["f0"]["groups"]["all"]["count"] == 5
    assert table["f0"]["groups"]["male"]["count"] == 2 and table["f0"]["groups"]["female"]["count"] == 3
    assert set(table["jitter"]["groups"]) == {"all"}
    assert table["f1"]["groups"]["male"]["mean_value"] == 3


def test_rttm_and_who_speaks_alone(tmp_path: Path) -> None:
    lines = "SPEAKER m 1 0.0 3.0 <NA> <NA> MEE1 <NA> <NA>\nSPEAKER m 1 2.0 3.0 <NA> <NA> FEE2 <NA> <NA>\n"
    (tmp_path / "x.rttm").write_text(lines)
    turns = read_rttm(tmp_path / "x.rttm")["m"]
    assert turns == [(Segment(0, 3), "MEE1"), (Segment(2, 5), "FEE2")]
    assert list(alone(turns, at_least_s=1.5)) == [(Segment(0, 2), "MEE1"), (Segment(3, 5), "FEE2")]
    assert list(alone(turns, at_least_s=2.5)) == []


def test_samples_are_mono_16_khz_and_bounded(tmp_path: Path) -> None:
    t_s = np.arange(44100 * 3) / 44100
    stereo = np.stack([np.sin(2 * np.pi * 440 * t_s)] * 2, axis=1)
    wavfile.write(tmp_path / "a.wav", 44100, (16000 * stereo).astype(np.int16))
    samples = read_samples(tmp_path / "a.wav", at_most_s=2)
    assert samples.dtype == np.int16 and samples.shape == (32000,)
    voice = Voice(tmp_path / "a.wav", "a", "one", "s", None, "none", Segment(1.0, 1.5))
    assert len(samples_of(voice)) == pytest.approx(8000, abs=2)


def test_fingerprint_depends_on_contents_and_not_on_order(tmp_path: Path) -> None:
    paths = [tmp_path / "a", tmp_path / "b"]
    for path in paths:
        path.write_bytes(path.name.encode())
    voices = [Voice(p, p.name, "one", "s", None, "none") for p in paths]
    before = fingerprint(voices)
    assert before == fingerprint(voices[::-1])
    paths[0].write_bytes(b"changed")
    assert before != fingerprint(voices)


def test_no_dev_row_and_no_synthetic_voice_is_listed(corpora: Path) -> None:
    import pandas as pd

    rows = pd.read_csv(corpora / "voice/manifest.csv", dtype=str)
    allowed = set(rows[(rows.split == "train") & (rows.label == "real")].path)
    listed = real_voices(corpora, None, per_collection=400, seed=0)
    assert len(listed) > 200
    assert {str(v.path.relative_to(corpora / "voice")) for v in listed} <= allowed


def test_a_sample_of_the_corpora_lies_where_the_table_says(corpora: Path) -> None:
    voices, values = population.measure(real_voices(corpora, None, per_collection=6, seed=1))
    assert len(voices) >= 15
    for feature in ("f0", "jitter", "naturalness", "spectral_artifacts"):
        d = shipped.distribution(feature)
        found = [v[feature] for v in values if v[feature] is not None]
        assert d.min_value - 1e-3 <= np.median(found) <= d.max_value + 1e-3
        assert np.mean([d.is_outlier(x) for x in found]) <= 0.25
        assert 20 <= d.percentile_rank(float(np.median(found))) <= 80


def test_conversations_take_turns() -> None:
    rng = np.random.default_rng(0)
    clips = [(name, (1000 * rng.normal(size=16000 * 8)).astype(np.int16)) for name in "ab"]
    talk = speakers.converse(clips, turn_s=(2, 3), seed=0)
    assert len(talk.samples) >= 16 * 16000
    assert len(talk.segments) == len(talk.truth)
