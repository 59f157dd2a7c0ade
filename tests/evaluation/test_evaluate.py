"""evaluate: every file gets its row, its score or its reason, wherever and however often it is run."""

import hashlib
import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

import forensix
from forensix import Evaluation, Manifest, analyze, evaluate
from forensix.errors import ModelNotFound, UsageError
from forensix.evaluation.collation import collate
from forensix.models import ModelCard, get_card
from forensix.perturb import degrade_file
from tests.evaluation.detectors import DEADLY, Deadly, Grey, Odd, pictures, plain
from tests.making import tone, write_audio, write_image, write_video

TASK = "quick"
REAL = "ai_generated_image_detection"


def test_a_row_for_each_file_component_and_condition_in_the_order_of_the_manifest(few: Manifest) -> None:
    steps: list[tuple[str, str, float]] = []
    evaluation = evaluate(
        few,
        TASK,
        component={"light": Grey(), "again": Grey()},
        degradations={"jpeg": [30, 90], "blur": [2]},
        cache=False,
        progress=lambda *step: steps.append(step),
    )
    table = evaluation.scores
    assert list(table.columns) == [
        *("path", "label", "group_id", "source", "generator"),
        *("sha256", "task", "component", "degradation", "strength", "level"),
        *("score", "class_name", "inconclusive", "error", "seconds"),
    ]
    assert len(table) == 8 * 2 * 4
    assert table["path"].drop_duplicates().tolist() == few.table["path"].tolist()
    item = table[table["path"] == "003.png"]
    assert item["component"].tolist() == ["light"] * 4 + ["again"] * 4
    assert item["degradation"].tolist() == ["none", "jpeg", "jpeg", "blur"] * 2
    assert item["strength"].fillna(-1).tolist() == [-1, 30, 90, 2] * 2
    assert set(item["generator"]) == {"maker 3"} and set(item["level"]) == {"file"}
    image = np.asarray(Image.open(few.paths()[3]))
    assert item["score"].iloc[0] == pytest.approx(image.mean() / 255)
    assert item["class_name"].iloc[0] == ("fake" if image.mean() >= 127.5 else "real")
    assert item["score"].nunique() == 4, "each condition is another picture"
    assert steps[-1] == (TASK, "8 of 8 files", 1.0)
    shares = [done for _, _, done in steps]
    assert shares == sorted(shares)


def test_worker_processes_give_the_same_table_also_when_one_dies(tmp_path: Path) -> None:
    listed = pictures(tmp_path, 12, first={5: DEADLY})
    here = evaluate(listed, TASK, component=Grey(), degradations={"noise": [4]}, cache=False, executor="here")
    dying = Deadly(mark=str(tmp_path / "mark"))
    there = evaluate(listed, TASK, component={"Grey": dying}, degradations={"noise": [4]}, cache=False, executor=2)
    assert (tmp_path / "mark").exists()
    pd.testing.assert_frame_equal(plain(there.scores), plain(here.scores))


def test_a_file_that_ends_its_workers_is_a_failure_and_the_others_are_not(tmp_path: Path) -> None:
    listed = pictures(tmp_path, 6, first={2: DEADLY})
    evaluation = evaluate(listed, TASK, component=Deadly(), cache=False, executor=2)
    assert evaluation.failures["path"].tolist() == ["002.png"]
    assert "2 worker processes that were at it were killed" in evaluation.failures["error"].iloc[0]
    assert evaluation.scores["score"].notna().sum() == 5


