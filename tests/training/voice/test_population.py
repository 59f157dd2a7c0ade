import errno
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.io import wavfile

from forensix.cli import main
from forensix.errors import InputNotFound, UsageError
from forensix.manifest import Manifest
from forensix.media import Limits
from forensix.perturb import find
from forensix.tasks.voice_evidence import set_beside
from forensix.training.voice import population
from forensix.training.voice.real_voices import (
    Voice,
    alone,
    fingerprint,
    read_rttm,
    read_samples,
    real_voices,
    samples_of,
)
from forensix.voice import population as shipped
from forensix.voice.speech import Segment
from tests.making import write_image
from tests.voice.synthetic import syllables


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
    strata = [("female", "wide"), ("male", "wide")] * 3
    table = population.table([population.Measured(*one) for one in zip(voices, values, strata, strict=True)])
    assert table["f0"]["groups"]["all"]["count"] == 5
    assert table["f0"]["groups"]["male"]["count"] == 2 and table["f0"]["groups"]["female"]["count"] == 3
    assert table["jitter"]["groups"]["wide"] == table["jitter"]["groups"]["all"]
    assert table["f1"]["groups"]["male"]["mean_value"] == 3


def test_a_telephone_has_bounds_of_its_own_and_gender_only_where_it_counts() -> None:
    def measured(value: float, band: str) -> list[population.Measured]:
        voices = [Voice(Path("a"), "a", "one", str(i), "FM"[i % 2], "none") for i in range(8)]
        strata = [(gender, band, f"{gender} {band}") for gender in ("female", "male") * 4]
        values = [dict.fromkeys(shipped._table()["features"], value + i) for i in range(8)]
        return [population.Measured(*one) for one in zip(voices, values, strata, strict=True)]

    heard = measured(0.0, "wide")
    # One call that keeps the band of the recording tells nothing of telephones.
    called = measured(100.0, "narrow") + measured(900.0, "wide")[:1]
    bounds = population.joined(heard, called, by_gender=("f0",))
    assert set(bounds["jitter"]["groups"]) == {"all", "narrow"}
    assert set(bounds["f0"]["groups"]) == {"all", "female", "male", "narrow", "female narrow", "male narrow"}
    assert bounds["jitter"]["groups"]["all"]["max_value"] == 7
    assert bounds["jitter"]["groups"]["narrow"]["min_value"] == 100
    assert bounds["jitter"]["groups"]["narrow"]["max_value"] == 107


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
    measured = population.measure(real_voices(corpora, None, per_collection=6, seed=1), samples_of)
    values = [one.values for one in measured]
    assert len(values) >= 15
    for feature in ("f0", "jitter", "naturalness", "spectral_artifacts"):
        d = shipped.distribution(feature)
        of_feature = [v[feature] for v in values if v[feature] is not None]
        assert d.min_value - 1e-3 <= np.median(of_feature) <= d.max_value + 1e-3
        assert np.mean([d.is_outlier(x) for x in of_feature]) <= 0.25
        assert 20 <= d.percentile_rank(float(np.median(of_feature))) <= 80


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Manifest:
    """Four voices from a formula, two over a telephone, one of them fake, and a file that is no sound.

    The network that finds speech does not take a formula's vowels for speech: all sound counts as speech here, and two
    recordings are a population.
    """
    monkeypatch.setattr(population, "speech_segments", lambda x: (Segment(0.0, len(x) / 16000),) if len(x) else ())
    monkeypatch.setattr(shipped, "LEAST_RECORDINGS", 2)
    rows = ["path,label,speaker,gender"]
    for i, f0_hz in enumerate((110, 120, 200, 210)):
        voice = syllables(f0_hz, 12, seed=i)
        voice = find("audio", "telephone").at(None)(voice) if i % 2 else voice
        wavfile.write(tmp_path / f"{i}.wav", 16000, voice)
        rows.append(f"{i}.wav,{'fake' if i == 3 else 'real'},person {i},{'M' if f0_hz < 150 else 'F'}")
    (tmp_path / "4.wav").write_bytes(b"RIFF")
    (tmp_path / "manifest.csv").write_text("\n".join([*rows, "4.wav,real,person 4,"]) + "\n")
    return Manifest.read(tmp_path / "manifest.csv")


