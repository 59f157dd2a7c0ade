"""Training on one's own files: it learns what it is taught, and what it makes is taken at once."""

import contextlib
import hashlib
import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from PIL import Image

import forensix
from forensix import Manifest, small
from forensix.calibration import logit
from forensix.cli import main
from forensix.errors import InputError, ModelNotFound, UsageError
from forensix.evaluation.overlap import find_overlap
from forensix.folders import alone
from forensix.metrics import auc
from forensix.models import ModelCard, get_card, load_model
from forensix.models.architectures.ensemble import build
from forensix.models.store import save_model
from forensix.small.make import generated, photographed
from forensix.training.own import combine as combining
from forensix.training.own import material, run
from forensix.training.own.card import too_few, unmeasured
from forensix.training.own.combine import _card, _to_fit_on
from forensix.training.own.deal import Split, deal
from forensix.training.own.seen import MOST_MARKS, kept
from tests.models import zoo

TASK = "ai_generated_image_detection"


def turned() -> Manifest:
    """Return the small dataset with its labels the other way round: the shipped model knows nothing of these."""
    table = Manifest.read(small.folder("images")).table
    return Manifest(table.assign(label=table["label"].map({"real": "fake", "fake": "real"})), small.folder("images"))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ModelCard]:
    folder = tmp_path_factory.mktemp("own") / "turned"
    return folder, forensix.train(turned(), TASK, folder, steps=150)


@pytest.fixture(scope="module")
def new(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Path], list[int]]:
    """Return new pictures of the same makers, and their labels as `turned` has them."""
    folder, labels = tmp_path_factory.mktemp("new"), [i % 2 for i in range(10)]
    for i, label in enumerate(labels):
        rgb = (generated, photographed)[label](np.random.default_rng(1000 + i))
        Image.fromarray((255 * rgb).round().astype(np.uint8)).save(folder / f"{i}.jpg", quality=88)
    return [folder / f"{i}.jpg" for i in range(10)], labels


@pytest.mark.slow
def test_files_may_lie_in_another_folder_than_their_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = small.folder("images")
    table, listed = Manifest.read(folder).table, tmp_path / "list.csv"
    table.assign(path=[os.path.join(folder, path) for path in table["path"]]).to_csv(listed, index=False)
    (tmp_path / "mine" / "work").mkdir(parents=True)
    command = ["train", str(listed), "--task", TASK, "--output", str(tmp_path / "mine"), "--steps", "2"]
    with pytest.raises(SystemExit, match="2"):
        main(command)
    assert "--root" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="0"):
        main([*command, "--root", str(folder)])
    card = get_card(tmp_path / "mine")
    assert card.component == "image_detector"
    said = f"forensix train PATH/list.csv --task {TASK} --output PATH/mine --steps 2 --root PATH/{folder.name}"
    assert card.command == said and str(tmp_path) not in card.model_dump_json()
    assert (tmp_path / "mine" / "work").is_dir(), "a folder of the user's own"


@pytest.mark.slow
def test_it_learns_from_four_files_what_the_shipped_model_has_the_other_way_round(
    trained: tuple[Path, ModelCard], new: tuple[list[Path], list[int]]
) -> None:
    files, labels = new
    assert auc(labels, forensix.load_detector("forensix-image").score(files)) < 0.2
    assert auc(labels, forensix.load_detector(trained[0]).score(files)) > 0.9