def test_failures_are_counted_and_listed_and_get_no_score(tmp_path: Path) -> None:
    listed = pictures(tmp_path, 10, first={1: (1, 0, 0), 2: (2, 0, 0), 3: (3, 0, 0)})
    (tmp_path / "004.png").write_bytes((tmp_path / "004.png").read_bytes()[:200])
    (tmp_path / "005.png").write_text("not a picture")
    (tmp_path / "006.png").unlink()
    write_audio(tmp_path / "007.png", tone(0.5), container="wav")
    evaluation = evaluate(listed, TASK, component=Odd(), cache=False)
    fields = dict(zip(evaluation.failures["path"], evaluation.failures["error"], strict=True))
    assert list(fields) == [f"{i:03}.png" for i in range(1, 8)]
    assert fields["001.png"] == "RuntimeError: the network said no"
    assert "1.5 is not in [0, 1]" in fields["002.png"] and "nan is not in [0, 1]" in fields["003.png"]
    assert fields["006.png"].startswith("006.png is not there")
    assert "this is audio" in fields["007.png"]
    with pytest.raises(UsageError, match="nothing to compare: Odd is the only component"):
        evaluation.compare()
    assert evaluation.failures["score"].isna().all()
    summary = evaluation.summary(n_bootstrap=0)
    assert set(summary["n_failed"]) == {7} and set(summary["n_unscored"]) == {0}
    assert "7 rows failed" in repr(evaluation)


def test_a_failure_is_told_of_its_own_file_where_another_has_the_same_content(tmp_path: Path) -> None:
    listed = pictures(tmp_path, 4)
    for name in ("001.png", "002.png"):
        (tmp_path / name).write_text("not a picture")
    evaluation = evaluate(listed, TASK, component=Grey(), cache=False)
    first, second = evaluation.failures["error"]
    assert second == f"the same content as 001.png: {first}"
    assert not any("same content as another" in note for note in evaluation.notes), "none of them was scored"


def test_pipes_and_devices_are_not_waited_for(tmp_path: Path) -> None:
    listed = pictures(tmp_path, 3)
    (tmp_path / "001.png").unlink()
    os.mkfifo(tmp_path / "001.png")
    (tmp_path / "002.png").unlink()
    (tmp_path / "002.png").symlink_to("/dev/zero")
    evaluation = evaluate(listed, TASK, component=Grey(), cache=False, executor="here")
    assert evaluation.failures["path"].tolist() == ["001.png", "002.png"]
    assert evaluation.failures["error"].str.contains("is a pipe, socket or device").all()


def test_a_score_that_is_none_fails_on_that_file_in_a_shipped_task_too(tmp_path: Path) -> None:
    listed = pictures(tmp_path, 4)
    write_image(tmp_path / "001.png", np.zeros((48, 64, 3), np.uint8))

    class Divides:
        def score(self, rgb: np.ndarray) -> float:
            return 0.5 if rgb.any() else float("nan")

    evaluation = evaluate(listed, "ai_generated_image_detection", component=Divides(), cache=False, executor="here")
    assert evaluation.failures["path"].tolist() == ["001.png"]
    assert evaluation.failures["error"].tolist() == ["Divides must give scores in [0, 1], higher for fake: got nan"]
    assert evaluation.scores["score"].notna().sum() == 3


def test_a_component_that_wants_to_end_the_program_fails_on_that_file(tmp_path: Path) -> None:
    listed = pictures(tmp_path, 4, first={1: (4, 0, 0)})
    for executor in ("here", 2):
        evaluation = evaluate(listed, TASK, component=Odd(), cache=False, executor=executor)
        assert evaluation.failures["path"].tolist() == ["001.png"]
        assert evaluation.failures["error"].tolist() == ["SystemExit: no licence"]


def test_nothing_to_score_is_no_failure(tmp_path: Path) -> None:
    write_audio(tmp_path / "a.wav", tone(1.0, level=0.0))
    table = pd.DataFrame({"path": ["a.wav"], "label": ["real"]})
    evaluation = evaluate(Manifest(table, root=tmp_path), "voice_analysis", cache=False)
    assert evaluation.unscored["class_name"].tolist() == ["no_speech"]
    assert evaluation.failures.empty
    assert set(evaluation.summary(n_bootstrap=0)["n_unscored"]) == {1}


