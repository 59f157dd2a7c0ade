"""What a picture and its faces weigh beside each other: what they know, measured on files that had no part in it."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import skimage.data

from forensix.calibration import Calibration, sigmoid
from forensix.faces.align import TEMPLATE
from forensix.models import Steadiness, get_card
from forensix.training.faces import around, crops, fusion
from forensix.training.faces.around import Around, pictures_around
from forensix.training.faces.features import EDITS, RETOUCHED
from forensix.training.faces.fit import HeldOut as FacesHeldOut
from forensix.training.faces.fit import Seen
from forensix.training.faces.fusion import added, faces_in, fit_weight, fuse
from forensix.training.faces.regions import HELD_OUT
from forensix.training.faces.steadiness import WHOLE, Steady
from forensix.training.faces.train import Prepared as FacesPrepared
from forensix.training.images.train import Prepared
from forensix.training.said import Said

N = 400
FAKE = np.arange(N) % 2 == 1
FOLDS = np.arange(N) // 2 % 4
EVEN = Calibration(slope=0.5, intercept=0.1)
NOTHING = np.zeros((0, 2, 1), np.float16)
ASTRONAUT = skimage.data.astronaut()


def evidence(rng: np.random.Generator, fake: np.ndarray, strength: float) -> np.ndarray:
    """Return the logits of likelihood ratios between two normal densities that lie ``strength`` apart."""
    return strength * (rng.normal(0, 1, len(fake)) + strength * (fake - 0.5))


@pytest.fixture
def own() -> Said:
    logits = evidence(np.random.default_rng(2), FAKE, 1.5)
    return Said(logits, logits.copy(), logits - 0.5)


@pytest.fixture
def other() -> Said:
    """The other looked at half of the files, and at half of these once more."""
    logits = np.where(np.arange(N) // 8 % 2 == 0, evidence(np.random.default_rng(1), FAKE, 1.5), np.nan)
    again = np.where(np.arange(N) // 16 % 2 == 0, logits, np.nan)
    return Said(logits, again, again)


@pytest.fixture
def prepared() -> Prepared:
    repo = [f"repo{i // 2 % 8}" for i in range(N)]
    table = pd.DataFrame({"repo": repo, "path": [f"{i}.jpg" for i in range(N)], "fake": FAKE, "licence": ""})
    table["made_by"] = np.where(FAKE, "generator of " + table["repo"], "")
    return Prepared(table, np.zeros((N, 1, 1), np.float16), FOLDS, NOTHING)


def test_the_other_weighs_what_it_knows() -> None:
    rng, fake = np.random.default_rng(0), np.arange(4000) % 2 == 1
    one, same, noise = evidence(rng, fake, 1.5), evidence(rng, fake, 2.0), rng.normal(0, 2, len(fake))
    even = np.ones(len(fake))
    assert fit_weight(one, same, fake, even) == pytest.approx(1.0, abs=0.15)
    assert fit_weight(one, noise, fake, even) == pytest.approx(0.0, abs=0.1)
    assert fit_weight(one, -same, fake, even) < 0.01, "it never speaks for the opposite of what it says"


def test_files_of_which_the_other_says_nothing_keep_their_logits(own: Said, other: Said) -> None:
    both, weight, counted = fuse(own, other, FAKE, np.ones(N), FOLDS)
    alone = np.isnan(other.as_is)
    assert (counted[alone] == 0).all() and (counted[~alone] > 0.3).all()
    np.testing.assert_array_equal(both.as_is[alone], own.as_is[alone])
    assert (both.as_is[~alone] != own.as_is[~alone]).all() and 0.3 < weight < 2
    for condition in ("alike", "retouched"):
        fused, unfused, said = (of.conditions[condition] for of in (both, own, other))
        np.testing.assert_array_equal(fused[alone], unfused[alone])
        np.testing.assert_array_equal(np.isnan(fused), ~alone & np.isnan(said))


def test_what_is_added_does_not_rest_on_the_labels_of_its_fold(own: Said, other: Said) -> None:
    first, _, _ = fuse(own, other, FAKE, np.ones(N), FOLDS)
    held = FOLDS == 2
    turned, _, _ = fuse(own, other, FAKE ^ held, np.ones(N), FOLDS)
    np.testing.assert_allclose(turned.as_is[held], first.as_is[held])
    assert not np.allclose(turned.as_is[~held], first.as_is[~held])


def test_what_the_other_says_of_edited_files_counts_in_its_weight(own: Said, other: Said) -> None:
    _, weight, _ = fuse(own, other, FAKE, np.ones(N), FOLDS)
    misled = [(own.retouched, -other.as_is)]
    _, lower, counted = fuse(own, other, FAKE, np.ones(N), FOLDS, edited=misled)
    assert lower < weight / 2 and (counted[np.isfinite(other.as_is)] < weight / 2).all()


def test_units_come_back() -> None:
    raw = np.array([-3.0, np.nan, 2.0])
    back = Said(raw, 2 * raw, 3 * raw).calibrated(EVEN).raw(EVEN)
    np.testing.assert_allclose(tuple(back.conditions.values()), (raw, 2 * raw, 3 * raw))


def test_the_face_of_a_picture_is_the_one_cut_from_it_as_it_is() -> None:
    pictures = pd.DataFrame({"repo": ["a", "a", "b"], "path": ["1.jpg", "2.jpg", "1.jpg"]})
    rows = [("a", "1.jpg", True, 384), ("a", "1.jpg", True, 0), ("b", "1.jpg", False, 0), ("a", "2.jpg", True, 0)]
    faces = pd.DataFrame(rows, columns=["repo", "path", "static", "short_px"])
    faces["area"] = [WHOLE, WHOLE, WHOLE, (0.0, 0.0, 0.5, 1.0)]
    said = Said(np.array([1.0, 2.0, 3.0, 9.0]), np.array([4.0, np.nan, 6.0, 9.0]), np.array([5.0, 7.0, 8.0, 9.0]))
    found = faces_in(pictures, faces, said)
    np.testing.assert_array_equal(found.as_is, [2.0, np.nan, np.nan])
    assert np.isnan(found.alike).all()
    np.testing.assert_array_equal(found.retouched, [7.0, np.nan, np.nan])
    np.testing.assert_array_equal(faces_in(pictures, faces, said, static=False).as_is, [np.nan, np.nan, 3.0])


def test_the_picture_around_a_face_is_judged_by_heads_that_did_not_see_its_source(
    prepared: Prepared, tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = prepared.table
    rows = [
        (table["repo"][5], table["path"][5], "", True, 0),
        (table["repo"][4], "another.jpg", "", True, 0),
        ("elsewhere", "1.jpg", "", True, 0),
        ("elsewhere", "2.jpg", table["made_by"][7], True, 0),
        ("elsewhere", "3.mp4", "", False, 0),
        ("elsewhere", "small.jpg", "", True, 0),
        ("elsewhere", "page.png", "", True, 0),
    ]
    faces = pd.DataFrame(rows, columns=["repo", "path", "made_by", "static", "short_px"])
    faces = faces.assign(label="real", name=faces["path"])
    pictures = {"small.jpg": ASTRONAUT[:447], "page.png": np.full((600, 600, 3), 255, np.uint8)}
    monkeypatch.setattr(around, "still", lambda row, opened: pictures.get(row["path"], ASTRONAUT))
    # What is said of a picture, by the head of a fold, is ten times the fold and how bright it is.
    monkeypatch.setattr(around, "of_views", lambda pictures: [np.full((2, 1), rgb.mean()) for rgb in pictures])
    monkeypatch.setattr(around.images_fit, "head_logits", lambda head, views: np.array([head + views[0, 0, 0]]))
    heads = {fold: 10.0 * fold for fold in range(4)}
    raw = Said(np.arange(N, dtype=float), np.full(N, 0.5), np.full(N, 0.7))
    found = pictures_around(faces, prepared, raw, heads, tmp_path)
    own, nan = ASTRONAUT.mean(), np.nan
    np.testing.assert_allclose(
        found.said.as_is, [5.0, own + 10.0 * FOLDS[4], own + 15.0, own + 10.0 * FOLDS[7], nan, nan, nan]
    )
    np.testing.assert_array_equal(found.said.alike, [0.5, nan, nan, nan, nan, nan, nan])
    # Edited ones are looked at, also where the picture itself was learnt from: never by its own head.
    for kind in EDITS:
        assert np.isfinite(found.edited[kind]).tolist() == [True] * 4 + [False] * 3
        assert found.edited[kind][0] != 5.0
    assert abs(found.edited[RETOUCHED][0] - own - 10.0 * FOLDS[5]) > 0.1, "it was retouched before"


def test_a_picture_that_counts_and_was_not_looked_at_in_a_condition_says_nothing_of_it() -> None:
    own, other, counted = np.array([1.0, 1.0, 1.0]), np.array([2.0, np.nan, np.nan]), np.array([0.5, 0.5, 0.0])
    np.testing.assert_array_equal(added(own, other, counted), [2.0, np.nan, 1.0])


def test_the_card_of_pictures_keeps_its_weights_and_says_what_both_are_worth(
    prepared: Prepared, own: Said, other: Said
) -> None:
    old = get_card("forensix-image")
    card, _ = fusion.image_card(old, prepared, own.raw(EVEN), other)
    assert (card.weights, card.sha256, card.name) == (old.weights, old.sha256, old.name)
    assert card.fusion is not None and card.fusion.model == "forensix-face" and card.fusion.weight > 0
    values = {one.metric: one.value for one in card.measured}
    assert values["AUC, mean of folds"] > values["AUC, mean of folds, the picture alone"] + 0.01
    of_faces = [values[f"AUC, pictures in which a face was found, {name}"] for name in ("the picture alone", "both")]
    assert of_faces[1] > of_faces[0] + 0.02
    assert {one.command for one in card.measured} == {fusion.COMMAND}
    assert card.fusion.video_weight is None and card.inconclusive_video is None


def test_videos_have_a_weight_and_bounds_of_their_own(prepared: Prepared, own: Said, other: Said) -> None:
    card, _ = fusion.image_card(get_card("forensix-image"), prepared, own.raw(EVEN), other)
    videos = prepared.table.assign(label=np.where(FAKE, "fake", "real"))
    poor = sigmoid(evidence(np.random.default_rng(3), FAKE, 0.3))
    both = fusion.with_videos(card, videos.assign(score=poor), other)
    assert both.fusion is not None and card.fusion is not None
    assert both.fusion.weight == card.fusion.weight and (both.fusion.video_weight or 0) > 0.5
    values = {one.metric: one.value for one in both.measured if ", videos" in one.data}
    alone, face, together = (
        values[f"AUC, videos in which a face was found, {name}"]
        for name in ("the frames alone", "the face alone", "both")
    )
    assert alone < 0.7 < together and abs(together - face) < 0.1
    assert both.inconclusive == card.inconclusive and both.inconclusive_video is not None
    assert [one for one in both.measured if ", videos" not in one.data] == list(card.measured)
    without = fusion.with_videos(card, videos.assign(score=poor), replace(other, as_is=other.as_is * 0))
    (of_frames,) = (one.value for one in without.measured if one.metric == "AUC" and ", videos" in one.data)
    assert values["AUC"] > of_frames + 0.05


def test_the_card_of_faces_has_bounds_of_both_and_the_calibration_of_faces_alone(own: Said, other: Said) -> None:
    table = pd.DataFrame({"repo": [f"repo{i // 2 % 8}" for i in range(N)], "licence": ""})
    table["gap"] = np.random.default_rng(0).normal(0, 0.2, N)
    table["path"] = [f"{i}.mp4" for i in range(N)]
    table["static"] = np.arange(N) < 0.8 * N
    table = table.assign(fake=FAKE, label=np.where(FAKE, "fake", "real"), method=np.where(FAKE, "face_synthesis", ""))
    table["made_by"] = np.where(FAKE, "maker of " + table["repo"], "")
    still = table["static"].to_numpy()
    beside = other.each(lambda logits: np.where(still, logits, np.nan))
    of_pictures = Around(beside, dict.fromkeys(EDITS, beside.alike))
    of_faces = Seen(table, NOTHING, np.zeros(0, np.uint8), np.zeros(0, np.int64))
    pictures = replace(of_faces, table=table[:0])
    steady = Steady(Steadiness(means=(0,), deviations=(1,), weights=(0,), intercept=0, most_logit=9), np.zeros(N))
    held = FacesHeldOut(own.raw(EVEN), own.as_is, edited=dict.fromkeys(EDITS, own.raw(EVEN).retouched))
    prepared = FacesPrepared(of_faces, pictures, held, steady)
    old = get_card("forensix-face")
    unknown = np.full(N, np.nan)
    card = fusion.face_card(old, prepared, of_pictures, unknown)
    silent = Around(beside.each(lambda logits: logits * 0), dict.fromkeys(EDITS, beside.alike * 0))
    alone = fusion.face_card(old, prepared, silent, unknown)
    assert card.calibration == alone.calibration and card.sha256 == old.sha256
    assert card.fusion is not None and card.fusion.model == "forensix-image" and card.fusion.weight > 0.3
    told = [
        next(one.value for one in of.measured if one.metric.startswith("AUC, a source") and "pictures, all" in one.data)
        for of in (card, alone)
    ]
    assert told[0] > told[1] + 0.01
    clips = [[one.value for one in of.measured if "videos" in one.data and "AUC" in one.metric] for of in (card, alone)]
    assert clips[0] == clips[1], "what is said of clips does not change"


def test_what_is_said_of_parts_put_in_counts_where_it_was_not_learnt_and_in_what_bounds_decide(own: Said) -> None:
    table = pd.DataFrame(
        {
            "repo": [f"repo{i // 2 % 8}" for i in range(N)],
            "path": [str(i) for i in range(N)],
            "label": np.where(FAKE, "fake", "real"),
            "method": np.where(FAKE, "faceswap", "none"),
            "made_by": np.where(FAKE, [f"maker {i // 2 % 8}" for i in range(N)], ""),
            "fake": FAKE,
            "static": np.arange(N) % 8 < 6,
            "gap": 0.1,
            "licence": "",
        }
    )
    of_faces = Seen(table, NOTHING, np.zeros(0, np.uint8), np.zeros(0, np.int64))
    steady = Steady(Steadiness(means=(0,), deviations=(1,), weights=(0,), intercept=0, most_logit=9), np.zeros(N))
    held = FacesHeldOut(own.raw(EVEN), own.as_is, edited=dict.fromkeys(EDITS, own.raw(EVEN).retouched))
    prepared = FacesPrepared(of_faces, replace(of_faces, table=table[:0]), held, steady)
    silent = own.each(lambda logits: np.where(table["static"], 0.0, np.nan))
    of_pictures = Around(silent, dict.fromkeys(EDITS, silent.as_is))
    telling = np.where(np.arange(N) // 2 % 8 < 4, np.where(FAKE, 4.0, -4.0), np.nan)
    card = fusion.face_card(get_card("forensix-face"), prepared, of_pictures, telling)
    assert card.parts is not None and card.parts.model == "forensix-face-regions"
    told = {
        one.metric.rpartition(", ")[2]: one
        for one in card.measured
        if "neither model" in one.data and "pictures, faceswap" in one.data
    }
    by_face, by_both = told["by the face as a whole"], told["with what is said of parts put in"]
    assert by_both.value > by_face.value + 0.1 and by_both.n_fake == 75, "known of half of the repositories"
    even = fusion.face_card(get_card("forensix-face"), prepared, of_pictures, np.full(N, np.nan))
    found, found_without = (
        next(one.value for one in of.measured if one.metric == "fake files decided" and "pictures" in one.data)
        for of in (card, even)
    )
    assert even.calibration == card.calibration and found > found_without + 0.1
    assert not any("neither model" in one.data for one in even.measured)


def test_parts_are_looked_for_in_the_faces_of_sources_that_were_not_learnt_from(
    monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    rgb = np.random.default_rng(0).integers(0, 255, (3, 288, 288, 3)).astype(np.uint8)
    points = np.repeat((TEMPLATE * 288 / 224)[None], 3, axis=0).astype(np.float32)
    area = np.zeros((1, 1, 3), np.uint8)
    zeros = np.zeros(3, np.float32)
    crops.store(
        tmp_path / "a.npz", crops.FaceCrops(rgb, points, 144.0, zeros, np.zeros((3, 2), np.float32), (area,) * 3)
    )
    seen: list[int] = []

    class Regions:
        def score(self, many: np.ndarray) -> np.ndarray:
            seen.append(len(many))
            return np.full(len(many), 0.9)

    monkeypatch.setattr(fusion, "load_detector", lambda name: Regions())
    table = pd.DataFrame({"name": ["a", "b"], "repo": [HELD_OUT[0], "somebody/else"]})
    known, unknown = fusion.parts_of(table, tmp_path)
    assert sigmoid(known) == pytest.approx(0.9) and np.isnan(unknown) and seen == [3]