@pytest.mark.slow
def test_an_ensemble_is_a_folder_that_holds_its_own_members(
    trained: tuple[Path, ModelCard], new: tuple[list[Path], list[int]], tmp_path: Path
) -> None:
    files, labels = (one[:4] for one in new)
    folder = tmp_path / "both"
    members = ["forensix-image", trained[0]]
    card = forensix.combine(members, turned(), TASK, folder, rule="linear", degradations=[])
    assert [one["kept"] for one in card.config["members"]] == [False, True]
    assert (folder / "members" / "turned" / "turned.safetensors").is_file()
    moved = folder.rename(tmp_path / "moved")
    ensemble = forensix.load_detector(moved)
    scores = ensemble.score(files)
    assert auc(labels, scores) == 1
    each = np.stack([logit(forensix.load_detector(one).scores(files)) for one in members], axis=1)
    assert set(trained[1].learnt_files) < set(card.learnt_files), "and what the rule was fitted on"
    weights = ensemble.network.module.weight.detach().numpy()
    combined = each @ weights + ensemble.network.module.bias.item()
    assert np.allclose(scores, ensemble.card.calibration.score(combined))
    assert weights[0] < weights[1], "the one that has it the other way round counts for less"
    report = forensix.analyze(files[0], [TASK], image_detector=str(moved))
    assert report.scores[TASK] == pytest.approx(scores[0]) and "both" in {one["name"] for one in report.models}
    with pytest.raises(UsageError, match="both combines others: train one of these"):
        forensix.train(turned(), TASK, tmp_path / "own", base=moved)
    (moved / "members" / "turned" / "turned.json").unlink()
    with pytest.raises(ModelNotFound, match="holds 0 cards"):
        forensix.load_detector(moved)


@pytest.mark.parametrize(
    ("change", "options"),
    [
        (lambda table: table, {"seed": 1}),
        (lambda table: table.assign(note="a"), {"seed": 1, "group": "path"}),
        (lambda table: table[::-1], {"seed": 1}),
        (lambda table: table[table["group_id"] != table["group_id"].iloc[0]], {"group": "path"}),
        (lambda table: table.assign(label=table["label"].map({"real": "fake", "fake": "real"})), {"seed": 1}),
    ],
)
def test_nothing_is_measured_on_files_that_a_model_was_trained_on(
    trained: tuple[Path, ModelCard], tmp_path: Path, change: Callable[[pd.DataFrame], pd.DataFrame], options: Any
) -> None:
    manifest = Manifest(change(turned().table), small.folder("images"))
    sentence = r"turned was trained on \d of the \d files to measure on, \S+\.\w+ among them: leave them out"
    with pytest.raises(UsageError, match=sentence):
        forensix.combine(["forensix-image", trained[0]], manifest, TASK, tmp_path / "out", **options)
    with pytest.raises(UsageError, match=sentence):
        forensix.train(manifest, TASK, tmp_path / "out", base=trained[0], **options)
    assert not (tmp_path / "out").exists()


def test_an_ensemble_says_what_its_members_were_trained_on_and_before_that() -> None:
    shipped, files = get_card("forensix-image"), deal(turned(), None, 0)
    own = shipped.model_copy(
        update={
            "name": "own",
            "trained_on": (shipped.trained_on[0].model_copy(update={"source": "mine"}),),
            "trained_on_before": shipped.trained_on,
            "learnt_files": ("a", "c"),
            "stopping_files": ("b",),
        }
    )
    other = own.model_copy(update={"name": "other", "learnt_files": ("d",)})

    def card_of(*cards: ModelCard) -> ModelCard:
        return _card("both", "image_detector", cards, [True, True], "mean", build(cards), files, ["e"], "", 0, "")

    card = card_of(own, other)
    assert card.trained_on == own.trained_on and card.trained_on_before == shipped.trained_on
    assert card.learnt_files == ("a", "c", "d", "e") and card.stopping_files == ("b",)
    card = card_of(shipped, own)
    assert card.trained_on == (*shipped.trained_on, *own.trained_on) and card.trained_on_before == ()


def test_a_rule_is_fitted_on_files_that_no_member_learnt_from(trained: tuple[Path, ModelCard]) -> None:
    shuffled = deal(Manifest(turned().table.assign(note="a")[::-1], small.folder("images")), None, 0)
    assert _to_fit_on([trained[1]], shuffled).paths() == shuffled.stopping.paths()
    unknown = trained[1].model_copy(update={"learnt_files": ()})
    assert len(_to_fit_on([unknown], shuffled)) == len(shuffled.learnt) + len(shuffled.stopping)
    other = Split(shuffled.stopping, shuffled.learnt, shuffled.held_out, shuffled.group)
    with pytest.raises(UsageError, match="turned was trained on 4 of the 6 files to fit the rule on"):
        _to_fit_on([trained[1]], other)


