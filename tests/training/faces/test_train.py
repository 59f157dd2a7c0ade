"""forensix-face: views of faces, a rule on what the pretrained network says, and a card from sources held out."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch
from skimage.data import astronaut

from forensix.calibration import Calibration
from forensix.faces import track_frames
from forensix.media import Frame
from forensix.models import Steadiness, save_model
from forensix.models.architectures.faces import (
    CROP,
    DETAIL,
    FACE,
    FACE_FAINT,
    FAINT,
    N_PART,
    N_STATISTICS,
    WINDOW,
    build,
)
from forensix.models.architectures.families import ALL_OTHERS, STYLEGAN, added, by_family
from forensix.training.faces import crops, features
from forensix.training.faces.card import make_card
from forensix.training.faces.fit import (
    SHARES,
    WINDOW_SHARE,
    Seen,
    face_logits,
    file_weights,
    fit_rule,
    held_out,
    view_logits,
)
from forensix.training.faces.steadiness import Steady
from forensix.training.families import in_units, side_by_side
from forensix.training.images import cache

N = 240
REPOS = 12
TOOLS = ("tool", "StyleGAN")
TELLING = np.arange(N_STATISTICS) % N_PART < 40
"""Statistics that differ by class."""
KINDS = np.array([features.AS_IS, features.DRAWN, features.ALIKE, *features.EDITS], np.uint8)
ALL = np.ones(len(KINDS) * N, dtype=bool)
NOTHING = np.zeros(N, dtype=bool)


@pytest.fixture(scope="module")
def face() -> crops.FaceCrops:
    rgb = astronaut()
    cut = crops.cut_faces([rgb] * 6, (0.0, 0.0, 1.0, 1.0))
    assert cut is not None
    return cut


def test_a_still_is_seen_as_it_is_drawn_and_alike_and_a_clip_at_some_moments(face: crops.FaceCrops) -> None:
    views, kinds = features.views_of_face(face, np.random.default_rng(0), still=False, judged=True)
    assert kinds.tolist() == [0, 1, 1, 0, 0, 0, 1, 1] and views.shape == (8, 2, 224, 224, 3)
    one = replace(face, **{name: getattr(face, name)[:1] for name in ("rgb", "landmarks", "middles", "areas")})
    views, kinds = features.views_of_face(one, np.random.default_rng(0), still=True, judged=True)
    assert kinds.tolist() == [0, 1, 1, 2, 3, 4, 5]
    for view in views[1:]:
        assert (views[0] != view).any(axis=(1, 2, 3)).all()
    again, _ = features.views_of_face(one, np.random.default_rng(0), still=True, judged=False)
    np.testing.assert_array_equal(again, views[:3])


def test_textures_are_of_stills_as_they_are_and_edited(face: crops.FaceCrops, tmp_path) -> None:
    one = replace(face, **{name: getattr(face, name)[:1] for name in ("rgb", "landmarks", "middles", "areas")})
    for name in ("still", "clip"):
        crops.store(tmp_path / f"{name}.npz", one)
    table = pd.DataFrame({"name": ["still", "clip"], "static": [True, False]}).assign(
        repo="r", made_by="", label="real"
    )
    found = features.textures(table, tmp_path)
    assert set(found) == {features.AS_IS, *features.EDITS} and all(np.isnan(of_kind[1]) for of_kind in found.values())
    assert found[features.SMOOTHED][0] < found[features.AS_IS][0] < found[features.CONTRASTED][0]


def test_of_every_moment_that_is_drawn_one_more_view_is_retouched(
    face: crops.FaceCrops, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(features, "retouched", lambda rgb, rng: np.zeros_like(rgb))
    views, kinds = features.views_of_face(face, np.random.default_rng(0), still=False, judged=True)
    dark = views.max(axis=(1, 2, 3, 4)) < 40
    assert dark.tolist() == [False, False, True, False, False, False, False, True]
    assert (kinds[dark] == features.DRAWN).all()


def test_learnt_from_are_the_crop_and_the_window_that_are_scored(face: crops.FaceCrops, tmp_path) -> None:
    (followed,) = track_frames([Frame(0, 0.0, astronaut())], max_side_px=1280)
    path = tmp_path / "face.npz"
    crops.store(path, face)
    kept = crops.load(path)
    assert kept is not None and len(kept.areas) == 6 and kept.areas[0].shape == (448, 448, 3)
    views, _ = features.views_of_face(kept, np.random.default_rng(0), still=True, judged=False)
    assert np.abs(views[0, 0].astype(int) - followed.crops[0]).mean() < 10
    # The points are found anew when a face is followed: the window may lie a few pixels elsewhere.
    corner = crops.window_corner((512, 512), followed.landmarks[0])
    near = [
        astronaut()[corner[1] + dy : corner[1] + dy + 224, corner[0] + dx : corner[0] + dx + 224]
        for dx in range(-3, 4)
        for dy in range(-3, 4)
    ]
    np.testing.assert_array_equal(followed.windows[0], near[len(near) // 2])
    assert any(np.array_equal(views[0, 1], one) for one in near)


def test_a_face_that_was_small_is_scaled_no_further_than_it_can_bear(face: crops.FaceCrops) -> None:
    small = replace(face, face_px=46.0)
    rgb, points = features.own_size(small, 0)
    assert rgb.shape[0] == 92 and (points < 92).all()
    assert features.own_size(replace(face, face_px=500.0), 0)[0].shape[0] == crops.STORED_PX


def seen(*, stills: bool = True, seed: int = 0) -> Seen:
    """Return files of twelve sources whose fakes differ in a few of the statistics, by the same in every source."""
    rng = np.random.default_rng(seed)
    fake = np.arange(N) % 2 == 1
    table = pd.DataFrame(
        {
            "repo": [f"a/{i // 2 % REPOS}" for i in range(N)],
            "path": [f"{i // 2}" for i in range(N)],
            "name": [str(i) for i in range(N)],
            "label": np.where(fake, "fake", "real"),
            "method": np.where(fake, "face_synthesis", "none"),
            "made_by": np.where(fake, [f"{TOOLS[i // 4 % 2]} {i // 2 % REPOS}" for i in range(N)], ""),
            "fake": fake,
            "static": np.arange(N) % 4 < 2 if stills else True,
            "gap": rng.normal(0.1, 0.2, N) + 0.1 * fake,
            "licence": "CC0",
        }
    )
    n = len(KINDS)
    values = rng.normal(size=(n * N, 2 if stills else 1, N_STATISTICS)).astype(np.float32)
    values[..., TELLING] += 0.35 * np.repeat(fake, n)[:, None, None]
    return Seen(table, values.astype(np.float16), np.tile(KINDS, N), np.repeat(np.arange(N), n))


def test_stills_and_clips_weigh_the_same_and_so_do_classes_and_sources() -> None:
    table = seen().table
    weights = pd.Series(file_weights(table))
    assert weights.sum() == pytest.approx(2)
    np.testing.assert_allclose(weights.groupby([table["static"], table["fake"]]).sum(), 0.5)
    larger = pd.concat([table, *[table[table["repo"] == "a/0"]] * 20], ignore_index=True)
    of_source = pd.Series(file_weights(larger)).groupby(larger["repo"]).sum()
    assert of_source["a/0"] < 3 * of_source["a/1"]


def test_rules_learn_from_other_sources_and_what_is_held_out_is_told_apart_by_them() -> None:
    faces, pictures = seen(), seen(stills=False, seed=1)
    pictures.table["repo"] = "b/" + pictures.table["repo"]
    folds = np.array([int(repo[2:]) % 3 for repo in faces.table["repo"]])
    logits = held_out(faces, pictures, folds)
    fake = faces.table["fake"].to_numpy()
    for values in (*logits.said.conditions.values(), logits.crops):
        assert values[fake].mean() > values[~fake].mean() + 1
    # Pictures of a maker of held-out faces are not learnt from either.
    held = folds == 0
    poisoned = replace(pictures, statistics=pictures.statistics.copy())
    shared = pictures.table["made_by"].isin(faces.table.loc[held, "made_by"]).to_numpy() & fake
    poisoned.statistics[shared[pictures.rows]] = 9
    for family in (ALL_OTHERS, STYLEGAN):
        one, other = (view_logits(fit_rule(faces, given, held, family), faces, ALL) for given in (pictures, poisoned))
        np.testing.assert_array_equal(one, other)


def test_either_view_has_a_rule_of_its_own_and_either_counts() -> None:
    faces, pictures = seen(), seen(stills=False, seed=1)
    swapped = replace(faces, statistics=faces.statistics.copy())
    swapped.statistics[:, WINDOW, TELLING] *= -1
    rule = fit_rule(swapped, replace(pictures, statistics=pictures.statistics * -1), NOTHING, ALL_OTHERS)
    by_crop, by_window = rule.linear.weight[:, TELLING].detach().numpy().mean(axis=1)
    assert by_crop > 0 > by_window
    views = view_logits(rule, swapped, ALL)
    logits = [face_logits(views, swapped, window_share=share) for share in (0.0, WINDOW_SHARE)]
    alone = rule(torch.from_numpy(swapped.statistics[:: len(KINDS), CROP].astype(np.float32)))[:, CROP].detach().numpy()
    np.testing.assert_allclose(logits[0], alone, rtol=1e-5)
    assert np.abs(logits[1] - logits[0]).min() > 0
    # A window shows the face anywhere, and a crop has its detail by parts.
    weight = rule.linear.weight.detach()
    assert not weight[WINDOW, FACE].any() and weight[CROP, FACE].all()
    assert not weight[CROP, DETAIL].any() and weight[WINDOW, DETAIL].all()
    assert not weight[CROP, FAINT].any() and weight[CROP, FACE_FAINT].all()
    assert not weight[WINDOW, FACE_FAINT].any() and weight[WINDOW, FAINT].all()


def test_a_family_with_traces_of_its_own_has_a_rule_of_its_own_and_the_odds_of_all_are_added() -> None:
    faces, pictures = seen(), seen(stills=False, seed=1)
    pictures.table["repo"] = "b/" + pictures.table["repo"]
    by_style = {
        name: data.table["made_by"].str.startswith("StyleGAN").to_numpy()
        for name, data in (("faces", faces), ("pictures", pictures))
    }
    for name, data in (("faces", faces), ("pictures", pictures)):
        data.statistics[np.ix_(by_style[name][data.rows], range(data.statistics.shape[1]), TELLING)] *= -1
    rules = [fit_rule(faces, pictures, NOTHING, family) for family in (ALL_OTHERS, STYLEGAN)]
    signs = [rule.linear.weight[CROP, TELLING].mean() for rule in rules]
    assert signs[ALL_OTHERS] > 0 > signs[STYLEGAN]
    units = [[Calibration(slope=0.5, intercept=0.1)] * 2, [Calibration(slope=0.2, intercept=-0.3)] * 2]
    x = torch.from_numpy(faces.statistics[:5, CROP].astype(np.float32))
    odds = [SHARES[i] * torch.exp(units[i][0].slope * rule(x) + units[i][0].intercept) for i, rule in enumerate(rules)]
    with torch.inference_mode():
        rule = side_by_side(rules)
        in_units(rule, units, SHARES)
        torch.testing.assert_close(added(by_family(rule(x))), torch.log(odds[0] + odds[1]), rtol=1e-3, atol=1e-3)


def test_the_card_tells_pictures_and_clips_apart_and_calls_nothing_untouched(tmp_path) -> None:
    faces, pictures = seen(), seen(stills=False, seed=1)
    folds = np.array([int(repo[2:]) % 3 for repo in faces.table["repo"]])
    trained_on = faces.table[["repo", "label", "licence"]]
    nothing = Steadiness(means=(0,), deviations=(1,), weights=(1,), intercept=0, most_logit=9)
    held, command = held_out(faces, pictures, folds), "python -m train --list a.csv"
    card = make_card(faces.table, held, Steady(nothing, np.zeros(N)), trained_on, command)
    assert card.inconclusive[0] == card.inconclusive_video[0] == 0 < card.inconclusive[1] == card.threshold < 1
    assert card.detail_gap is not None and card.pooling is not None
    conditions = {one.data.rpartition(", ")[2] for one in card.measured}
    assert {"as it is", "retouched alike", "of more contrast", "videos", "all", "faces generated whole"} <= conditions
    assert all(one.n_real and one.n_fake for one in card.measured if "together" not in one.data)
    assert sum(one.n for one in card.trained_on) == N
    assert card.preprocessing["windows"]["share"] == WINDOW_SHARE and card.preprocessing["windows"]["without"][0] > 0
    saved = save_model(card, build(), tmp_path, half=True)
    assert (tmp_path / saved.weights).stat().st_size < 8_000_000


@pytest.mark.slow
def test_a_bound_is_of_faces_that_are_not_smooth_as_they_are_and_edited() -> None:
    faces, pictures = seen(), seen(stills=False, seed=1)
    folds = np.array([int(repo[2:]) % 3 for repo in faces.table["repo"]])
    trained_on = faces.table[["repo", "label", "licence"]]
    nothing = Steadiness(means=(0,), deviations=(1,), weights=(1,), intercept=0, most_logit=9)
    steady, command = Steady(nothing, np.zeros(N)), "python -m train --list a.csv"
    held = held_out(faces, pictures, folds)
    real = ~faces.table["fake"].to_numpy(dtype=bool) & faces.table["static"].to_numpy(dtype=bool)
    for kind in features.EDITS:
        # A third of the recorded faces look made once they are edited so.
        edited = held.edited[kind] + np.where(real & (np.arange(N) % 3 == 0), 40.0, 0.0)
        accused = replace(held, edited={**held.edited, kind: edited})
        high = make_card(faces.table, accused, steady, trained_on, command).inconclusive
        textures = {kind: np.where(np.arange(N) % 3 == 0, 0.5, 2.0)}
        low = make_card(faces.table, replace(accused, textures=textures), steady, trained_on, command).inconclusive
        assert low[1] < high[1]


@pytest.mark.slow
def test_how_steady_clips_are_counts_for_them_alone() -> None:
    faces, pictures = seen(), seen(stills=False, seed=1)
    folds = np.array([int(repo[2:]) % 3 for repo in faces.table["repo"]])
    held, rule = (
        held_out(faces, pictures, folds),
        Steadiness(means=(0,), deviations=(1,), weights=(1,), intercept=0, most_logit=9),
    )
    misleading = np.where(faces.table["static"], 0.0, -20.0 * faces.table["fake"])
    trained_on = faces.table[["repo", "label", "licence"]]
    card = make_card(faces.table, held, Steady(rule, misleading), trained_on, "python -m train --list a.csv")
    aucs = [one for one in card.measured if one.metric.startswith("AUC, a source")]
    (whole,) = (one.value for one in aucs if one.data.endswith("videos") and "alone" not in one.data)
    (alone,) = (one.value for one in aucs if one.data.endswith("by crops alone, videos"))
    assert whole < 0.1 and alone > 0.9 and card.steadiness == rule
    assert min(one.value for one in aucs if "pictures, all" in one.data) > 0.9


@pytest.mark.slow
def test_what_the_network_says_is_kept_and_computed_anew_for_another_network(
    face: crops.FaceCrops, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(features, "load_imagenet", lambda backbone: None)
    crops.store(tmp_path / "a.npz", face)
    table = pd.DataFrame({"name": ["a"], "repo": ["r"], "made_by": [""], "label": ["real"], "static": [True]})
    first, kinds, rows = features.of_faces(table, tmp_path, tmp_path / "kept")
    assert first.shape == (28, 2, N_STATISTICS) and kinds.tolist().count(features.ALIKE) == 4 and not rows.any()
    (kept,) = (tmp_path / "kept").iterdir()
    written = kept.stat().st_mtime_ns
    np.testing.assert_array_equal(features.of_faces(table, tmp_path, tmp_path / "kept")[0], first)
    assert kept.stat().st_mtime_ns == written
    np.savez(kept, stats=first[..., :10], kinds=kinds)
    assert features.of_faces(table, tmp_path, tmp_path / "kept")[0].shape == first.shape


def test_pictures_of_anything_are_seen_in_windows(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(features, "load_imagenet", lambda backbone: None)
    views = cache.cut_views(astronaut(), np.random.default_rng(0))
    np.savez(
        tmp_path / "a.npz", native0=views.native[0], square=views.square, large=views.large, hash=np.uint64(views.hash)
    )
    table = pd.DataFrame({"file": [str(tmp_path / "a.npz")]})
    values, kinds, rows = features.of_pictures(table, tmp_path / "kept")
    assert values.shape == (2 + features.DRAWS, 1, N_STATISTICS) and np.isfinite(values).all()
    assert kinds.tolist() == [features.AS_IS, *[features.DRAWN] * (features.DRAWS + 1)] and not rows.any()
