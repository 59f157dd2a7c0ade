from pathlib import Path

import av
import numpy as np
import pandas as pd
import pytest
import torch

from forensix.models.architectures import lcnn
from forensix.training.voice import spoof
from forensix.training.voice.dataset import N_DEGRADED, Examples, build_examples
from forensix.training.voice.sources import collect, decode, rule_for
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


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a corpus of eight human-like and eight buzzing recordings, and a row of the dev split."""
    root = tmp_path_factory.mktemp("corpora")
    rows = []
    for i in range(8):
        for label, sound in (("real", voice_like(i)), ("fake", np.sign(voice_like(i)) * np.float32(0.1))):
            path = f"train/{label}/{i}.wav"
            write_wav(root / "voice" / path, sound)
            rows.append((path, label, "train", f"{label}-{i % 2}", "someone/voices", f"{label}/{i}.wav", "CC0"))
    rows.append(("dev/real/0.wav", "real", "dev", "human", "someone/voices", "real/held.wav", "CC0"))
    pd.DataFrame(rows, columns=COLUMNS).to_csv(root / "voice" / "manifest.csv", index=False)
    return root


@pytest.fixture(scope="module")
def examples(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> Examples:
    return build_examples(collect(corpus, None), tmp_path_factory.mktemp("examples"), seed=3)


def test_the_dev_split_is_never_collected(corpus: Path) -> None:
    paths = {recording.path.name for recording in collect(corpus, None)}
    assert len(collect(corpus, None)) == 16
    assert "held.wav" not in paths


def test_a_checkout_stands_in_for_the_rows_of_its_repository(tmp_path: Path) -> None:
    checkout = tmp_path / "repositories" / "seungwonpark+melgan"
    for name in ("LJ001-0001.wav", "LJ001-0001_reconstructed_epoch0400.wav", "LJ002-0002.wav", "notes.txt"):
        write_wav(checkout / "audios" / name, voice_like(0)) if name.endswith("wav") else None
    rows = [
        ("a.wav", "real", "train", "human", "seungwonpark/melgan", "audios/LJ001-0001.wav", "BSD"),
        ("b.wav", "real", "dev", "human", "seungwonpark/melgan", "audios/LJ002-0002.wav", "BSD"),
    ]
    manifest = tmp_path / "voice" / "manifest.csv"
    manifest.parent.mkdir()
    pd.DataFrame(rows, columns=COLUMNS).to_csv(manifest, index=False)
    found = {(r.path.name, r.label) for r in collect(tmp_path, tmp_path / "repositories")}
    assert found == {("LJ001-0001.wav", "real"), ("LJ001-0001_reconstructed_epoch0400.wav", "fake")}

    pd.DataFrame(rows, columns=COLUMNS).assign(label="fake").to_csv(manifest, index=False)
    with pytest.raises(ValueError, match="LJ001-0001"):
        collect(tmp_path, tmp_path / "repositories")


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


def test_examples_hold_pairs_of_one_length(examples: Examples) -> None:
    table = examples.table
    pieces = table.groupby("piece")
    assert (pieces["length"].nunique() == 1).all()
    assert (table[table["method"] != ""]["fake"] == 1).all()
    assert set(table[table["method"] == ""]["fake"]) == {0, 1}
    row = int(table.index[0])
    clean, degraded = (examples.wave(row, version) for version in (0, N_DEGRADED))
    assert clean.shape == degraded.shape
    assert np.sqrt(np.mean(clean**2)) == pytest.approx(0.05, rel=0.05)


def test_batches_are_balanced_and_leave_out_what_is_held_out(examples: Examples) -> None:
    sampler = spoof.Sampler(examples, frozenset({"real-0"}), np.random.default_rng(0))
    waves, labels = sampler.batch(16, 8_000, clean=0.5)
    assert waves.shape == (16, 8_000)
    assert labels.sum() == 8
    assert set(examples.table.loc[sampler.real[0], "group"]) == {"real-1"}


def test_training_lowers_the_loss(examples: Examples) -> None:
    torch.manual_seed(0)
    network = lcnn.build(channels=(8, 16), n_hidden=8, n_bands=32, hop=400, dropout=0.0).members[0]
    settings = spoof.Settings(steps=60, batch=16, rate=1e-2, crops_s=(0.4,), smoothing=0.0, clean=1.0)
    losses = spoof.train(network, examples, frozenset(), settings, seed=0)
    assert len(losses) == 60
    assert np.mean(losses[-10:]) < 0.85 * np.mean(losses[:5])
    assert not network.training


def test_calibration_lets_every_group_count_alike() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"fake": [0] * 50 + [1] * 60, "fold": 0, "group": ["a"] * 50 + ["b"] * 50 + ["c"] * 10})
    table["logit"] = rng.normal(np.where(table["fake"] == 1, 1.0, -1.0))
    before = spoof.calibrate(table)
    doubled = pd.concat([table, table[table["group"] == "b"]], ignore_index=True)
    after = spoof.calibrate(doubled)
    assert before.slope > 0
    assert after.intercept == pytest.approx(before.intercept, abs=0.05)


def test_decode_gives_16_khz_mono(tmp_path: Path) -> None:
    write_wav(tmp_path / "a.wav", voice_like(0))
    assert decode(tmp_path / "a.wav").shape == voice_like(0).shape
