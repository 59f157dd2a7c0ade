"""Every notebook runs from top to bottom, with its defaults and with parameters, and is committed without outputs."""

import ast
import io
import json
import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import nbconvert
import pandas as pd
import papermill
import pytest
from papermill.exceptions import PapermillExecutionError

from forensix import Evaluation, evaluate, small
from forensix.errors import UsageError
from forensix.models import band_of, get_card
from forensix.notebook import as_list, as_text, check_parameters
from tests.evaluation.detectors import Grey
from tests.making import write_video

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def outputs(name: str, folder: Path, **parameters: object) -> list[dict[str, object]]:
    """Run a notebook in ``folder`` and return the outputs of its cells.

    Where FORENSIX_NOTEBOOKS names a folder, the notebook goes there as it ran, as a page to look at,
    named for the test too: several run the same.
    """
    done = papermill.execute_notebook(
        FOLDER / f"{name}.ipynb", folder / "out.ipynb", parameters=parameters, cwd=folder, progress_bar=False
    )
    if pages := os.environ.get("FORENSIX_NOTEBOOKS"):
        page = nbconvert.HTMLExporter().from_notebook_node(done)[0]
        Path(pages).mkdir(parents=True, exist_ok=True)
        (Path(pages) / f"{name}-{folder.name}.html").write_text(page, encoding="utf-8")
    drawn = [output for cell in done.cells if cell.cell_type == "code" for output in cell.outputs]
    assert not [output["text"] for output in drawn if output.get("name") == "stderr"]
    return drawn


def test_there_are_notebooks() -> None:
    assert [path.stem for path in NOTEBOOKS] == [
        "compare",
        "evaluate",
        "explore",
        "face_manipulation",
        "forensic_analysis",
        "generated_images",
        "quickstart",
        "service_client",
        "train_your_own",
        "voice_analysis",
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_committed_without_outputs(path: Path) -> None:
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert cells
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_open_with_a_question_and_end_with_what_to_conclude(path: Path) -> None:
    cells = ["".join(cell["source"]) for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]]
    title, question, *_ = cells[0].split("\n\n")
    assert title.startswith("# ") and question.startswith("**") and question.endswith("?**")
    assert cells[-1].startswith("## What to conclude\n\n- ")


def pages(cells: list[dict[str, object]]) -> list[str]:
    return [output["data"]["text/html"] for output in cells if "text/html" in output.get("data", {})]


@pytest.mark.slow
def test_quickstart_draws_reports(tmp_path: Path) -> None:
    actual = pages(outputs("quickstart", tmp_path))
    assert any("Face manipulation" in page and "portrait.jpg" in page for page in actual)
    assert any("absent.jpg" in page for page in actual)


@pytest.mark.slow
def test_quickstart_takes_a_file_of_the_users_own(tmp_path: Path) -> None:
    from forensix.demo import make_document

    (document,) = make_document(tmp_path)
    assert "edited.pdf" in str(outputs("quickstart", tmp_path, path=str(document), explain=False))


@pytest.mark.slow
def test_face_manipulation_leads_from_frames_to_a_verdict(tmp_path: Path) -> None:
    drawn = outputs("face_manipulation", tmp_path)
    report = pages(drawn)[0]
    assert "data:video/mp4;base64," in report and "face 0" in report
    tables = [page for page in pages(drawn) if "highest quarter" in page or "as sharp as a face" in page]
    assert len(tables) == 2
    assert any("application/vnd.jupyter.widget-view+json" in output.get("data", {}) for output in drawn)
    assert sum("image/png" in output.get("data", {}) for output in drawn) >= 2
    printed = "".join(output["text"] for output in drawn if output["output_type"] == "stream")
    band = band_of(get_card("forensix-face"), "video")
    assert band is not None and f"video: called fake from {band[1]:.3f}" in printed


@pytest.mark.slow
def test_forensic_analysis_leads_from_claims_to_bytes(tmp_path: Path) -> None:
    drawn = outputs("forensic_analysis", tmp_path)
    actual = pages(drawn)
    report = actual[0]
    for words in (
        "An embedded preview shows another picture",
        "An area of the picture occurs twice",
        "Map of the file",
    ):
        assert words in report
    printed = "".join(output["text"] for output in drawn if output["output_type"] == "stream")
    assert "exif.Software = GIMP 2.10.36" in printed and "47 49 4d 50" in printed
    assert any("bytes written" in page and "the first version" in page for page in actual)
    for words in ("Amount due: 100.00", "Digital silence inside the recording", "Damaged: "):
        assert any(words in page for page in actual), words
    assert "report.html" in printed and "4 inputs" in printed