def test_a_card_that_does_not_tell_its_files_is_loaded_and_not_combined_on_its_own_manifest(
    trained: tuple[Path, ModelCard], tmp_path: Path
) -> None:
    old = tmp_path / "turned"
    shutil.copytree(trained[0], old)
    told = json.loads((old / "turned.json").read_text())
    assert len(told.pop("learnt_files")) == 4 and len(told.pop("stopping_files")) == 2
    (old / "turned.json").write_text(json.dumps(told))
    assert get_card(old).learnt_files == ()
    with pytest.raises(UsageError, match="whose cards do not tell from which files: train it again"):
        forensix.combine(["forensix-image", old], turned(), TASK, tmp_path / "out")


def test_a_card_keeps_marks_by_which_a_large_collection_is_known() -> None:
    files = [hashlib.sha256(str(i).encode()).hexdigest()[:16] for i in range(5000)]
    assert kept(files[:300]) == tuple(sorted(files[:300]))
    assert len(kept(files)) == MOST_MARKS
    assert kept(files[:4000], kept(files)) == kept(files)
    assert len(set(kept(files)) & set(files[:500])) > 50


@pytest.mark.parametrize(
    ("members", "options", "sentence"),
    [
        (["forensix-image"], {}, "two or more different members, not forensix-image"),
        ("forensix-image", {}, r"two or more members: write \['forensix-image', \.\.\.\]"),
        (["forensix-image"] * 2, {}, "two or more different members"),
        (["forensix-image", "forensix-spoof"], {}, "forensix-spoof is a spoof, not an image_detector"),
        (["forensix-image", "forensix-spoof"], {"rule": "vote"}, "rule is one of mean, linear, not 'vote'"),
        (["forensix-image", "nowhere"], {"seed": -3}, "seed must be a whole number from 0 up, not -3"),
        (["forensix-image", "nowhere"], {"degradations": ["jpeg=much"]}, "NAME=STRENGTH"),
    ],
)
def test_what_is_no_ensemble_is_refused(
    tmp_path: Path, members: list[str], options: dict[str, object], sentence: str
) -> None:
    with pytest.raises(UsageError, match=sentence):
        forensix.combine(members, small.folder("images"), TASK, tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_what_was_fitted_on_scores_of_the_base_is_not_carried_over() -> None:
    fitted = ("calibration", "inconclusive", "inconclusive_video", "detail_gap")
    base, files = get_card("forensix-face"), Manifest.read(small.folder("images"))
    assert all(getattr(base, name) is not None for name in fitted)
    learnt = material.Material((), np.zeros(0, dtype=bool), np.zeros(0, dtype=str), {})
    split = Split(files, files, files, "path")
    card = unmeasured(base, "own", split, learnt, learnt, "", "", seed=0)
    assert all(getattr(card, name) is None for name in fitted)
    assert not card.measured
    assert card.trained_on_before == base.trained_on and sum(one.n for one in card.trained_on) == len(files)
    again = unmeasured(card, "next", split, learnt, learnt, "", "", seed=0)
    assert again.trained_on_before == (*base.trained_on, *card.trained_on)
    listed = files.table.assign(source=[base.trained_on[0].source, *["elsewhere"] * (len(files) - 1)])
    assert find_overlap(listed, {"next": again})["trained_on"].tolist() == [base.trained_on[0].source]
    assert card.limits.startswith("Its bounds and figures rest on 4 real and 4 fake files held out")
    assert f"whose card says of itself, forensix-face: {base.limits}" in card.limits, "and not of the new one"


@pytest.mark.parametrize(
    ("n", "group", "sentence"),
    [
        (6, "source", "Its bounds and figures rest on 3 real and 3 fake groups held out: with fewer than 20"),
        (30, "path", "Its bounds and figures rest on 15 real and 15 fake files held out"),
        (40, "source", ""),
    ],
)
def test_a_card_says_where_few_groups_set_its_bounds(n: int, group: str, sentence: str) -> None:
    rows = [{"path": f"{i}.jpg", "label": ("real", "fake")[i % 2], "source": f"s{i}"} for i in range(n)]
    files = Manifest(pd.DataFrame(rows), "")
    said = too_few(Split(files, files, files, group))
    assert said.startswith(sentence) and bool(said) == bool(sentence)


def test_the_card_says_what_it_was_made_of_and_how_it_was_measured(trained: tuple[Path, ModelCard]) -> None:
    folder, card = trained
    assert sorted(path.name for path in folder.iterdir()) == ["turned.json", "turned.safetensors"]
    provenance = json.loads((folder / "turned.json").read_text())
    assert provenance["manifest_sha256"] and provenance["version"] == forensix.__version__ and provenance["seed"] == 0
    options = "--name turned --base forensix-image --group group_id --device cpu --seed 0 --steps 150"
    assert card.command == f"forensix train MANIFEST --task {TASK} --output PATH/turned {options}"
    assert sum(one.n for one in card.trained_on) == 4 and {one.label for one in card.trained_on} == {"real", "fake"}
    assert card.calibration is not None and card.inconclusive is not None
    assert card.inconclusive[0] <= card.threshold <= card.inconclusive[1]
    assert card.inconclusive_video == (0.0, 1.0) and "No video was held out" in card.limits, "all are pictures"
    assert card.inconclusive == (0.0, 1.0) and card.limits.startswith("It calls nothing real or fake"), "of one of each"
    conditions = {one.data.rsplit(", ")[-1] for one in card.measured}
    assert conditions == {"as it is", "jpeg 70", "resize 0.5"}
    assert all(one.n_real and one.n_fake for one in card.measured)
    assert str(folder) not in (folder / "turned.json").read_text()


def test_analyze_and_evaluate_take_the_folder(
    trained: tuple[Path, ModelCard], capsys: pytest.CaptureFixture[str]
) -> None:
    folder, card = trained
    picture = small.folder("images") / "photographed-0.jpg"
    with pytest.raises(SystemExit) as ended:
        main(["analyze", str(picture), "--task", TASK, "--component", f"image_detector={folder}"])
    assert ended.value.code == 0 and "photographed-0.jpg" in capsys.readouterr().out
    report = forensix.analyze(picture, [TASK], image_detector=str(folder))
    model = next(one for one in report.models if one["name"] == "turned")
    assert model["sha256"] == card.sha256 and model["threshold"] == card.threshold
    evaluation = forensix.evaluate(turned(), TASK, component=str(folder), cache=False, metadata=False, executor="here")
    assert auc(evaluation.scores["label"] == "fake", evaluation.scores["score"]) > 0.9
    assert evaluation.thresholds == {"turned": card.threshold}


def test_two_trainings_do_not_write_to_one_folder_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own").mkdir()
    monkeypatch.setattr(run, "gather", pytest.fail)
    with alone(tmp_path / "own"), pytest.raises(UsageError, match="another run writes to"):
        forensix.train(turned(), TASK, tmp_path / "own")


def test_a_folder_that_holds_a_model_is_not_written_over(trained: tuple[Path, ModelCard]) -> None:
    before = {path: path.read_bytes() for path in trained[0].iterdir()}
    with pytest.raises(UsageError, match="holds the model turned already"):
        forensix.train(turned(), TASK, trained[0])
    assert {path: path.read_bytes() for path in trained[0].iterdir()} == before


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"device": "abacus"}, "no device 'abacus'"),
        ({"device": "cuda:99"}, "this machine has no device 'cuda:99'"),
        ({"task": "forensic_analysis"}, "no network to train; tasks that have: face_manipulation"),
        ({"task": "telepathy"}, "no task named 'telepathy'"),
        ({"base": "forensix-spoof"}, "forensix-spoof is a spoof, and .* needs an image_detector"),
        ({"name": "forensix-image"}, "a model named forensix-image already"),
        ({"batch_size": 3}, "batch_size must be a whole number from 2 up, an even one, not 3"),
        ({"steps": 0}, "steps must be a whole number from 1 up, not 0"),
        ({"seed": -3}, "seed must be a whole number from 0 up, not -3"),
        ({"rate": 7}, "rate must lie between 0 and 1"),
        ({"group": "family"}, "are of 1 group of"),
        ({"degradations": ["jpg"]}, "jpg"),
        ({"degradations": ["mp3"]}, "no .*'mp3'"),
        ({"degradations": ["jpeg=much"]}, "written NAME=STRENGTH, for example jpeg=70, not 'jpeg=much'"),
        ({"degradations": "jpeg"}, r"write degradations=\['jpeg'\]"),
        ({"batch_size": 0}, "batch_size must be a whole number from 2 up, an even one, not 0"),
        ({"steps": "many"}, "steps must be a whole number from 1 up, not many"),
        ({"manifest": "nowhere.csv"}, "no manifest at nowhere.csv"),
    ],
)
def test_a_wrong_call_is_refused_before_anything_is_done(
    tmp_path: Path, options: dict[str, object], sentence: str
) -> None:
    given = {"manifest": small.folder("images"), "task": TASK, "output": tmp_path / "out"} | options
    with pytest.raises(UsageError, match=sentence):
        forensix.train(**given)
    assert not (tmp_path / "out").exists()


