"""The classifier's promises: range, determinism, what it refuses, heat maps; and its direction on known pairs."""

import numpy as np
import pytest
import torch
from PIL import Image

from forensix.calibration import Calibration
from forensix.errors import UsageError
from forensix.faces import FaceClassifier, forensix_face, track, track_frames
from forensix.faces.classify import network_input
from forensix.faces.crop import crop, window_corner
from forensix.faces.detect import detect
from forensix.media import Frame, open_media
from forensix.models import LoadedModel, get_card
from forensix.models.architectures import faces as face_stages


@pytest.fixture(scope="module")
def crops(astronaut, hopper):
    pictures = [crop(rgb, detect([rgb])[0].boxes[0]) for rgb in (astronaut, hopper)]
    noise = np.random.default_rng(0).integers(0, 256, pictures[0].shape).astype(np.uint8)
    return np.stack([*pictures, noise, np.zeros_like(noise), pictures[0][:, ::-1]])


def test_scores_are_probabilities_and_repeatable(crops):
    scores = forensix_face().score(crops)
    assert scores.shape == (5,) and scores.dtype == np.float64
    assert (scores >= 0).all() and (scores <= 1).all() and np.ptp(scores) > 0
    np.testing.assert_array_equal(scores, forensix_face().score(crops))


@pytest.mark.slow
def test_company_in_a_batch_does_not_change_a_score(crops):
    many = np.concatenate([crops] * 9)
    together = forensix_face().score(many)
    alone = np.concatenate([forensix_face().score(one[None]) for one in crops])
    np.testing.assert_allclose(together, np.tile(alone, 9), atol=1e-5)


def test_scores_are_the_cards_calibration_of_the_logits(crops):
    logits = forensix_face().logits(crops)
    np.testing.assert_allclose(forensix_face().score(crops), forensix_face().card.calibration.score(logits))
    assert forensix_face().card.calibration.slope > 0


def test_no_crops_no_scores():
    empty = np.zeros((0, 160, 160, 3), np.uint8)
    assert forensix_face().score(empty).shape == (0,)


@pytest.mark.parametrize(
    "wrong",
    [
        np.zeros((160, 160), np.uint8),
        np.zeros((1, 160, 160, 3)),
        np.zeros((1, 160, 90, 3), np.uint8),
        np.zeros((1, 3, 160, 160, 3), np.uint8),
        np.zeros((1, 1, 2, 160, 160, 3), np.uint8),
    ],
)
def test_refuses_what_are_no_crops(wrong):
    with pytest.raises(UsageError, match="uint8"):
        forensix_face().score(wrong)


@pytest.mark.slow
def test_a_window_moves_the_score_of_its_crop_and_a_crop_by_itself_has_one_too(crops):
    card = get_card("forensix-face").model_copy(
        update={"preprocessing": {"size_px": 160, "windows": {"share": 0.5, "without": [2.0, 1.0]}}}
    )
    torch.manual_seed(0)
    network = face_stages.build().eval()
    with torch.inference_mode():
        outputs = network(network_input(crops, 160)).double().numpy()
    classifier = FaceClassifier(LoadedModel(card, network))
    turned = crops[::-1].copy()
    together = classifier.logits(np.stack([crops, turned], axis=1))
    np.testing.assert_allclose(together, outputs[:, 0] + 0.5 * outputs[::-1, 1], atol=1e-4)
    np.testing.assert_allclose(classifier.logits(crops), 2 * outputs[:, 0] + 1, atol=1e-4)
    many = np.concatenate([np.stack([crops, turned], axis=1)] * 9)
    np.testing.assert_allclose(classifier.logits(many), np.tile(together, 9), atol=1e-4)


def test_a_track_has_a_window_for_every_crop(hopper):
    (face,) = track_frames([Frame(0, 0.0, hopper)])
    assert face.views.shape == (1, 2, 224, 224, 3)
    left, top = window_corner(hopper.shape, face.landmarks[0])
    np.testing.assert_array_equal(face.views[0, 1], hopper[top : top + 224, left : left + 224])
    small = hopper[100:320, 165:365]
    (cut,) = track_frames([Frame(0, 0.0, small)])
    np.testing.assert_array_equal(cut.windows[0][:220, :200], small)
    np.testing.assert_array_equal(cut.windows[0][:, 200:], cut.windows[0][:, 176:200][:, ::-1])


def test_a_card_without_calibration_gives_the_probability_that_its_authors_read_off():
    card = get_card("forensix-face").model_copy(update={"calibration": None})
    classifier = FaceClassifier(LoadedModel(card, face_stages.build().eval()))
    crop_ = np.zeros((1, 160, 160, 3), np.uint8)
    assert classifier.logits(crop_).shape == (1,)
    np.testing.assert_allclose(classifier.score(crop_), 1 / (1 + np.exp(-classifier.logits(crop_))))


def test_a_picture_has_no_logit_of_its_own(tmp_path):
    picture = Image.new("RGB", (64, 64))
    picture.save(tmp_path / "a.png")
    for given in (tmp_path / "a.png", (tmp_path / "a.png").read_bytes(), picture):
        with pytest.raises(UsageError, match="a logit is that of one crop"):
            forensix_face().logit(given)
    assert np.isfinite(forensix_face().logit(np.asarray(picture)))


def test_another_calibration_moves_the_scores(crops):
    card = get_card("forensix-face").model_copy(update={"calibration": Calibration(slope=2.0, intercept=-1.0)})
    classifier = FaceClassifier(LoadedModel(card, face_stages.build().eval()))
    np.testing.assert_allclose(classifier.score(crops), 1 / (1 + np.exp(1 - 2 * classifier.logits(crops))))


def test_generated_portraits_score_above_photographs(corpora):
    """The sign check, on pictures of a training source that training did not see."""
    import pandas as pd

    faces = corpora / "faces"
    table = pd.read_csv(faces / "manifest.csv")
    table = table[(table["split"] == "dev") & (table["source_repo"] == "dinablachman/realorfake")]
    means = {}
    for label in ("real", "fake"):
        logits = []
        for path in table.loc[table["label"] == label, "path"].head(8):
            with open_media(faces / path) as media:
                logits += [forensix_face().logits(track(media)[0].views)[0]]
        means[label] = np.mean(logits)
    assert means["fake"] > means["real"]