def test_degraded_copies_score_as_the_degraded_files_do(tmp_path: Path) -> None:
    listed = pictures(tmp_path, 1)
    detector = Grey()
    evaluation = evaluate(
        listed, REAL, component=detector, degradations={"jpeg": [50], "noise": [8]}, cache=False, seed=3
    )
    for row in evaluation.scores.iloc[1:].itertuples():
        path = degrade_file(tmp_path / "000.png", row.degradation, row.strength, tmp_path, seed=3)
        assert analyze(path, [REAL], explain=False, image_detector=detector).scores[REAL] == row.score


def test_a_file_that_cannot_be_degraded_is_a_failure_and_the_others_are_not(tmp_path: Path) -> None:
    listed = pictures(tmp_path, 2)
    write_image(tmp_path / "000.png", np.zeros((70, 16_400, 3), np.uint8))
    scores = evaluate(listed, REAL, component=Grey(), degradations={"webp": [50]}, cache=False).scores
    assert scores["error"].notna().tolist() == [False, True, False, False]
    assert scores["error"][1] == "one side has 16400 px; WEBP takes 16383"


@pytest.mark.slow
def test_degraded_sound_and_videos_score_as_the_degraded_files_do(tmp_path: Path, small_voices: Path) -> None:
    table = pd.DataFrame({"path": ["synthetic-0.wav"], "label": ["fake"]})
    evaluation = evaluate(Manifest(table, root=small_voices), "voice_analysis", degradations={"mp3": [16]}, cache=False)
    path = degrade_file(small_voices / "synthetic-0.wav", "mp3", 16, tmp_path)
    report = analyze(path, ["voice_analysis"], explain=False, transcribe=False).scores
    assert evaluation.scores["score"].iloc[1] == report["voice_analysis"] != evaluation.scores["score"].iloc[0]

    write_video(tmp_path / "a.mp4", 12)
    table = pd.DataFrame({"path": ["a.mp4"], "label": ["fake"]})
    video = Manifest(table, root=tmp_path)
    evaluation = evaluate(video, REAL, component=Grey(), degradations={"crf": [40], "jpeg": [50]}, cache=False)
    path = degrade_file(tmp_path / "a.mp4", "crf", 40, tmp_path)
    report = analyze(path, [REAL], explain=False, image_detector=Grey()).scores
    assert evaluation.scores["degradation"].tolist() == ["none", "crf"], "jpeg is for pictures"
    assert evaluation.scores["score"].iloc[1] == report[REAL] != evaluation.scores["score"].iloc[0]
    assert "jpeg is no degradation of 1 of the files, which have no row for it." in evaluation.notes
    frames = evaluation.frames[evaluation.frames["degradation"] == "none"]
    assert len(frames) >= 4 and frames["frame_ms"].is_monotonic_increasing
    assert set(frames["level"]) == {"frame"} and set(frames["label"]) == {"fake"}
    assert set(evaluation.summary(level="frame", n_bootstrap=0)["n_fake"]) >= {len(frames)}


def test_videos_alone_are_held_against_the_bound_of_videos(tmp_path: Path) -> None:
    write_video(tmp_path / "a.mp4", 12)
    write_image(tmp_path / "b.png")
    card = SimpleNamespace(
        name="grey", sha256="0", threshold=0.6, inconclusive=(0.0, 0.6), inconclusive_video=(0.0, 0.5)
    )
    found = {}
    for paths in (["a.mp4"], ["a.mp4", "b.png"]):
        manifest = Manifest(pd.DataFrame({"path": paths, "label": "fake"}), root=tmp_path)
        (found[len(paths)],) = evaluate(manifest, REAL, component=Grey(card=card), cache=False).thresholds.values()
    assert found == {1: 0.5, 2: 0.6}


