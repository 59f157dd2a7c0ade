"""Training of the image models, on pictures that the test makes: files, labels, balance, and a rule that learns."""

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image

from forensix.generated.statistics import CHANNELS, NAMES
from forensix.metrics import auc
from forensix.training import images, images_data, images_fit
from forensix.training.images_data import Picture


def photo(seed: int, side: int = 192) -> np.ndarray:
    rng = np.random.default_rng(seed)
    coarse = rng.integers(30, 220, (12, 12, 3), dtype=np.uint8)
    smooth = np.asarray(Image.fromarray(coarse).resize((side, side), Image.Resampling.BICUBIC)).astype(float)
    grain = rng.normal(0, 8, (side, side, 1)) * (0.5 + smooth / 255)
    return np.clip(smooth + grain, 0, 255).astype(np.uint8)


def fake_photo(seed: int, side: int = 192) -> np.ndarray:
    rng = np.random.default_rng(seed)
    # A decoder computes three channels, each with a grain of its own.
    return np.clip(photo(seed, side) + rng.normal(0, 8, (side, side, 3)), 0, 255).astype(np.uint8)


@pytest.fixture(scope="module")
def pictures() -> list[Picture]:
    sources = ("google/dreambooth", "alexeygrigorev/clothing-dataset-small", "marcusklasson/GroceryStoreDataset")
    generators = ("dall-e-2", "flux-1-dev", "midjourney-2022", "latent-diffusion")
    real = [Picture((photo(i),), False, sources[i % 3], "camera", f"r{i}", "own") for i in range(18)]
    fake = [Picture((fake_photo(i),), True, "made/here", generators[i % 4], f"f{i}", "own") for i in range(80)]
    return real + fake


@pytest.fixture(scope="module")
def pool(pictures) -> images_fit.Pool:
    return images_fit.make_pool(pictures, 160, seed=0)


def test_crops_are_native_and_repeatable():
    view = photo(1, 150)
    for seed in range(20):
        cuts = [images_fit.crop(view, np.random.default_rng(seed)) for _ in range(2)]
        assert cuts[0].shape == (128, 128, 3) and np.array_equal(*cuts)
    assert images_fit.crop(photo(1, 101), np.random.default_rng(0)).shape == (100, 100, 3)


def test_pool_is_balanced_and_described(pool, pictures):
    assert pool.statistics.shape == (160, len(NAMES)) and np.isfinite(pool.statistics).all()
    assert 0.35 < pool.fake.mean() < 0.65
    assert all(pictures[i].fake == f for i, f in zip(pool.picture, pool.fake, strict=True))


def test_weights_give_classes_and_domains_the_same_sum():
    domains = np.array(["a"] * 300 + ["b"] * 100 + ["c"] * 80)
    fake = domains != "a"
    weights = images_fit.domain_weights(domains, fake)
    assert weights[fake].sum() == pytest.approx(weights[~fake].sum())
    assert weights[domains == "b"].sum() == pytest.approx(weights[domains == "c"].sum())


def loss(rule: torch.nn.Module, pool: images_fit.Pool) -> float:
    z, y = images_fit.logits(rule, pool.statistics), pool.fake
    weights = images_fit.domain_weights(pool.domain, y)
    return float((weights * (np.logaddexp(0, z) - y * z)).mean())


def test_a_longer_leash_lowers_the_loss(pool):
    losses = [loss(images_fit.fit_rule(pool, strength=strength), pool) for strength in (1e-6, 1e-4, 1e-2)]
    assert np.log(2) >= losses[0] > losses[1] > losses[2]


def test_the_rule_tells_shared_from_separate_grain(pool):
    held = images_fit.make_pool(
        [
            *(Picture((photo(i + 500),), False, "other", "camera", "a", "own") for i in range(10)),
            *(Picture((fake_photo(i + 500),), True, "other", "new", "b", "own") for i in range(10)),
        ],
        40,
        seed=1,
    )
    assert auc(held.fake, images_fit.logits(images_fit.fit_rule(pool), held.statistics)) > 0.9


def test_joined_members_are_averaged(pool):
    members = [images_fit.fit_rule(pool.take(np.arange(160) % 2 == i)) for i in (0, 1)]
    single = [images_fit.logits(member, pool.statistics) for member in members]
    assert images_fit.logits(images_fit.join(members), pool.statistics) == pytest.approx(
        np.mean(single, axis=0), abs=1e-5
    )


