"""What each network is fed while it learns: both classes as often, alike degraded, and its logits can be learnt by."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image
from skimage import data

from forensix import Manifest, small
from forensix.errors import BrokenMedia, UnsupportedMedia, UsageError
from forensix.models import LoadedModel, Output, get_card, load_detector, load_model
from forensix.models.detector import read_out
from forensix.report.words import plural
from forensix.training.own import material as kept
from forensix.training.own.faces import Faces
from forensix.training.own.material import Material
from forensix.training.own.recipe import Recipe
from forensix.training.own.run import recipe_of
from forensix.training.own.voices import Voices
from forensix.training.voice.clips import as_int16
from tests.models import zoo

VOICES = small.folder("voices")


def stored(recipe: Recipe, paths: list[Path], folder: Path) -> Material:
    files = []
    for n, path in enumerate(paths):
        np.savez(folder / f"{n}.npz", *recipe.read(path, np.random.default_rng(n)))
        files.append(folder / f"{n}.npz")
    fake = np.arange(len(files)) % 2 == 1
    return Material(tuple(files), fake, np.array([f"g{n}" for n in range(len(files))]), {})


def check(recipe: Recipe, material: Material, shape: tuple[int, ...]) -> None:
    inputs, outputs, labels = recipe.draw(material, 4, np.random.default_rng(0))
    again = recipe.draw(material, 4, np.random.default_rng(0))[0]
    assert tuple(inputs.shape)[: len(shape)] == shape and labels.tolist() == [0, 0, 1, 1]
    assert torch.equal(inputs, again), "the generator alone decides"
    logits = recipe.logits(recipe.module.train(), inputs, outputs)
    torch.nn.functional.binary_cross_entropy_with_logits(logits, labels).backward()
    assert logits.shape == (4,)
    assert sum(float(one.grad.abs().sum()) for one in recipe.tuned(all_layers=True) if one.grad is not None) > 0


def test_voices(tmp_path: Path) -> None:
    recipe = Voices(load_model("forensix-spoof"))
    paths = [VOICES / "recorded-0.wav", VOICES / "synthetic-0.wav"]
    check(recipe, stored(recipe, paths, tmp_path), (4,))
    detector = load_detector("forensix-spoof")
    assert np.isfinite(recipe.logit(detector, paths[0]))
    with pytest.raises(UnsupportedMedia, match="has no sound"):
        recipe.read(small.folder("images") / "generated-0.jpg", np.random.default_rng(0))


def test_files_that_were_decoded_for_another_model_are_decoded_anew(tmp_path: Path) -> None:
    own = load_model("forensix-spoof")
    manifest, loud = Manifest(pd.DataFrame({"path": ["a", "b"], "label": ["real", "fake"]}), tmp_path), []
    for path in manifest.paths():
        path.touch()
    for level in (True, False):
        plan = own.card.preprocessing | {"level": level}
        recipe = Voices(LoadedModel(own.card.model_copy(update={"preprocessing": plan}), own.module))
        read = (np.full(4, level),)
        files = kept.gather(
            manifest, "to learn from", ["a", "b"], lambda *_, read=read: read, tmp_path, recipe.form, lambda _: None
        )
        loud.append(bool(files.arrays(0)[0][0]))
    assert loud == [True, False]


def test_faces(tmp_path: Path) -> None:
    paths = [tmp_path / "a.png", tmp_path / "b.png"]
    for path in paths:
        Image.fromarray(data.astronaut()).save(path)
    recipe = Faces(load_model("forensix-face"))
    assert "windows" not in recipe.card.preprocessing, "it learns from crops alone, and judges by them"
    check(recipe, stored(recipe, paths, tmp_path), (4, 3, 224, 224))
    detector = load_detector("forensix-face")
    assert recipe.logit(detector, paths[0]) == pytest.approx(recipe.logit(detector, paths[1]))
    with pytest.raises(UnsupportedMedia, match="shows no face"):
        recipe.read(small.folder("images") / "generated-0.jpg", np.random.default_rng(0))


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted({get_card(name).architecture: name for name in zoo.SMALL}.values()))
def test_a_published_network_learns_from_what_it_is_fed(name: str, tmp_path: Path) -> None:
    card = get_card(name)
    if card.component == "spoof" and card.architecture != "aasist":
        pytest.importorskip("transformers")
    kept_of = {"image_detector": zoo.picture(300, 340), "face_classifier": zoo.crop(), "spoof": zoo.sound(90_000)}
    array = kept_of[card.component]
    recipe = recipe_of(LoadedModel(card, zoo.network(name)))
    for n in range(2):
        np.savez(tmp_path / f"{n}.npz", as_int16(array) if array.dtype == np.float32 else array)
    files = tuple(tmp_path / f"{n}.npz" for n in range(2))
    check(recipe, Material(files, np.array([False, True]), np.array(["a", "b"]), ()), (4,))
    last = recipe.tuned(all_layers=False)
    assert all(float(one.grad.abs().sum()) > 0 for one in last)
    assert 0 < sum(one.numel() for one in last) < sum(one.numel() for one in recipe.tuned(all_layers=True))


def test_what_a_network_learns_higher_is_fake_whichever_way_its_outputs_point() -> None:
    values = torch.tensor([[1.0, 4.0], [2.0, 0.5]])
    for fake, real, logits in (
        (0, 1, [-3.0, 1.5]),
        (1, 0, [3.0, -1.5]),
        (None, 1, [-4.0, -0.5]),
        (0, None, [1.0, 2.0]),
    ):
        assert read_out(values, Output(labels=("a", "b"), fake=fake, real=real)).tolist() == logits


def test_a_group_counts_as_the_root_of_its_files() -> None:
    groups = np.array(["a"] * 4 + ["b"] + ["c"])
    weights = Material((), np.array([False] * 5 + [True]), groups, ()).weights
    assert weights[:4].sum() == pytest.approx(2 * weights[4]) and weights[:5].sum() == pytest.approx(1)
    assert weights[5] == 1


@pytest.mark.parametrize(("label", "name"), [("real", "r1"), ("fake", "f")])
def test_a_class_that_is_left_without_files_is_told_with_what_is_wrong_with_its_own(
    label: str, name: str, tmp_path: Path
) -> None:
    rows = {"path": ["r1", "f", "r2"], "label": ["real", "fake", "real"]}
    manifest = Manifest(pd.DataFrame(rows), tmp_path)
    for path in manifest.paths():
        path.touch()
    usable = {"real": ["f"], "fake": ["r2"]}[label]

    def read(path: Path, rng: np.random.Generator) -> kept.Arrays:
        if path.name not in usable:
            raise BrokenMedia(f"{path.name} is broken")
        return (np.zeros(2),)

    said = f"{plural(2 if label == 'real' else 1, f'{label} file')} to learn from none can be used"
    with pytest.raises(UsageError, match=f"^of {said}; the first of them: {name} is broken$"):
        kept.gather(manifest, "to learn from", list("abc"), read, tmp_path / "kept", "form", lambda _: None)