@pytest.mark.slow
def test_forensic_analysis_takes_a_file_of_the_users_own(tmp_path: Path) -> None:
    path = tmp_path / "cut.wav"
    path.write_bytes(b"RIFF\xff\xff\x00\x00WAVEfmt ")
    output = pages(outputs("forensic_analysis", tmp_path, source=str(path), additional_info="case 17"))
    assert "cut.wav" in output[0] and "case 17" in output[0]


@pytest.mark.slow
def test_generated_images_sets_marked_and_unmarked_files_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORENSIX_HOME", str(tmp_path / "home"))
    drawn = outputs("generated_images", tmp_path, manifest=str(small.folder("images")), degradations="jpeg")
    table, attributions, *rest = pages(drawn)
    assert all(name in table for name in ("portrait.jpg", "credentials.png", "comfyui.png", "unmarked.png"))
    assert "(firefly) made it" in table and "(sdxl) made it" in table
    assert "firefly" in attributions and "sdxl" in attributions
    assert any("What the file says of a generator" in page for page in rest)
    assert any("image/png" in output.get("data", {}) for output in drawn), "the grid"


@pytest.mark.slow
def test_voice_analysis_shows_phrases_features_and_components(tmp_path: Path) -> None:
    drawn = outputs("voice_analysis", tmp_path, transcribe=False)
    actual = pages(drawn)
    for words in ("Who speaks when", "<audio", "Waveform", "What weighed most"):
        assert words in actual[0], words
    assert any("background_noise" in page and "percentile_rank" in page for page in actual)
    printed = "".join(output["text"] for output in drawn if output["output_type"] == "stream")
    assert "forensix-diarisation" in printed and "pocketsphinx" in printed and "report.html" in printed


@pytest.mark.slow
def test_voice_analysis_takes_a_video_without_sound(tmp_path: Path) -> None:
    path = tmp_path / "silent.mp4"
    write_video(path)
    drawn = outputs("voice_analysis", tmp_path, source=str(path))
    printed = "".join(output["text"] for output in drawn if output["output_type"] == "stream")
    assert "there is no speech to mark" in printed and "report.html" in printed


@pytest.mark.slow
def test_service_client_walks_the_whole_flow(tmp_path: Path) -> None:
    drawn = outputs("service_client", tmp_path)
    text = "".join(output["data"].get("text/plain", "") for output in drawn if "data" in output)
    for task in ("face_manipulation", "ai_generated_image_detection", "voice_analysis", "forensic_analysis"):
        assert f"'{task}': ('completed'" in text.replace("\n", " ")
    assert any("Voice" in page for page in pages(drawn))


@pytest.mark.slow
def test_evaluate_and_compare_take_what_papermill_passes_and_keep_what_they_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORENSIX_HOME", str(tmp_path / "home"))
    run = tmp_path / "runs" / "pictures"
    manifest = str(small.folder("images") / "manifest.csv")
    drawn = outputs("evaluate", tmp_path, manifest=manifest, degradations="jpeg, blur", output=str(run))
    text = "".join(pages(drawn))
    assert "balanced_accuracy_threshold" in text and "Evaluation(ai_generated_image_detection, 8 files" in text
    assert sum("image/png" in output.get("data", {}) for output in drawn) == 4, "curves, scores, decisions, robustness"
    fields = json.loads((run / "result.json").read_text())
    assert fields["versions"]["forensix"] and len(fields["manifest"]["sha256"]) == len(fields["code"]) == 64
    scores, summary = (pd.read_parquet(run / f"{name}.parquet") for name in ("scores", "summary"))
    assert set(scores["degradation"]) == {"none", "jpeg", "blur"} and len(scores["path"].unique()) == 8
    assert {"auc", "eer", "brier"} <= set(summary["metric"])

    folder = tmp_path / "folder"
    for label, name in (("real", "photographed"), ("fake", "generated")):
        (folder / label).mkdir(parents=True)
        for path in small.folder("images").glob(f"{name}-*.jpg"):
            shutil.copy(path, folder / label)
    again = tmp_path / "runs" / "folder"
    evaluate(folder, "ai_generated_image_detection", executor="here", output=again, metadata=False)
    text = "".join(pages(outputs("compare", tmp_path, runs=str(tmp_path / "runs"), output=str(tmp_path / "both"))))
    assert "forensix-image (pictures)" in text and "p_holm" in text
    paired = pd.read_parquet(tmp_path / "both" / "paired.parquet")
    assert set(paired["n_left_out"]) == {0}, "found by content"
    fields = json.loads((tmp_path / "both" / "compare.json").read_text())
    assert {run["manifest"] for run in fields["runs"]} == {
        json.loads((place / "result.json").read_text())["manifest"]["sha256"] for place in (run, again)
    }