def test_members_do_not_see_what_is_held_out(pictures):
    fold = images.FOLDS[0]
    held = fold.holds(pictures)
    assert {p.source for p, h in zip(pictures, held, strict=True) if h and not p.fake} == {fold.source}
    assert {p.generator for p, h in zip(pictures, held, strict=True) if h and p.fake} == {"dall-e-2", "flux-1-dev"}


def test_from_pictures_to_weights_and_cards(pool, pictures, tmp_path):
    detector, calibration, held = images.fit_detector(pool, pictures, folds=images.FOLDS[:2])
    assert calibration.slope > 0 and set(held.fold) == {0, 1}
    card = images.detector_card(held, calibration, images.sources(pictures), seed=0, command="here")
    saved = images.save_model(card, detector, tmp_path)
    assert len(saved.sha256) == 64 and (tmp_path / saved.weights).is_file()
    assert sum(source.n for source in saved.trained_on) == len(pictures)
    assert {m.metric for m in saved.measured} >= {"AUC", "EER"}
    attribution, classifier = images.train_attribution(pool, pictures, trained_on=(), seed=0, command="here")
    assert set(attribution.output.labels) == {"dall-e-2", "flux", "latent-diffusion", "midjourney"}
    assert detector(torch.zeros(2, len(CHANNELS))).shape == (2,)
    assert classifier(torch.zeros(2, len(NAMES))).shape == (2, len(attribution.output.labels))


def test_files_are_labelled_by_place_and_other_splits_are_left_out(tmp_path):
    root, repositories = tmp_path / "corpora", tmp_path / "repositories"
    (root / "images").mkdir(parents=True)
    rows = [
        ("train/a.jpg", "real", "train", "camera", "google/dreambooth", "dataset/dog/00.jpg"),
        ("train/b.webp", "fake", "train", "gpt-4o-image", "jamez-bondos/awesome-gpt4o-images", "cases/1/x.png"),
        ("dev/c.webp", "fake", "dev", "gpt-4o-image", "jamez-bondos/awesome-gpt4o-images", "cases/2/y.png"),
    ]
    columns = ["path", "label", "split", "generator", "source_repo", "source_path"]
    pd.DataFrame(rows, columns=columns).assign(licence="own").to_csv(root / "images" / "manifest.csv", index=False)
    files = {
        "google+dreambooth": ("dataset/dog/00.jpg", "dataset/dog/01.jpg", "dataset/red_cartoon/00.jpg", "docs/x.jpg"),
        "jamez-bondos+awesome-gpt4o-images": ("cases/1/x.png", "cases/2/y.png", "case-template/y.png", "cases/3/z.png"),
    }
    for i, (checkout, paths) in enumerate(files.items()):
        for j, path in enumerate(paths):
            target = repositories / checkout / path
            target.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(photo(10 * i + j, 128)).save(target)
    copy = repositories / "jamez-bondos+awesome-gpt4o-images" / "cases" / "4" / "renamed.png"
    copy.parent.mkdir()
    copy.write_bytes((repositories / "jamez-bondos+awesome-gpt4o-images" / "cases" / "2" / "y.png").read_bytes())
    table = images_data.list_files(root, repositories)
    names = sorted(path.relative_to(repositories).as_posix().split("/", 1)[1] for path in table.path)
    assert names == ["cases/1/x.png", "cases/3/z.png", "dataset/dog/00.jpg", "dataset/dog/01.jpg"]
    assert table.set_index(table.path.map(lambda p: p.name)).fake.to_dict() == {
        "x.png": True, "z.png": True, "00.jpg": False, "01.jpg": False,
    }  # fmt: skip
    found = images_data.read_pictures(images_data.subsample(table, per_source=1))
    assert len(found) == 3 and all(p.views[0].dtype == np.uint8 for p in found)


def test_large_pictures_become_bounded_views():
    cut = images_data.views(photo(0, 1400), np.random.default_rng(0), n=3)
    assert len(cut) == 3
    assert all(max(view.shape) <= images_data.NATIVE_SIDE_PX for view in cut)
