"""forensix-face: views of faces, a rule on what the pretrained network says, and a card from sources held out."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from skimage.data import astronaut

from forensix.models import save_model
from forensix.models.architectures.faces import N_STATISTICS, build
from forensix.training.faces import crops, features
from forensix.training.faces.card import make_card
from forensix.training.faces.fit import Seen, face_logits, file_weights, fit_rule, held_out

N = 240
REPOS = 12


@pytest.fixture(scope="module")
def face() -> crops.FaceCrops:
    rgb = astronaut()
    cut = crops.cut_faces([rgb] * 6, (0.0, 0.0, 1.0, 1.0))
    assert cut is not None
    return cut


def test_a_still_is_seen_as_it_is_drawn_and_alike_and_a_clip_at_some_moments(face: crops.FaceCrops) -> None:
    views, kinds = features.views_of_face(face, np.random.default_rng(0), still=False, judged=True)
    assert kinds.tolist() == [0, 1, 0, 0, 0, 1] and views.shape == (6, 224, 224, 3)
    one = replace(face, **{name: getattr(face, name)[:1] for name in ("rgb", "landmarks")})
    views, kinds = features.views_of_face(one, np.random.default_rng(0), still=True, judged=True)
    assert kinds.tolist() == [0, 1, 2]
    assert (views[0] != views[1]).any() and (views[0] != views[2]).any()
    again, _ = features.views_of_face(one, np.random.default_rng(0), still=True, judged=False)
    np.testing.assert_array_equal(again, views[:2])


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
            "made_by": np.where(fake, [f"tool {i // 2 % REPOS}" for i in range(N)], ""),
            "fake": fake,
            "static": np.arange(N) % 4 < 2 if stills else True,
            "gap": rng.normal(0.1, 0.2, N) + 0.1 * fake,
            "licence": "CC0",
        }
    )
    values = rng.normal(size=(3 * N, N_STATISTICS)).astype(np.float32)
    values[:, :40] += 0.35 * np.repeat(fake, 3)[:, None]
    kinds = np.tile(np.array([0, 1, 2], np.uint8), N)
    return Seen(table, values.astype(np.float16), kinds, np.repeat(np.arange(N), 3))


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
    raw, alike = held_out(faces, pictures, folds)
    fake = faces.table["fake"].to_numpy()
    assert raw[fake].mean() > raw[~fake].mean() + 1 and np.isfinite(alike).all()
    # Pictures of a maker of held-out faces are not learnt from either.
    held = folds == 0
    poisoned = replace(pictures, statistics=pictures.statistics.copy())
    shared = pictures.table["made_by"].isin(faces.table.loc[held, "made_by"]).to_numpy() & fake
    poisoned.statistics[shared[pictures.rows]] = 9
    one, other = (face_logits(fit_rule(faces, given, held), faces) for given in (pictures, poisoned))
    np.testing.assert_array_equal(one, other)


def test_the_card_tells_pictures_and_clips_apart_and_calls_nothing_untouched(tmp_path) -> None:
    faces, pictures = seen(), seen(stills=False, seed=1)
    folds = np.array([int(repo[2:]) % 3 for repo in faces.table["repo"]])
    raw, alike = held_out(faces, pictures, folds)
    trained_on = faces.table[["repo", "label", "licence"]]
    card = make_card(faces.table, raw, alike, trained_on, "python -m train --list a.csv")
    assert card.inconclusive[0] == card.inconclusive_video[0] == 0 < card.inconclusive[1] == card.threshold < 1
    assert card.detail_gap is not None and card.pooling is not None
    conditions = {one.data.rpartition(", ")[2] for one in card.measured}
    assert {"as it is", "videos", "all", "faces generated whole"} <= conditions
    assert all(one.n_real and one.n_fake for one in card.measured if "together" not in one.data)
    assert sum(one.n for one in card.trained_on) == N
    saved = save_model(card, build(), tmp_path, half=True)
    assert (tmp_path / saved.weights).stat().st_size < 8_000_000
