"""The making of fakes, the fairness of what both classes go through, and that training learns."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from forensix.calibration import Calibration
from forensix.faces.detect import detect
from forensix.models import save_model
from forensix.models.architectures import face_cnn
from forensix.training.faces import card as faces_card
from forensix.training.faces import fit
from forensix.training.faces import train as faces_train
from forensix.training.faces.blend import (
    MEAN_LANDMARKS,
    apply,
    blend,
    fit_affine,
    fit_similarity,
    mask,
    match_colour,
    membrane,
    replace_mouth,
    self_blend,
    swap,
    warp,
)
from forensix.training.faces.data import (
    FOLDERS,
    TYPES,
    cut_face,
    held_out,
    identities,
    make_pair,
    mirrored,
    near_crop,
    shares,
    without_copies,
)
from forensix.training.faces.degrade import degrade, h264, jpeg

REAL = "dinablachman+realorfake"


@pytest.fixture(scope="module")
def sources():
    from matplotlib.cbook import get_sample_data
    from PIL import Image
    from skimage.data import astronaut

    with get_sample_data("grace_hopper.jpg") as file:
        pictures = [astronaut(), np.asarray(Image.open(file).convert("RGB"))]
    found = []
    for name, label, rgb in zip(("a.jpg", "b.jpg"), ("real", "real"), pictures, strict=True):
        faces_ = detect([rgb])[0]
        found.append(cut_face(rgb, faces_.boxes[0], faces_.landmarks[0], REAL, name, label))
    rgb = np.ascontiguousarray(pictures[1][:, ::-1])
    faces_ = detect([rgb])[0]
    found.append(cut_face(rgb, faces_.boxes[0], faces_.landmarks[0], REAL + "/fake", "fake_1.jpg", "fake"))
    return found


def test_maps_are_recovered_from_points():
    turn = np.array([[1.1, -0.4, 3.0], [0.4, 1.1, -2.0]])
    moved = apply(turn, MEAN_LANDMARKS)
    np.testing.assert_allclose(fit_similarity(MEAN_LANDMARKS, moved), turn, atol=1e-9)
    np.testing.assert_allclose(fit_affine(MEAN_LANDMARKS, moved), turn, atol=1e-9)


def test_warp_moves_pixels_the_way_its_matrix_says():
    picture = np.zeros((40, 40, 3), np.uint8)
    picture[10:14, 10:14] = 255
    moved = warp(picture, np.array([[1.0, 0, 8], [0, 1, 3]]), (40, 40))
    assert moved[14:16, 19:21].min() > 200 and moved[11, 11].max() < 50


@pytest.mark.parametrize("kind", ["face", "head", "lower", "mouth", "eyes"])
def test_masks_cover_their_part_of_the_face(sources, kind):
    face = sources[0].face
    alpha = mask(face, kind, np.random.default_rng(1))
    assert alpha.shape == face.rgb.shape[:2] and alpha.min() >= 0 and 0.5 < alpha.max() <= 1
    eye, mouth = (face.landmarks[:2].mean(axis=0), face.landmarks[3:].mean(axis=0))
    at = {name: alpha[round(y), round(x)] for name, (x, y) in (("eye", eye), ("mouth", mouth))}
    assert (at["eye"] > 0.4) == (kind in ("face", "head", "eyes"))
    assert (at["mouth"] > 0.4) == (kind in ("face", "head", "lower", "mouth"))


def test_fakes_differ_from_their_originals_under_the_mask_only(sources):
    rng = np.random.default_rng(3)
    a, b = sources[0].face, sources[1].face
    made = [self_blend(a, rng, kind="face"), swap(a, b, rng), replace_mouth(a, b, rng), replace_mouth(a, None, rng)]
    for picture, alpha in made:
        changed = np.abs(picture.astype(int) - a.rgb).max(axis=2)
        if (picture[0, 0] == a.rgb[0, 0]).all():
            assert changed[alpha == 0].max() <= 1
        assert changed[alpha > 0.5].mean() > 1


def test_colour_is_matched_and_the_membrane_closes_the_seam():
    rng = np.random.default_rng(0)
    target = rng.integers(100, 140, (64, 64, 3)).astype(np.uint8)
    source = rng.integers(20, 40, (64, 64, 3)).astype(np.uint8)
    alpha = np.zeros((64, 64), np.float32)
    alpha[16:48, 16:48] = 1
    inside = alpha > 0
    matched = match_colour(source, target, alpha)
    np.testing.assert_allclose(matched[inside].mean(axis=0), target[inside].mean(axis=0), atol=2)
    soft = np.clip(alpha * 0.9 + 0.05, 0, 1)
    met = blend(membrane(source, target, soft), target, alpha)
    assert abs(met[inside].mean() - target[inside].mean()) < 0.3 * abs(source[inside].mean() - target[inside].mean())


def test_codecs_lose_a_little_and_keep_the_size(sources):
    rgb = sources[0].face.rgb
    even = rgb[: rgb.shape[0] // 2 * 2, : rgb.shape[1] // 2 * 2]
    for coded in (jpeg(even, 80), h264(even, 28)):
        assert coded.shape == even.shape
        assert 0.3 < np.abs(coded.astype(int) - even).mean() < 12


def test_one_chain_of_the_same_seed_is_the_same_for_both_classes(sources):
    rgb = sources[0].face.rgb
    first, again = (degrade(rgb, np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_a_pair_is_two_crops_a_type_and_a_place(sources):
    real, fake = sources[:2], sources[2:]
    kinds = set()
    for seed in range(25):
        pair = make_pair(real, fake, shares(real), np.random.default_rng(seed))
        assert pair.real.shape == pair.fake.shape == (176, 176, 3)
        assert pair.place.shape == (22, 22) and pair.place.max() > 0
        kinds.add(TYPES[pair.kind])
    assert kinds == set(TYPES)


def test_identities_split_without_overlap(sources):
    in_a_mirror = [replace(one, face=mirrored(one.face), name=f"m{one.name}") for one in sources[:2]]
    names = identities([*sources[:2], *in_a_mirror])
    assert names[:2] == names[2:] and names[0] != names[1]
    assert held_out("a") == held_out("a")
    assert 0.1 < np.mean([held_out(str(i)) for i in range(2000)]) < 0.2


def test_copies_of_what_is_held_back_are_left_out(sources):
    kept = without_copies(sources[:2], [near_crop(mirrored(sources[1].face))])
    assert [one.name for one in kept] == ["a.jpg"]


def test_training_lowers_the_loss(sources):
    torch.manual_seed(0)
    pool = fit.make_pool(sources, 12, seed=0)
    batch = next(fit.batches(fit.examples(pool), 12, np.random.default_rng(0)))
    assert batch[0].shape == (24, face_cnn.N_MAPS, 20, 20)
    assert batch[3].shape == (24, 10, 10)
    assert batch[3][::2].max() == 0 and (batch[3][1::2].amax(dim=(1, 2)) > 0).all()
    assert batch[1].tolist() == [0, 1] * 12
    net = face_cnn.build(**fit.CONFIG)
    optimiser = torch.optim.AdamW(net.parameters(), lr=3e-3)
    losses = []
    for _ in range(3):
        loss = fit.loss_of(net, *batch)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0]


def test_train_gives_a_network_in_evaluation_mode_that_can_be_calibrated(sources):
    half = fit.examples(fit.make_pool(sources, 4, seed=2))
    given = fit.join([half, half])
    seen = []
    net = fit.train(given, epochs=2, batch=4, log=lambda step, loss: seen.append(loss))
    assert not net.training and len(seen) == 1 and np.isfinite(seen[0])
    outputs, fake = fit.outputs_of(net, given)
    assert outputs.shape == (16, 1 + len(TYPES)) and fake.tolist() == [0, 1] * 8
    assert np.isfinite(outputs).all()


def test_the_steps_from_folders_to_a_card(tmp_path, monkeypatch, capsys):
    from matplotlib.cbook import get_sample_data
    from PIL import Image
    from skimage.data import astronaut

    with get_sample_data("grace_hopper.jpg") as file:
        pictures = [Image.fromarray(astronaut()), Image.open(file).convert("RGB")]
    names = {}
    for source, (inner, label, _) in FOLDERS.items():
        folder = tmp_path / "repositories" / source.removesuffix("/fake") / inner
        folder.mkdir(parents=True, exist_ok=True)
        for i, picture in enumerate(pictures):
            prefix = "fake_" if label == "fake" else ""
            names[source, i] = f"{prefix}{i}.jpg"
            picture.save(folder / names[source, i])
    corpus = tmp_path / "faces"
    corpus.mkdir()
    # Number 1 of the portraits is a development row; there is no file to look alike.
    rows = "x.jpg,image,real,train,\n,video,real,dev,ffhq_rof_1\n"
    (corpus / "manifest.csv").write_text("path,kind,label,split,identity\n" + rows)
    kept = iter(range(100))
    monkeypatch.setattr(faces_card, "held_out", lambda identity: next(kept) % 2 == 0)
    found = faces_card.gather(corpus, tmp_path / "repositories")
    assert {(one.source, one.name) for one in found} == {
        (source, name) for (source, i), name in names.items() if (source, i) != (REAL, 1)
    }
    trained, held = faces_card.split(found)
    assert not {id(one) for one in trained} & {id(one) for one in held}
    assert len(trained) + len(held) == len(found)
    given = faces_train.learnable(found, 12, seed=1)
    net = fit.train(given, epochs=1, batch=6)
    measured = faces_card.measure(net, given, "command")
    assert {one.metric for one in measured} == {"AUC", "EER"} and "all" in capsys.readouterr().out
    card = faces_card.make_card(Calibration(slope=1.0, intercept=0.0), measured, trained, "command")
    assert card.output.labels == ("fake", *TYPES) and sum(one.n for one in card.trained_on) > len(trained)
    saved = save_model(card, net, tmp_path)
    assert (tmp_path / saved.weights).is_file() and len(saved.sha256) == 64