def test_called_fake_is_what_the_verdict_calls_so_unless_a_threshold_is_given(tmp_path: Path) -> None:
    card = SimpleNamespace(name="grey", sha256="0", threshold=0.2, inconclusive=(0.0, 0.2))
    evaluation = evaluate(pictures(tmp_path, 8), REAL, component=Grey(card=card), cache=False, executor="here")
    table = evaluation.scores
    assert (table["score"] >= 0.2).equals(table["label"] == "fake"), "the scores tell all"
    assert set(table["class_name"]) == {"real"}, "and the pictures are too small to be judged"
    assert table["inconclusive"].all()

    def accuracy(**options: object) -> list[float]:
        summary = evaluation.summary(n_bootstrap=0, **options)
        return summary.loc[summary["metric"].str.endswith("accuracy_threshold"), "value"].tolist()

    assert "grey scores 4 of these files at its threshold (0.2) or above, and their verdict is not" in str(
        evaluation.notes
    )
    assert accuracy() == [0.5, 0.5] and accuracy(threshold=0.2) == accuracy(verdicts=False) == [1.0, 1.0]
    assert evaluation.confusion().counts.tolist() == [[0, 0, 4, 0], [0, 0, 4, 0]], "and is called neither"
    assert repr(evaluation.confusion()) == "ConfusionDisplay(real [0, 0, 4, 0], fake [0, 0, 4, 0], by verdict)"
    assert evaluation.confusion(threshold=0.2).counts.tolist() == [[4, 0, 0, 0], [0, 4, 0, 0]]
    for options, right in (({}, {"real": 1.0, "fake": 0.0}), ({"threshold": 0.2}, {"real": 1.0, "fake": 1.0})):
        assert {h.label: h.right for h in evaluation.histogram(**options).histograms} == right
    both = collate({"one": evaluation, "other": evaluation})
    for options, expected in (({}, 0.5), ({"threshold": 0.2}, 1.0)):
        for found in (both.summary(n_bootstrap=0, **options), both.compare(n_bootstrap=0, **options)):
            assert set(found.loc[found["metric"] == "accuracy_threshold", "value"]) == {expected}


def test_what_a_file_says_of_itself_counts_unless_it_is_left_aside(tmp_path: Path) -> None:
    fields = PngInfo()
    fields.add_text("parameters", "a cat\nSteps: 20, Sampler: Euler a, CFG scale: 7, Seed: 1, Size: 64x48, Model: sd15")
    rgb = np.full((48, 64, 3), 60, np.uint8)
    Image.fromarray(rgb).save(tmp_path / "marked.png", pnginfo=fields)
    table = pd.DataFrame({"path": ["marked.png"], "label": ["fake"]})
    listed = Manifest(table, root=tmp_path)
    scores = [
        evaluate(listed, REAL, component=Grey(), cache=tmp_path / "cache", metadata=metadata).scores["score"].iloc[0]
        for metadata in (True, False)
    ]
    assert scores[0] > 0.9 > scores[1] == pytest.approx(60 / 255)


def test_sources_that_a_model_was_trained_on_are_flagged(few: Manifest) -> None:
    card: ModelCard = get_card("forensix-image")
    observed = card.trained_on[0].model_copy(update={"source": "Some-Lab/Set 1"})
    detector = Grey(card=card.model_copy(update={"trained_on": (observed,)}))
    evaluation = evaluate(few, TASK, component={"seen": detector, "other": Grey()}, cache=False)
    assert evaluation.overlap[["component", "trained_on", "column", "value"]].drop_duplicates().to_numpy().tolist() == [
        ["seen", "Some-Lab/Set 1", "source", "set 1"]
    ]
    assert evaluation.overlap["n_files"].sum() == (few.table["source"] == "set 1").sum()
    assert any("seen was trained on the sources of 3 of these files" in note for note in evaluation.notes)
    rest = evaluation.unseen()
    assert set(rest.scores["source"]) == {"set 0", "set 2"}
    assert not any("trained on the sources" in note for note in rest.notes)


