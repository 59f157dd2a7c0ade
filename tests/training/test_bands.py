"""The bounds on a shipped card come from whole files of repositories that training never saw, in every condition."""

import numpy as np
import pandas as pd
import pytest

from forensix.models import get_card
from forensix.training.bands import AS_IT_IS, with_band, with_video_band

NAME = "forensix-face"
COMMAND = "python -m train --list faces.csv"


def table(n=240):
    rng = np.random.default_rng(1)
    label = np.where(np.arange(n) % 2, "fake", "real")
    condition = np.where(np.arange(n) < n // 2, AS_IT_IS, "telephone")
    level = np.where(label == "fake", 0.6, 0.4) + np.where(condition == "telephone", 0.15, 0)
    score = np.clip(level + rng.normal(0, 0.12, n), 0, 1)
    repos = [f"r{i % 6}" for i in range(n)]
    columns = {"repo": repos, "path": range(n), "label": label, "condition": condition, "kind": "audio", "score": score}
    return pd.DataFrame(columns)


def test_the_bounds_hold_in_the_worst_condition_and_the_card_says_once_what_they_decide():
    scored = table().drop(columns="kind")
    card = with_band(with_band(get_card(NAME), scored, COMMAND), scored, COMMAND)
    low, high = card.inconclusive
    assert low <= card.threshold <= high
    for _, rows in scored[scored.label == "real"].groupby("condition"):
        assert (rows.score >= high).mean() <= 0.05
    figures = [one for one in card.measured if one.command == COMMAND and one.metric == "real files called fake"]
    assert [one.data.rsplit(", ")[-1] for one in figures] == [AS_IT_IS, "telephone"]
    real = scored[(scored.label == "real") & (scored.condition == "telephone")].score
    assert figures[1].value == pytest.approx((real >= high).mean(), abs=1e-4) and figures[1].n_real == len(real)


def test_bounds_of_few_files_hold_in_each_condition_by_itself():
    scored = table(n=60).drop(columns="kind")
    low, high = with_band(get_card(NAME), scored, COMMAND).inconclusive
    for _, rows in scored.groupby("condition"):
        assert (rows.score[rows.label == "real"] >= high).sum() == 0, "one of 15 would be more than 5 %"
        assert (rows.score[rows.label == "fake"] <= low).mean() <= 0.10


def test_the_upper_bound_holds_for_every_source_as_it_is_where_that_is_asked_for():
    scored = table(n=480).assign(condition=AS_IT_IS)
    scored.loc[scored.repo == "r2", "score"] += 0.2
    (_, all_alike), (_, high) = (
        with_band(get_card(NAME), scored, COMMAND, every_source=of_each).inconclusive for of_each in (False, True)
    )
    rates = {
        bound: (scored[(scored.label == "real") & (scored.repo == "r2")].score >= bound) for bound in (all_alike, high)
    }
    assert rates[high].mean() <= 0.05 < rates[all_alike].mean()


def test_what_chance_scores_hardly_ever_decides_however_files_hang_together(monkeypatch):
    monkeypatch.setattr("forensix.training.bands.bootstrap_interval", lambda *_, **__: None)
    shares = {True: [], False: []}
    for seed in range(40):
        rng = np.random.default_rng(seed)
        level, own = np.repeat(rng.normal(size=12), 10), rng.normal(size=120)
        rows = pd.DataFrame({"repo": np.repeat(np.arange(12), 10), "label": np.repeat(["real", "fake"] * 6, 10)})
        scored = pd.concat([rows.assign(condition=one) for one in (AS_IT_IS, "telephone")])
        scored["score"] = 1 / (1 + np.exp(-np.tile(level + own, 2) - 0.3 * rng.normal(size=240)))
        for by_source, told in shares.items():
            card = with_band(get_card(NAME), scored, COMMAND, only_supported=True, by_source=by_source)
            told.append(card.inconclusive != (0.0, 1.0))
    assert np.mean(shares[True]) < 0.15 < np.mean(shares[False])


def test_the_two_classes_part_at_the_upper_bound():
    card = with_band(get_card(NAME), table(), COMMAND)
    assert card.threshold == card.inconclusive[1]


def test_videos_that_chance_decides_are_left_undecided_and_pictures_are_not():
    pictures = table().assign(kind="image", condition=AS_IT_IS)
    chance = np.random.default_rng(2).uniform(0, 1, len(pictures))
    both = pd.concat([pictures, pictures.assign(kind="video", score=chance)])
    card = with_band(get_card(NAME), both, COMMAND, only_supported=True)
    assert card.inconclusive_video == (0.0, 1.0) and card.inconclusive == with_band(card, pictures, "").inconclusive
    figures = {one.data.split(", ")[-2]: one for one in card.measured if one.metric == "fake files decided"}
    assert figures["videos"].value == 0 and figures["pictures"].value > 0.5


def test_videos_that_are_told_apart_get_bounds_and_are_called_fake_no_sooner_than_pictures():
    pictures = table().assign(kind="image", condition=AS_IT_IS)
    videos = pictures.assign(kind="video", score=pictures.score - 0.1)
    card = with_band(get_card(NAME), pd.concat([pictures, videos]), COMMAND)
    low, high = card.inconclusive_video
    assert 0 < low < card.threshold == card.inconclusive[1] == high < 1


def test_videos_are_bounded_by_pictures_that_are_judged_as_they_are():
    pictures = table().assign(kind="image", condition=AS_IT_IS)
    videos = pictures.assign(kind="video", score=pictures.score - 0.3)
    alike = pictures.assign(score=pictures.score - 0.1)
    card = with_band(get_card(NAME), pd.concat([pictures, videos]), COMMAND, as_videos=alike)
    assert card.inconclusive_video[1] == with_band(get_card(NAME), alike, COMMAND).inconclusive[1]
    assert card.inconclusive_video[1] < card.inconclusive[1] == card.threshold


def test_a_card_of_pictures_gets_bounds_of_videos_and_keeps_its_own():
    card = with_band(get_card(NAME), table().drop(columns="kind"), COMMAND)
    videos = table().assign(score=lambda t: (t["score"] - 0.1).clip(0, 1))
    once = with_video_band(card, videos, "videos")
    low, high = with_video_band(once, videos, "videos").inconclusive_video
    assert low == 0 and card.threshold == high and once.inconclusive == card.inconclusive
    assert [one for one in once.measured if one.command == COMMAND] == [
        one for one in card.measured if one.command == COMMAND
    ]
    figures = [one for one in with_video_band(once, videos, "videos").measured if one.command == "videos"]
    assert len(figures) == 10 and all("videos" in one.data for one in figures), "said once, for either condition"
    chance = videos.assign(score=np.random.default_rng(3).uniform(0, 1, len(videos)))
    assert with_video_band(card, chance, "videos").inconclusive_video == (0.0, 1.0)


@pytest.mark.parametrize("name", ["forensix-face", "forensix-image", "forensix-spoof"])
def test_every_shipped_card_that_judges_has_bounds_around_its_threshold(name):
    card = get_card(name)
    assert card.inconclusive is not None and card.inconclusive[0] <= card.threshold <= card.inconclusive[1]


def test_what_is_withheld_counts_as_undecided_and_lets_the_bound_lie_lower():
    scored = table().assign(condition=AS_IT_IS)
    real = (scored.label == "real").to_numpy()
    scored["withheld"] = real & (scored.score > scored.score[real].quantile(0.9))
    free, held = (with_band(get_card(NAME), rows, COMMAND) for rows in (scored.drop(columns="withheld"), scored))
    assert held.inconclusive[1] < free.inconclusive[1]
    figures = {one.metric: one.value for one in held.measured if one.command == COMMAND}
    kept = scored[real & ~scored.withheld]
    assert figures["real files called fake"] == pytest.approx(
        (kept.score >= held.inconclusive[1]).sum() / real.sum(), abs=1e-4
    )
    assert figures["AUC"] == next(one.value for one in free.measured if one.metric == "AUC" and one.command == COMMAND)