def test_a_published_network_is_a_base_and_its_file_holds_all_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "base").mkdir()
    started, network = get_card("univfd"), zoo.network("univfd")
    changes = {"name": "base", "weights": "base.safetensors", "config": started.config | zoo.SMALL["univfd"]}
    save_model(started.model_copy(update=changes | {"base": None}), network, tmp_path / "base")
    monkeypatch.setattr(run, "measured_on", lambda card, *_: card)
    said: list[str] = []
    fast = {"steps": 3, "batch_size": 4, "rate": 0.9, "progress": lambda _, words, done: said.append(words)}
    card = forensix.train(small.folder("images"), TASK, tmp_path / "own", base=tmp_path / "base", **fast)
    learnt = said[said.index("learning") :]
    assert [words.partition(",")[0] for words in learnt][:4] == ["learning", "step 1", "step 2", "step 3"]
    assert (card.url, card.base, card.parity, card.published) == (None,) * 4 and card.output == started.output
    before, after = network.state_dict(), load_model(tmp_path / "own").module.state_dict()
    changed = {key for key in before if not torch.allclose(before[key], after[key], rtol=1e-2, atol=1e-3)}
    assert changed <= {"fc.weight", "fc.bias"} and changed, "the last layer alone learns"
    assert 0 < forensix.load_detector(tmp_path / "own").score(zoo.picture()) < 1