def test_files_that_a_model_was_trained_on_are_known_by_their_content(few: Manifest, tmp_path: Path) -> None:
    listed = Manifest(few.table[["path", "label"]], few.root)  # no column says where they are from
    marks = [hashlib.sha256(path.read_bytes()).hexdigest()[:16] for path in listed.paths()]
    card = get_card("forensix-image").model_copy(update={"learnt_files": marks[:3], "stopping_files": marks[3:4]})
    evaluation = evaluate(listed, TASK, component={"own": Grey(card=card), "other": Grey()}, cache=False)
    warned = "own was trained on 4 of these files: its figures flatter it; unseen() leaves them out."
    assert warned in evaluation.notes and not any("other was" in note for note in evaluation.notes)
    assert not any("tells 1000 of the files" in note for note in evaluation.notes), "it tells all"
    evaluation.save(tmp_path / "saved")
    assert warned in Evaluation.load(tmp_path / "saved").notes and warned in collate([tmp_path / "saved"]).notes
    assert set(evaluation.unseen().scores["path"]) == set(listed.table["path"][4:])
    two = listed.table["path"].iloc[[1, 5]].tolist()
    assert "own was trained on 1 of these files" in " ".join(evaluation.where(path=two).notes)
    with_names = evaluate(few, TASK, component={"own": Grey(card=card)}, cache=False)
    assert "own was trained on 4 of these files" in " ".join(with_names.notes)


def test_files_that_a_model_was_calibrated_on_are_told_apart_and_stay(few: Manifest, tmp_path: Path) -> None:
    listed = Manifest(few.table[["path", "label"]], few.root)
    marks = [hashlib.sha256(path.read_bytes()).hexdigest()[:16] for path in listed.paths()]
    card = get_card("forensix-image").model_copy(update={"learnt_files": marks[:2], "calibration_files": marks[2:5]})
    found = evaluate(listed, TASK, component={"own": Grey(card=card), "other": Grey()}, cache=False)
    told = "own was calibrated and given its bounds on {} of these files: verdicts, and what takes scores for"
    trained = "own was trained on 2 of these files: its figures flatter it"
    found.save(tmp_path / "saved")
    for one in (found, Evaluation.load(tmp_path / "saved")):
        assert told.format(3) in " ".join(one.notes) and trained in " ".join(one.notes)
    rest = found.unseen()
    assert set(rest.scores["path"]) == set(listed.table["path"][2:])
    assert told.format(3) in " ".join(rest.notes) and trained not in " ".join(rest.notes)
    two = found.where(path=listed.table["path"].iloc[[2, 5]].tolist())
    assert told.format(1) in " ".join(two.notes) and trained not in " ".join(two.notes)


def test_that_a_card_does_not_tell_all_files_it_learnt_from_is_said_and_stays_said(few: Manifest) -> None:
    marks = [hashlib.sha256(path.read_bytes()).hexdigest()[:16] for path in few.paths()[:2]]
    others = [f"{i:016x}" for i in range(998)]
    card = get_card("forensix-image").model_copy(update={"learnt_files": (*marks, *others)})
    evaluation = evaluate(few, TASK, component={"own": Grey(card=card)}, cache=False)
    for one in (evaluation, evaluation.unseen()):
        assert any("The card of own tells 1000 of the files that it learnt from at most" in note for note in one.notes)


def test_rows_are_chosen_by_their_columns_and_all_figures_are_of_those(few: Manifest) -> None:
    card: ModelCard = get_card("forensix-image")
    observed = [card.trained_on[0].model_copy(update={"source": f"Lab/Set {i}"}) for i in (0, 1)]
    detector = Grey(card=card.model_copy(update={"trained_on": tuple(observed)}))
    listed = Manifest(few.table.assign(take=list(range(len(few)))), few.root)
    evaluation = evaluate(listed, TASK, component=detector, cache=False)
    rest = evaluation.where(source="set 1")
    assert set(rest.scores["source"]) == {"set 1"} and len(rest.scores) == 3
    assert rest.summary(n_bootstrap=0).iloc[0][["n_real", "n_fake"]].sum() == 3
    assert set(rest.overlap["value"]) == {"set 1"} and rest.overlap["n_files"].sum() == 3
    assert "Only the rows whose source is set 1 count." in rest.notes
    # A command line passes text.
    assert evaluation.where(take=["0", 4]).scores["take"].tolist() == [0, 4]
    assert set(evaluation.overlap["value"]) == {"set 0", "set 1"}
    with pytest.raises(UsageError, match="no row has the source 'set 7'; there are: set 0, set 1, set 2"):
        evaluation.where(source="set 7")
    with pytest.raises(UsageError, match="no column shoe"):
        evaluation.where(shoe="dev")


