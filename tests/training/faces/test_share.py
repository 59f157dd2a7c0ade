"""What faces weigh beside pictures: fitted as it is in the data, without the pictures that it is then measured on."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from forensix.calibration import Calibration
from forensix.models import get_card
from forensix.training.faces.fit import HeldOut as FacesHeldOut
from forensix.training.faces.fit import Seen
from forensix.training.faces.share import faces_of, fit_weight, joined, shared_card
from forensix.training.images.fit import HeldOut
from forensix.training.images.train import Prepared

N = 400
EVEN = Calibration(slope=1.0, intercept=0.0)


def evidence(rng: np.random.Generator, fake: np.ndarray, strength: float) -> np.ndarray:
    """Return the logits of likelihood ratios between two normal densities that lie ``strength`` apart."""
    return strength * (rng.normal(0, 1, len(fake)) + strength * (fake - 0.5))


@pytest.fixture
def prepared() -> Prepared:
    fake = np.arange(N) % 2 == 1
    repo = [f"repo{i // 2 % 8}" for i in range(N)]
    table = pd.DataFrame({"repo": repo, "path": [f"{i}.jpg" for i in range(N)], "fake": fake, "licence": ""})
    table["made_by"] = np.where(fake, "generator of " + table["repo"], "")
    empty = np.zeros((0, 1, 1), np.float16)
    return Prepared(table, np.zeros((N, 1, 1), np.float16), np.arange(N) // 2 % 4, empty)


@pytest.fixture
def said(prepared: Prepared) -> pd.DataFrame:
    """Faces in every other picture of a class, of which half were looked at once more."""
    face = evidence(np.random.default_rng(1), prepared.fake, 1.5)
    has = np.arange(N) // 8 % 2 == 0
    as_is = np.where(has, face, np.nan)
    return pd.DataFrame({"as_is": as_is, "alike": np.where(np.arange(N) // 16 % 2 == 0, as_is, np.nan)})


@pytest.fixture
def held(prepared: Prepared) -> HeldOut:
    logits = evidence(np.random.default_rng(2), prepared.fake, 1.5)
    return HeldOut(logits, logits.copy())


def test_faces_weigh_what_they_know() -> None:
    rng, fake = np.random.default_rng(0), np.arange(4000) % 2 == 1
    picture, face, noise = evidence(rng, fake, 1.5), evidence(rng, fake, 2.0), rng.normal(0, 2, len(fake))
    even = np.ones(len(fake))
    assert fit_weight(picture, face, fake, even) == pytest.approx(1.0, abs=0.15)
    assert fit_weight(picture, noise, fake, even) == pytest.approx(0.0, abs=0.1)
    assert fit_weight(picture, -face, fake, even) < 0.01, "a face never speaks for the opposite of what it says"


def test_pictures_without_a_face_keep_their_logits(prepared: Prepared, held: HeldOut, said: pd.DataFrame) -> None:
    both, share = joined(held, said, (EVEN, EVEN), prepared)
    without = said["as_is"].isna().to_numpy()
    np.testing.assert_array_equal(both.as_is[without], held.as_is[without])
    assert (both.as_is[~without] != held.as_is[~without]).all() and share.weight > 0.3
    np.testing.assert_array_equal(both.same[without], held.same[without])
    np.testing.assert_array_equal(np.isnan(both.same), ~without & said["alike"].isna().to_numpy())


def test_what_a_face_adds_does_not_rest_on_the_labels_of_its_fold(
    prepared: Prepared, held: HeldOut, said: pd.DataFrame
) -> None:
    first = joined(held, said, (EVEN, EVEN), prepared)[0].as_is
    own = prepared.folds == 2
    table = prepared.table.copy()
    table.loc[own, "fake"] = ~table.loc[own, "fake"]
    turned = joined(held, said, (EVEN, EVEN), replace(prepared, table=table))[0].as_is
    np.testing.assert_allclose(turned[own], first[own])
    assert not np.allclose(turned[~own], first[~own])


def test_the_face_of_a_picture_is_the_one_cut_from_it_as_it_is() -> None:
    pictures = pd.DataFrame({"repo": ["a", "a", "b"], "path": ["1.jpg", "2.jpg", "1.jpg"]})
    rows = [("a", "1.jpg", True, 384), ("a", "1.jpg", True, 0), ("b", "1.jpg", False, 0)]
    table = pd.DataFrame(rows, columns=["repo", "path", "static", "short_px"])
    nothing = np.zeros((0, 2, 1), np.float16)
    faces = Seen(table, nothing, np.zeros(0, np.uint8), np.zeros(0, np.int64))
    logits = FacesHeldOut(np.array([1.0, 2.0, 3.0]), np.array([4.0, np.nan, 6.0]), np.zeros(3))
    found = faces_of(pictures, faces, logits)
    np.testing.assert_array_equal(found["as_is"], [2.0, np.nan, np.nan])
    assert found["alike"].isna().all()


def test_the_card_keeps_its_weights_and_says_what_both_are_worth(
    prepared: Prepared, held: HeldOut, said: pd.DataFrame
) -> None:
    old = get_card("forensix-image")
    card = shared_card(old, prepared, held, said, EVEN)
    assert (card.weights, card.sha256, card.name) == (old.weights, old.sha256, old.name)
    assert card.faces is not None and card.faces.classifier == "forensix-face" and card.faces.weight > 0
    values = {one.metric: one.value for one in card.measured}
    assert values["AUC, mean of folds"] > values["AUC, mean of folds, without what faces add"] + 0.01
    of_faces = [values[f"AUC, pictures in which a face was found, {name}"] for name in ("picture alone", "both")]
    assert of_faces[1] > of_faces[0] + 0.02
    commands = {one.command.partition(" --")[0] for one in card.measured}
    assert commands == {f"python -m forensix.training.{name}" for name in ("faces.share", "images.videos")}
    assert card.inconclusive_video == old.inconclusive_video, "faces add nothing to what is said of a video"