def test_a_class_whose_files_are_all_broken_is_told_with_the_first_reason(tmp_path: Path) -> None:
    for i in range(4):
        for label in ("real", "fake"):
            (tmp_path / "data" / label).mkdir(parents=True, exist_ok=True)
            path = tmp_path / "data" / label / f"{i}.jpg"
            if label == "real":
                Image.fromarray(np.random.default_rng(i).integers(0, 255, (80, 80, 3), np.uint8)).save(path)
            else:
                path.write_bytes(b"no picture %d" % i)
    told = r"^of \d fake files? to learn from none can be used; the first of them: .*fake/\d.jpg is text"
    with pytest.raises(UsageError, match=told):
        forensix.train(tmp_path / "data", TASK, tmp_path / "out")


def test_the_same_files_in_another_folder_give_the_same_weights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "measured_on", lambda card, *_: card)
    weights = []
    for name in ("here", "there"):
        shutil.copytree(small.folder("images"), tmp_path / name, copy_function=shutil.copyfile)  # with times of its own
        forensix.train(tmp_path / name, TASK, tmp_path / name / "own", steps=2, batch_size=2)
        weights.append(load_model(tmp_path / name / "own").module.state_dict())
    assert all(torch.equal(one, weights[1][key]) for key, one in weights[0].items())