def test_an_output_is_whole_and_holds_what_made_it(few: Manifest, tmp_path: Path) -> None:
    folder = tmp_path / "output"
    evaluation = evaluate(few, TASK, component=Grey(), cache=False, output=folder)
    assert sorted(path.name for path in folder.iterdir()) == ["frames.parquet", "result.json", "scores.parquet"]
    fields = json.loads((folder / "result.json").read_text())
    assert fields["versions"]["forensix"] == forensix.__version__
    assert fields["components"]["Grey"]["identity"].endswith("Grey:1")
    assert len(fields["manifest"]["sha256"]) == len(fields["code"]) == 64
    loaded = Evaluation.load(folder)
    pd.testing.assert_frame_equal(loaded.scores, evaluation.scores)
    assert loaded.info == json.loads(json.dumps(evaluation.info))
    assert loaded.thresholds == {"Grey": 0.5}
    again = evaluate(few, TASK, component=Grey(), cache=False, output=folder)
    pd.testing.assert_frame_equal(plain(again.scores), plain(evaluation.scores))
    with pytest.raises(UsageError, match="another conditions"):
        evaluate(few, TASK, component=Grey(), cache=False, output=folder, degradations=["jpeg"])
    with pytest.raises(UsageError, match="another manifest"):
        evaluate(few.where(label="real"), TASK, component=Grey(), cache=False, output=folder)
    with pytest.raises(UsageError, match="another components"):
        evaluate(few, TASK, component=Grey("2"), cache=False, output=folder)
    pd.testing.assert_frame_equal(Evaluation.load(folder).scores, again.scores)
    with pytest.raises(UsageError, match="there is no evaluation"):
        Evaluation.load(tmp_path)


def test_tables_and_displays_come_from_the_scores(few: Manifest) -> None:
    evaluation = evaluate(
        few, TASK, component={"a": Grey(), "b": Grey()}, degradations={"jpeg": [90, 30], "blur": [1]}, cache=False
    )
    summary = evaluation.summary(n_bootstrap=20)
    assert summary.query("component == 'a' and degradation == 'none' and metric == 'auc'")["value"].item() == 1.0
    assert "AVG" in set(evaluation.by("generator", n_bootstrap=0)["generator"])
    assert set(evaluation.compare(n_bootstrap=20)["baseline"]) == {"a"}
    with pytest.raises(UsageError, match="0 for none, not -1"):
        evaluation.compare(n_bootstrap=-1)
    assert [curve.name for curve in evaluation.roc().curves] == ["a", "b"]
    assert {curve.n_real for curve in evaluation.roc("generator", component="a").curves} == {4}
    heat = evaluation.robustness("auc", component="a")
    assert heat.rows == ("jpeg", "blur") and heat.strengths[0] == ("none", "90", "30")
    assert evaluation.confusion(component="a").counts.sum() == 8
    assert evaluation.histogram(component="a").threshold == 0.5
    assert evaluation.det().curves and evaluation.precision_recall().curves and evaluation.calibration().curves
    with pytest.raises(UsageError, match="choose one of a, b"):
        evaluation.confusion()
    html = evaluation._repr_html_()
    assert "<table" in html and "Evaluation(quick, 8 files, a, b)" in html
    with pytest.raises(UsageError, match="no frames were scored"):
        evaluation.summary(level="frame")
    assert len(evaluation.summary(confidence=0.9, n_bootstrap=10)) == len(evaluation.summary(n_bootstrap=0))
    with pytest.raises(UsageError, match="intervals are set by confidence"):
        evaluation.summary(level=0.9)  # type: ignore[arg-type]