def test_a_population_of_ones_own_is_built_and_used(
    people: Manifest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "mine.json"
    built = population.build(people, target)
    assert str(built) == "3 of 4 real recordings measured (left out: 1 that cannot be read)"
    monkeypatch.setenv(shipped.SETTING, str(target))
    assert shipped.record()["recordings"] == 3
    assert shipped.distribution("f0").count == 3 and shipped.distribution("f0", "male").count == 2
    assert shipped.distribution("jitter", "female").count == 3, "one woman is no stratum"
    assert 105 < shipped.distribution("f0", "male").mean_value < 125
    assert shipped.named() == f"mine.json (SHA-256 of its recordings {shipped.record()['inputs_sha256']})"
    assert set_beside("unknown", "wide").endswith(f" It is a population of one's own: {shipped.named()}.")
    monkeypatch.delenv(shipped.SETTING)
    assert shipped.named() == "" and "own" not in set_beside("unknown", "wide")


def test_a_population_that_cannot_be_written_whole_replaces_nothing(
    people: Manifest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    target = tmp_path / "mine.json"
    target.write_text("of last year")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        population.build(people, target)
    assert target.read_text() == "of last year" and not list(tmp_path.glob(".*"))


def test_what_is_left_out_is_named_once_as_the_manifest_names_it(
    people: Manifest, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "deeper").mkdir()
    write_image(tmp_path / "deeper" / "photo.png")
    extra = pd.DataFrame({"path": ["deeper/photo.png", "absent.wav"], "label": "real"})
    listed = Manifest(pd.concat([people.table.iloc[:2], extra], ignore_index=True), people.root)
    assert population.build(listed, tmp_path / "mine.json").left_out["that cannot be read"] == 2
    assert caplog.messages == [
        "left out: deeper/photo.png is an image and has no sound",
        "left out: absent.wav is not there; check the path",
    ]


def test_speakers_whose_names_are_numbers_are_counted_as_speakers(people: Manifest, tmp_path: Path) -> None:
    for speakers, n in (([0, 0, 0, 1, 1], 1), ([7.0, 7.0, None, 9.0, 7.0], 2)):
        population.build(Manifest(people.table.assign(speaker=speakers), people.root), tmp_path / "mine.json")
        (source,) = json.loads((tmp_path / "mine.json").read_text())["sources"]
        assert (source["recordings"], source["speakers"]) == (3, n)


def test_a_file_that_is_no_population_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other.json").write_text('{"features": []}')
    (tmp_path / "picture.json").write_bytes(b"\x89PNG\r\n\x1a\n")
    for name, why in (
        ("other.json", "'forensix population build' did not write"),
        ("picture.json", "'forensix population build' did not write"),
        ("absent.json", "cannot be read: No such file"),
    ):
        monkeypatch.setenv(shipped.SETTING, str(tmp_path / name))
        with pytest.raises(UsageError, match=rf"{shipped.SETTING} names \S*{name}, which {why}"):
            shipped.distribution("f0")


COUNTED = {"count": 3, "min_value": 0, "max_value": 1, "mean_value": 0}


@pytest.mark.parametrize(
    "wrong",
    [{}, {"all": COUNTED}, *({"all": COUNTED | {"percentiles": some}} for some in ([0, 1], [1] + [0] * 100))],
    ids=["no strata", "no percentiles", "two percentiles", "falling"],
)
def test_a_population_that_was_damaged_is_named(
    wrong: dict[str, dict[str, object]], people: Manifest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    population.build(people, tmp_path / "mine.json")
    table = json.loads((tmp_path / "mine.json").read_text())
    table["features"]["f0"]["groups"] = wrong
    (tmp_path / "mine.json").write_text(json.dumps(table))
    monkeypatch.setenv(shipped.SETTING, str(tmp_path / "mine.json"))
    with pytest.raises(UsageError, match="which 'forensix population build' did not write"):
        shipped.distribution("jitter")


def test_how_far_it_is_is_told_and_a_list_that_is_too_short_is_refused_at_once(
    people: Manifest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[str, float]] = []
    population.build(people, tmp_path / "mine.json", progress=lambda _, said, done: told.append((said, done)))
    assert told == [(f"{n} of 4 recordings", n / 4) for n in (1, 2, 3, 4)]
    monkeypatch.setattr(shipped, "LEAST_RECORDINGS", 5)
    with pytest.raises(UsageError, match=r"^there are 4 real recordings; a population takes 5 or more"):
        population.build(people, tmp_path / "other.json", progress=lambda *_: told.clear())
    assert told, "nothing was measured for it"


def test_too_few_voices_are_no_population(people: Manifest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    population.build(people, tmp_path / "old.json")
    monkeypatch.setattr(shipped, "LEAST_RECORDINGS", 4)
    sentence = r"a population takes 4 or more, since the bounds of fewer call other real voices outliers"
    with pytest.raises(UsageError, match=rf"^3 of 4 real recordings measured \(left out: .*\); {sentence}$"):
        population.build(people, tmp_path / "mine.json")
    assert not (tmp_path / "mine.json").exists()
    monkeypatch.setenv(shipped.SETTING, str(tmp_path / "old.json"))
    with pytest.raises(UsageError, match=rf"old.json rests on 3 recordings; {sentence}: build it again"):
        shipped.distribution("f0")


def test_copies_and_what_holds_no_speech_are_left_out_and_counted(people: Manifest, tmp_path: Path) -> None:
    (tmp_path / "copy.wav").write_bytes((tmp_path / "0.wav").read_bytes())
    wavfile.write(tmp_path / "short.wav", 16000, np.ones(8000, np.int16))
    extra = pd.DataFrame({"path": ["copy.wav", "short.wav"], "label": "real", "speaker": ["person 8", "person 9"]})
    built = population.build(Manifest(pd.concat([people.table, extra]), people.root), tmp_path / "mine.json")
    assert str(built) == (
        "3 of 6 real recordings measured (left out: 1 whose content came before, 1 that cannot be read,"
        " 1 with less than a second of speech)"
    )
    assert json.loads((tmp_path / "mine.json").read_text())["recordings"] == 3


def test_genders_are_read_however_they_are_written_and_other_words_are_told(people: Manifest, tmp_path: Path) -> None:
    genders = ["male", "m ", "Female", "F", "divers"]
    built = population.build(Manifest(people.table.assign(gender=genders), people.root), tmp_path / "mine.json")
    groups = json.loads((tmp_path / "mine.json").read_text())["features"]["f0"]["groups"]
    assert groups["male"]["count"] == 2 and built.unknown_genders == {"divers": 1}


def test_links_are_downloaded_and_those_that_cannot_be_are_counted(
    people: Manifest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("FORENSIX_HOME", str(tmp_path / "home"))
    asked: list[object] = []

    def fetch(link: str, folder: Path, limits: Limits, private_hosts: frozenset[str]) -> tuple[Path, str]:
        asked.append(private_hosts)
        if link.endswith("gone.wav"):
            raise InputNotFound(f"{link} is not there")
        (folder / "got").write_bytes((tmp_path / Path(link).name).read_bytes())
        return folder / "got", "audio/wav"

    monkeypatch.setattr("forensix.media.download.fetch", fetch)
    table = people.table.assign(path=[f"https://example.org/{path}" for path in people.table["path"]])
    table.loc[4, "path"] = "https://example.org/gone.wav"
    built = population.build(Manifest(table, tmp_path), tmp_path / "mine.json", private_hosts=["here"])
    assert (built.measured, built.left_out["that cannot be read"]) == (3, 1)
    assert asked == [frozenset({"here"})] * 4, "the fake one is not asked for"
    assert caplog.messages == ["left out: https://example.org/gone.wav is not there"]


def test_the_command_reads_a_url_and_what_labels_mean_and_says_what_it_left_out(
    people: Manifest, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = {"real": "1", "fake": "0"}
    table = people.table.assign(label=people.table["label"].map(words), gender=["x", "x", "F", "F", "M"])
    table.to_csv(tmp_path / "manifest.csv", index=False)
    target = tmp_path / "mine.json"
    arguments = ["population", "build", f"file://{tmp_path}/manifest.csv", "--output", str(target)]
    with pytest.raises(SystemExit) as ended:
        main([*arguments, "--label", "1=real", "--label", "0=fake"])
    printed = capsys.readouterr()
    assert ended.value.code == 0
    assert printed.out == (
        "3 of 4 real recordings measured (left out: 1 that cannot be read);"
        f" FORENSIX_POPULATION={target} compares voices with them\n"
    )
    assert printed.err.endswith("forensix: genders that are none of f, m, female, male: 'x' of 2\n")


def test_a_telephone_has_a_narrow_band() -> None:
    voice = np.random.default_rng(0).normal(0, 0.1, 64_000).astype(np.float32)
    segments = (Segment(0.0, 4.0),)
    assert shipped.band_of(voice, segments) == "wide"
    assert shipped.band_of(find("audio", "low_pass").at(4000)(voice), segments) == "narrow"