def test_a_training_does_not_go_on_with_files_that_were_changed_meanwhile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def measured(card: ModelCard, *_: object) -> ModelCard:
        raise UsageError("ended here")

    monkeypatch.setattr(run, "measured_on", measured)
    shutil.copytree(small.folder("images"), tmp_path / "data")

    def ends_with(sentence: str) -> None:
        with pytest.raises(UsageError, match=sentence):
            forensix.train(tmp_path / "data", TASK, tmp_path / "own", steps=2, batch_size=2)

    ends_with("ended here")
    ends_with("ended here")  # it goes on, and there is nothing left to learn
    learnt = deal(Manifest.read(tmp_path / "data"), None, 0).learnt.paths()[0]
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (300, 300, 3), np.uint8)).save(learnt)
    ends_with("holds an unfinished training with other data or settings")


def test_it_is_told_that_the_model_it_is_made_of_knows_the_sources_of_files_held_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for module in (run, combining):
        monkeypatch.setattr(module, "measured_on", lambda card, *_: card)
    manifest = Manifest.read(small.folder("images"))
    known = get_card("forensix-image").trained_on[0].source
    listed = Manifest(manifest.table.assign(source=known), manifest.root)
    n = len(deal(listed, "group_id", 0).held_out)
    sentence = f"forensix-image was trained on the sources of {n} of the {n} files held out ({known}): bounds and"
    card = forensix.train(listed, TASK, tmp_path / "own", steps=1, batch_size=2)
    assert card.limits.startswith(sentence) and sentence in caplog.text
    caplog.clear()
    card = forensix.combine(["forensix-image", tmp_path / "own"], listed, TASK, tmp_path / "both")
    for name in ("forensix-image", "own"):
        said = sentence.replace("forensix-image was", f"{name} was")
        assert said in card.limits and said in caplog.text, "the second began as the first"
    caplog.clear()
    assert "the sources of" not in forensix.train(manifest, TASK, tmp_path / "other", steps=1, batch_size=2).limits
    assert "the sources of" not in caplog.text


def test_a_training_that_makes_it_worse_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(run, "measured_on", lambda card, *_: card)
    no_better = "On the groups that stop the training it got no better than forensix-image was before (a loss of"
    card = forensix.train(small.folder("images"), TASK, tmp_path / "fast", steps=2, rate=0.9, batch_size=8)
    assert card.limits.startswith(no_better) and no_better in caplog.text
    caplog.clear()
    card = forensix.train(small.folder("images"), TASK, tmp_path / "slow", steps=8, batch_size=8)
    assert no_better not in card.limits and no_better not in caplog.text


def test_the_command_of_a_card_makes_the_model_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for module in (run, combining):
        monkeypatch.setattr(module, "measured_on", lambda card, *_: card)
    monkeypatch.chdir(tmp_path)
    manifest = Manifest.read(small.folder("images"))
    words = manifest.table["label"].map({"real": "0", "fake": "it's made"})
    manifest.table.assign(label=words).to_csv("list.csv", index=False)
    shutil.copytree(manifest.root, "pictures")
    labels = ["--root", "pictures", "--label", "0=real", "--label", "it's made=fake"]
    train = ["forensix", "train", "list.csv", "--task", TASK, "--steps", "1", *labels, "--output"]
    combine = ["forensix", "combine", "forensix-image", "./second", "--manifest", "list.csv", "--task", TASK, *labels]
    for command in ([*train, "first"], [*train, "second", "--base", "./first"], [*combine, "--output=both"]):
        with pytest.raises(SystemExit, match="0"):
            main(command[1:])
    assert shlex.split(get_card(Path("second")).command) == [*train, "second", "--base", "./first"]
    assert shlex.split(get_card(Path("both")).command) == [*combine, "--output=both"]
    again = shlex.split(get_card(Path("first")).command)
    shutil.move("first", "before")
    with pytest.raises(SystemExit, match="0"):
        main(again[1:])
    assert get_card(Path("first")) == get_card(Path("before"))