def test_columns_of_the_manifest_that_scores_have_too_are_kept_under_another_name(few: Manifest) -> None:
    listed = Manifest(few.table.assign(score=0.9, sha256="told"), root=few.root)
    table = evaluate(listed, TASK, component=Grey(), cache=False).scores
    assert set(table["manifest_score"]) == {0.9} and set(table["manifest_sha256"]) == {"told"}
    assert table["score"].nunique() == 8
    both = Manifest(listed.table.assign(manifest_score=0.1), root=few.root)
    table = evaluate(both, TASK, component=Grey(), cache=False).scores
    assert set(table["manifest_score"]) == {0.1} and set(table["manifest_manifest_score"]) == {0.9}


def test_columns_of_any_kind_are_taken(few: Manifest) -> None:
    table = few.table.assign(
        generator=few.table["generator"].astype("category"),
        source=few.table["source"].where(few.table["label"] == "real").astype("category"),
        language=pd.Categorical(["en", None] * 4),
        gender=pd.array([True, None] * 4, dtype="boolean"),
        quality=pd.array([1, 2, None, 3] * 2, dtype="Int64"),
    )
    evaluation = evaluate(Manifest(table, root=few.root), TASK, component=Grey(), cache=False)
    plain_table = table.astype({name: object for name in ("generator", "language", "gender", "quality", "source")})
    same = evaluate(Manifest(plain_table, root=few.root), TASK, component=Grey(), cache=False)
    pd.testing.assert_frame_equal(evaluation.by("generator", n_bootstrap=10), same.by("generator", n_bootstrap=10))
    pd.testing.assert_frame_equal(evaluation.subgroups(n_bootstrap=10), same.subgroups(n_bootstrap=10))
    for column in ("source", "generator", "quality"):
        assert repr(evaluation.histogram(column)) == repr(same.histogram(column))


def test_lists_large_numbers_and_intervals_are_text_in_scores_and_in_what_is_kept(
    few: Manifest, tmp_path: Path
) -> None:
    odd = few.table.assign(
        generator=[["a", "b"] if label == "fake" else None for label in few.table["label"]],
        seed=[10**30 + i for i in range(len(few))],
        size=pd.cut(np.arange(len(few)), 2),
    )
    evaluation = evaluate(Manifest(odd, root=few.root), TASK, component=Grey(), cache=False, output=tmp_path / "output")
    assert set(evaluation.by("generator", n_bootstrap=0)["generator"]) == {"['a', 'b']", "AVG"}
    assert evaluation.scores["seed"].iloc[0] == str(10**30) and evaluation.scores["size"].nunique() == 2
    assert Evaluation.load(tmp_path / "output").scores["seed"].tolist() == evaluation.scores["seed"].tolist()


