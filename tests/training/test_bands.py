"""The bounds on a shipped card come from whole files of repositories that training never saw, in every condition."""

import io

import numpy as np
import pandas as pd
import pytest
from scipy.io import wavfile

from forensix.models import get_card
from forensix.training.bands import AS_IT_IS, COMMAND, choose, versions, with_band

NAME = "forensix-face"
COMMAND_ = f"{COMMAND.format(model=NAME)} --list faces.csv"


def table(n=240):
    rng = np.random.default_rng(1)
    label = np.where(np.arange(n) % 2, "fake", "real")
    condition = np.where(np.arange(n) < n // 2, AS_IT_IS, "telephone")
    level = np.where(label == "fake", 0.6, 0.4) + np.where(condition == "telephone", 0.15, 0)
    score = np.clip(level + rng.normal(0, 0.12, n), 0, 1)
    repos = [f"r{i % 6}" for i in range(n)]
    columns = {"repo": repos, "path": range(n), "label": label, "condition": condition, "kind": "audio", "score": score}
    return pd.DataFrame(columns)


def test_no_repository_gives_more_than_its_share_and_none_that_training_saw():
    card = get_card(NAME)
    rows = table().assign(label=lambda t: t["label"].where(t["path"] > 5, "grid"))
    seen = rows.head(20).assign(repo="dinablachman/realorfake", label="real")
    chosen = choose(pd.concat([rows, seen], ignore_index=True), card, 3)
    assert set(chosen.label) == {"real", "fake"} and "dinablachman/realorfake" not in set(chosen.repo)
    assert chosen.groupby(["repo", "label"]).size().max() == 3
    assert chosen.equals(choose(pd.concat([rows, seen], ignore_index=True), card, 3))


def test_the_bounds_hold_in_the_worst_condition_and_the_card_says_once_what_they_decide():
    scored = table().drop(columns="kind")
    card = with_band(with_band(get_card(NAME), scored, COMMAND_), scored, COMMAND_)
    low, high = card.inconclusive
    assert low <= card.threshold <= high
    for _, rows in scored[scored.label == "real"].groupby("condition"):
        assert (rows.score >= high).mean() <= 0.05
    figures = [one for one in card.measured if one.command == COMMAND_ and one.metric == "real files called fake"]
    assert [one.data.rsplit(", ")[-1] for one in figures] == [AS_IT_IS, "telephone"]
    real = scored[(scored.label == "real") & (scored.condition == "telephone")].score
    assert figures[1].value == pytest.approx((real >= high).mean(), abs=1e-4) and figures[1].n_real == len(real)


def test_the_two_classes_part_at_the_upper_bound():
    card = with_band(get_card(NAME), table(), COMMAND_)
    assert card.threshold == card.inconclusive[1]


def test_videos_that_chance_decides_are_left_undecided_and_pictures_are_not():
    pictures = table().assign(kind="image", condition=AS_IT_IS)
    chance = np.random.default_rng(2).uniform(0, 1, len(pictures))
    both = pd.concat([pictures, pictures.assign(kind="video", score=chance)])
    card = with_band(get_card(NAME), both, COMMAND_, only_supported=True)
    assert card.inconclusive_video == (0.0, 1.0) and card.inconclusive == with_band(card, pictures, "").inconclusive
    figures = {one.data.split(", ")[-2]: one for one in card.measured if one.metric == "fake files decided"}
    assert figures["videos"].value == 0 and figures["pictures"].value > 0.5


def test_videos_that_are_told_apart_get_bounds_and_are_called_fake_no_sooner_than_pictures():
    pictures = table().assign(kind="image", condition=AS_IT_IS)
    videos = pictures.assign(kind="video", score=pictures.score - 0.1)
    card = with_band(get_card(NAME), pd.concat([pictures, videos]), COMMAND_)
    low, high = card.inconclusive_video
    assert 0 < low < card.threshold == card.inconclusive[1] == high < 1


def test_sound_is_degraded_as_it_would_reach_a_user():
    file = io.BytesIO()
    wave = (np.random.default_rng(0).normal(0, 3000, 32000)).astype(np.int16)
    wavfile.write(file, 16000, wave)
    (name, same), (degraded, telephone) = versions(file.getvalue(), ["telephone"])
    assert name == AS_IT_IS and same == file.getvalue() and degraded == "telephone"
    rate, sound = wavfile.read(io.BytesIO(telephone))
    spectrum = np.abs(np.fft.rfft(sound))
    at = np.fft.rfftfreq(len(sound), 1 / rate)
    assert rate == 16000 and spectrum[at > 5000].mean() < 0.1 * spectrum[(at > 500) & (at < 3000)].mean()


@pytest.mark.parametrize("name", ["forensix-face", "forensix-image", "forensix-spoof"])
def test_every_shipped_card_that_judges_has_bounds_around_its_threshold(name):
    card = get_card(name)
    assert card.inconclusive is not None and card.inconclusive[0] <= card.threshold <= card.inconclusive[1]