@pytest.mark.parametrize("n", [2, 6])
def test_files_that_cannot_be_used_are_named_and_many_are_told_on_the_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, n: int
) -> None:
    def measured(card: ModelCard, _: object, logit: Callable[..., float], held_out: Manifest, *__: object) -> ModelCard:
        for path in held_out.paths():
            with contextlib.suppress(InputError):
                logit(forensix.load_detector("forensix-image"), path)
        return card

    for module in (run, combining):
        monkeypatch.setattr(module, "measured_on", measured)
    shutil.copytree(small.folder("images"), tmp_path / "data")
    table = Manifest.read(tmp_path / "data").table[["path", "label"]]
    table["split"] = ["train"] * 4 + ["dev"] * 4
    for part in ("train", "dev"):
        for i in range(2 * n if part == "dev" else n):
            table.loc[len(table)] = [f"{part}-{i}.jpg", "real", part]
            (tmp_path / "data" / f"{part}-{i}.jpg").write_text(f"no picture {part} {i}")
    listed = Manifest(table, tmp_path / "data")
    split = deal(listed, "path", 0)
    card = forensix.train(listed, TASK, tmp_path / "own", group="path", steps=1, batch_size=2)
    assert sum(one.n for one in card.trained_on) == 4, "what could not be read was not learnt from"
    ensemble = forensix.combine(
        ["forensix-image", tmp_path / "own"], listed, TASK, tmp_path / "both", group="path", rule="linear"
    )
    parts = (
        (card, split.learnt, "to learn from"),
        (card, split.stopping, "to stop by"),
        (card, split.held_out, "held out"),
        (ensemble, split.stopping, "to fit the rule on"),
        (ensemble, split.held_out, "held out"),
    )
    for said_on, part, use in parts:
        bad = [path for path in part.table["path"] if path.startswith(("train-", "dev-"))]
        said = f"{len(bad)} of the {len(part)} files {use} could not be used"
        named = f"{said}: {', '.join(bad[:3])}{', ...' if len(bad) > 3 else ''}. The first: "
        reason = caplog.text.partition(named)[2].split()[0]
        assert reason.endswith(bad[0]), "not another of the same content"
        assert (f"{said}. " in said_on.limits) == (len(bad) > 3)


def test_a_full_disk_ends_it_and_what_was_read_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written = 0
    whole = np.savez

    def full(file: object, *arrays: np.ndarray) -> None:
        nonlocal written
        written += 1
        if written == 3:
            raise OSError(28, "No space left on device")
        whole(file, *arrays)

    monkeypatch.setattr(material.np, "savez", full)
    with pytest.raises(OSError, match="No space left"):
        forensix.train(small.folder("images"), TASK, tmp_path / "out", steps=1)
    left = [path.suffix for path in (tmp_path / "out" / run.WORK).iterdir()]
    assert left == [".npz", ".npz"]


@pytest.mark.slow
def test_a_command_that_is_killed_goes_on_and_ends_with_the_same_weights(tmp_path: Path) -> None:
    manifest = small.folder("images") / "manifest.csv"

    def command(name: str) -> list[str]:
        options = ["--task", TASK, "--output", str(tmp_path / name / "own"), "--steps", "50", "--rate", "0.003"]
        return [sys.executable, "-m", "forensix", "train", str(manifest), *options]

    quiet = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": os.environ | {"OMP_NUM_THREADS": "1"}}
    killed = subprocess.Popen(command("killed"), **quiet)
    checkpoint = tmp_path / "killed" / "own" / run.WORK / "checkpoint.pt"
    ends = time.monotonic() + 200
    while not checkpoint.exists() and killed.poll() is None and time.monotonic() < ends:
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    assert killed.returncode == -signal.SIGKILL and checkpoint.exists()
    said = [subprocess.run(command(name), check=True, text=True, **quiet).stdout for name in ("killed", "whole")]
    weights = [(tmp_path / name / "own" / "own.safetensors").read_bytes() for name in ("killed", "whole")]
    assert weights[0] == weights[1] and said[0].replace("/killed/", "/whole/") == said[1]
    assert "AUC" in said[0] and "--component image_detector=" in said[0]