@pytest.mark.slow
def test_compare_keeps_the_figures_of_runs_of_different_tasks(tmp_path: Path) -> None:
    pictures = small.folder("images")
    run = evaluate(pictures, "ai_generated_image_detection", component=Grey(), executor="here", cache=False)
    run.save(tmp_path / "runs" / "pictures")
    info = {**run.info, "task": "face_manipulation"}
    faces = Evaluation(run.scores.assign(task="face_manipulation"), run.frames, info, run.overlap)
    faces.save(tmp_path / "runs" / "faces")
    drawn = outputs("compare", tmp_path, runs=str(tmp_path / "runs"), output=str(tmp_path / "both"))
    assert "There are no two runs of one task: nothing to test." in "".join(str(output.get("text")) for output in drawn)
    assert sorted(path.name for path in (tmp_path / "both").iterdir()) == ["compare.json", "summary.parquet"]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "text"), [("evaluate", "Evaluation(ai_generated"), ("compare", "smoothness")])
def test_without_parameters_the_pictures_of_the_package_are_taken_wherever_the_notebook_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, text: str
) -> None:
    monkeypatch.setenv("FORENSIX_HOME", str(tmp_path / "home"))
    assert text in "".join(pages(outputs(name, tmp_path)))


@pytest.mark.slow
def test_train_your_own_learns_what_the_shipped_detector_has_the_other_way_round(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORENSIX_HOME", str(tmp_path / "home"))
    output = pages(outputs("train_your_own", tmp_path, output=str(tmp_path / "own")))
    (summary,) = [
        pd.read_html(io.StringIO(page))[0] for page in output if "<th>component</th>" in page and "low" in page
    ]
    assert any("baseline_value" in page for page in output), "the paired difference"
    rank = summary[summary["metric"] == "auc"].set_index("component")["value"]
    assert rank["shipped"] < 0.3 and rank["own"] > 0.9
    assert (tmp_path / "own" / "own.json").is_file()


@pytest.mark.slow
def test_train_your_own_measures_on_no_row_that_was_learnt_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORENSIX_HOME", str(tmp_path / "home"))
    manifest = small.folder("images")
    assert set(pd.read_csv(manifest / "manifest.csv")["split"]) == {"dev", "test"}, "no train: all rows are shared out"
    drawn = outputs("train_your_own", tmp_path, manifest=str(manifest), output=str(tmp_path / "own"), steps=1)
    learnt, *_ = [pd.read_html(io.StringIO(page))[0] for page in pages(drawn) if "learnt from" in page]
    held_out = learnt.set_index("label").loc["held out"].sum()
    (scores,) = [pd.read_html(io.StringIO(page))[0] for page in pages(drawn) if "generated-" in page]
    assert len(scores) == held_out


@pytest.mark.slow
def test_train_your_own_learns_voices_from_recordings_and_faces_from_files_that_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORENSIX_HOME", str(tmp_path / "home"))
    drawn = outputs("train_your_own", tmp_path, task="voice_analysis", output=str(tmp_path / "own"), steps=1)
    assert any(".wav" in page for page in pages(drawn)) and (tmp_path / "own" / "own.json").is_file()
    with pytest.raises(PapermillExecutionError, match="no files to learn face_manipulation from: name a manifest"):
        outputs("train_your_own", tmp_path, task="face_manipulation")


@pytest.mark.parametrize("name", ["evaluate", "compare"])
def test_an_unknown_parameter_is_an_error(name: str, tmp_path: Path) -> None:
    with pytest.raises(PapermillExecutionError, match=r"there is no parameter degradation; there are: .*degradations"):
        outputs(name, tmp_path, manifest="nowhere", degradation="jpeg")


PARAMETERS = {
    path.stem: [
        target.id
        for statement in ast.parse("".join(json.loads(path.read_text(encoding="utf-8"))["cells"][1]["source"])).body
        for target in statement.targets
    ]
    for path in NOTEBOOKS
}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_notebook_checks_all_of_its_parameters(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    calls = [
        node
        for cell in cells
        if cell["cell_type"] == "code"
        for node in ast.walk(ast.parse("".join(cell["source"])))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "check_parameters"
    ]
    assert [[argument.value for argument in call.args] for call in calls] == [PARAMETERS[path.stem]]


@pytest.mark.parametrize("source", ['manifest = ""', 'a = 1\nmanifest = " "', 'manifest = ","'])
def test_an_empty_parameter_is_an_error(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shell = SimpleNamespace(user_ns={"In": ["", f"# Parameters\n{source}\n"]})
    monkeypatch.setattr("IPython.get_ipython", lambda: shell)
    with pytest.raises(
        UsageError, match=r"^manifest is empty, as a shell variable .*: leave it out, or give it a value$"
    ):
        check_parameters("a", "manifest")


@pytest.mark.parametrize("name", ["evaluate", "compare"])
def test_a_variable_that_is_not_set_does_not_evaluate_the_demo(name: str, tmp_path: Path) -> None:
    with pytest.raises(PapermillExecutionError, match="manifest is empty"):
        outputs(name, tmp_path, manifest="")


def test_numbers_that_papermill_makes_of_words_are_words_again() -> None:
    assert [as_text(value) for value in (0, 2024, "dev", None, "")] == ["0", "2024", "dev", None, None]
    assert [as_list(value) for value in (0, 2024, "a, b", ["a"], None, "")] == [
        ["0"], ["2024"], ["a", "b"], ["a"], None, None,
    ]  # fmt: skip


def test_degradations_are_taken_as_a_command_line_can_pass_them() -> None:
    assert as_list('{"jpeg": [90, 50]}') == {"jpeg": [90, 50]}
    with pytest.raises(UsageError, match=r"^\{jpeg: 90\} is no JSON: write it like \{\"jpeg\": \[90, 50\]\}$"):
        as_list("{jpeg: 90}")


@pytest.mark.slow
def test_a_split_called_0_is_one_and_an_output_called_2024_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORENSIX_HOME", str(tmp_path / "home"))
    table = pd.read_csv(small.folder("images") / "manifest.csv").assign(split=["0", "0", "1", "1"] * 2)
    table.to_csv(tmp_path / "manifest.csv", index=False)
    chosen = {"manifest": str(tmp_path / "manifest.csv"), "root": str(small.folder("images")), "output": 2024}
    outputs("evaluate", tmp_path, split=0, degradations='{"jpeg": [90]}', **chosen)
    scores = pd.read_parquet(tmp_path / "2024" / "scores.parquet")
    assert set(scores["split"]) == {"0"} and len(scores) == 8 and set(scores["strength"].dropna()) == {90}


@pytest.mark.slow
def test_compare_takes_one_split_of_runs_and_nothing_that_is_for_what_it_evaluates(tmp_path: Path) -> None:
    run = evaluate(
        small.folder("images"), "ai_generated_image_detection", component=Grey(), executor="here", cache=False
    )
    for name in ("one", "two"):
        run.save(tmp_path / "runs" / name)
    split = run.scores["split"].iloc[0]
    outputs("compare", tmp_path, runs=str(tmp_path / "runs"), split=split, output=2024)
    counts = pd.read_parquet(tmp_path / "2024" / "summary.parquet")[["n_real", "n_fake"]].drop_duplicates()
    assert counts.sum(axis=1).tolist() == [(run.scores["split"] == split).sum()]
    with pytest.raises(PapermillExecutionError, match="nothing is evaluated here: leave out task, metadata, or runs"):
        outputs("compare", tmp_path, runs=str(tmp_path / "runs"), metadata=False, task="voice_analysis")


@pytest.mark.slow
def test_explore_shows_files_and_an_evaluation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORENSIX_HOME", str(tmp_path / "home"))
    drawn = outputs("explore", tmp_path)
    assert sum("application/vnd.jupyter.widget-view+json" in output.get("data", {}) for output in drawn) == 2
    actual = [page for page in pages(drawn) if not page.startswith("<progress")]
    assert "edited.pdf" in actual[0] and "Claims" in actual[0]
    assert "wrong_by" in actual[1] and "miss" in actual[1]
    assert "face-swap-sharp.jpg" in actual[2] and "Face manipulation" in actual[2]
    assert not [output for output in drawn if output["output_type"] == "stream"]


@pytest.mark.slow
def test_explore_takes_a_file_of_the_users_own(tmp_path: Path) -> None:
    path = tmp_path / "letter.txt"
    path.write_text("no picture")
    assert "letter.txt is text" in pages(outputs("explore", tmp_path, source=str(path)))[0]