def test_a_result_that_is_no_object_is_told_as_damaged(few: Manifest, tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text("[]")
    with pytest.raises(UsageError, match=r"is damaged: result\.json must hold a JSON object"):
        Evaluation.load(tmp_path)
    with pytest.raises(UsageError, match="is no result of an evaluation"):
        evaluate(few, TASK, component=Grey(), cache=False, output=tmp_path)


def test_wrong_calls_stop_before_any_work(few: Manifest, tmp_path: Path) -> None:
    wrong = [
        (UsageError, "no task named 'pictures'", {"task": "pictures"}),
        (UsageError, "makes claims and gives no score", {"task": "forensic_analysis"}),
        (UsageError, "name of one task", {"task": [TASK]}),
        (ModelNotFound, "no image_detector component named 'nonesuch'", {"component": "nonesuch"}),
        (UsageError, "two have the same", {"component": [Grey(), Grey()]}),
        (UsageError, "empty list", {"component": []}),
        (UsageError, r"Grey is a class: write Grey\(\)", {"component": Grey}),
        (UsageError, "with the method score; this object has none", {"component": object()}),
        (UsageError, "with the method score; this int has none", {"component": {"a": Grey(), "three": 3}}),
        (UsageError, r"limits is a forensix.media.Limits\(...\), not a dict", {"limits": {"max_bytes": 3}}),
        (UsageError, "seed is a whole number, not 'x'", {"seed": "x"}),
        (UsageError, "metadata is True or False, not 'false'", {"metadata": "false"}),
        (UsageError, "is called 'fog'.*jpeg", {"degradations": ["fog"]}),
        (UsageError, r"mp3 is for audio", {"degradations": ["mp3"]}),
        (UsageError, "write degradations=", {"degradations": "jpeg"}),
        (UsageError, "strength", {"degradations": {"jpeg": [None]}}),
        (UsageError, "list of names, not a int", {"degradations": 5}),
        (UsageError, r"write \{'jpeg': \[90\]\}", {"degradations": {"jpeg": 90}}),
        (UsageError, "a number, not '90'", {"degradations": {"jpeg": ["90"]}}),
        (UsageError, "executor", {"executor": "elsewhere"}),
        (UsageError, "no manifest at", {"manifest": tmp_path / "nothing.csv"}),
        (UsageError, "none of the 8 files", {"manifest": Manifest(few.table, root=tmp_path)}),
        (UsageError, "root=FOLDER", {"manifest": few.table}),
        (UsageError, "no rows", {"manifest": few.where(label="none")}),
    ]
    for error, sentence, changed in wrong:
        detector = Grey()
        with pytest.raises(error, match=sentence):
            evaluate(**{"manifest": few, "task": TASK, "component": detector, "cache": False} | changed)  # type: ignore[arg-type]
        assert not detector.calls


def test_the_whole_grid_in_one_call(tmp_path: Path) -> None:
    listed = pictures(tmp_path, 2)
    evaluation = evaluate(listed, TASK, component=Grey(), degradations="all", cache=False)
    from forensix.perturb import names

    assert list(evaluation.scores["degradation"].unique()) == ["none", *names("image")]
    assert evaluation.robustness("accuracy_0.5").values.shape[0] == len(names("image"))


@pytest.mark.parametrize(
    ("values", "kept"),
    [
        ([1 + 2j, 3j] * 4, ["(1+2j)", "3j"]),
        (pd.array([0, 1] * 4, dtype=pd.SparseDtype(int, 0)), [0, 1]),
        (pd.array(["a", None] * 4, dtype=pd.SparseDtype(object)), ["a"]),
        (np.array([0.5, 1] * 4, dtype=np.float16), [0.5, 1]),
        (np.array([0.5, 1] * 4, dtype=np.longdouble), [0.5, 1]),
        (pd.Series([pd.Period("2020"), pd.Interval(0, 1)] * 4, dtype=object), ["2020", "(0, 1]"]),
        (pd.Categorical([1j, 2j] * 4), ["1j", "2j"]),
    ],
)
def test_columns_that_parquet_does_not_hold_are_no_loss(
    few: Manifest, tmp_path: Path, values: Any, kept: list[object]
) -> None:
    odd = Manifest(few.table.assign(generator=values), root=few.root)
    evaluation = evaluate(odd, TASK, component=Grey(), cache=False, output=tmp_path / "output")
    assert list(evaluation.scores["generator"].dropna().unique()) == kept
    assert list(Evaluation.load(tmp_path / "output").scores["generator"].dropna().unique()) == kept
    evaluation.by("generator", n_bootstrap=0)


def test_an_output_that_is_no_folder_is_refused_before_a_file_is_scored(few: Manifest, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("mine")
    evaluation = evaluate(few, TASK, component=Grey(), cache=False)
    for place, why in (("taken", "taken is a file: name a folder"), ("taken/in", "taken is a file, and .*taken/in")):
        with pytest.raises(UsageError, match=why):
            evaluate(few, TASK, component=Deadly(), cache=False, output=tmp_path / place)
        with pytest.raises(UsageError, match=why):
            evaluation.save(tmp_path / place)
    assert (tmp_path / "taken").read_text() == "mine"
