"""Nothing that lies beside the evidence runs: modules are planted there, and every command and worker started there."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import papermill
import pytest

from forensix import analyze, demo, interpreter, small
from forensix.cli import build_parser
from forensix.errors import UsageError
from tests.executors.clusters import Cluster
from tests.service.running import environment, serving

REPOSITORY = Path(__file__).resolve().parents[1]
NAMES = ("select", "json", "sitecustomize", "usercustomize", "runpy", "numpy", "brotli", "planted", "quick")
INSTALLED = [sys.executable, "-P", "-m", "forensix"]
"""As the script of that name does it: what lies in the current folder is none of its modules."""
TEXTS = 33
"""With the rest more inputs than are analysed in one process; that they are no media is found at once."""


@pytest.fixture(scope="module")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of evidence with modules, a package and a plugin planted in it, which leave a mark when they run."""
    folder, marks = tmp_path_factory.mktemp("evidence"), tmp_path_factory.mktemp("marks")
    code = f"import os\nopen(os.path.join({str(marks)!r}, __name__), 'w').close()\n"
    for name in NAMES:
        (folder / f"{name}.py").write_text(code)
    (folder / "forensix").mkdir()
    for name in ("__init__", "__main__", "cli"):
        (folder / "forensix" / f"{name}.py").write_text(code)
    plugin = folder / "planted-1.0.dist-info"
    plugin.mkdir()
    (plugin / "METADATA").write_text("Metadata-Version: 2.1\nName: planted\nVersion: 1.0\n")
    groups = ("tasks", "importers", "spoof", "image_detector")
    (plugin / "entry_points.txt").write_text("".join(f"[forensix.{group}]\nplanted = planted:it\n" for group in groups))
    list(demo.make_recording(folder))
    list(demo.make_document(folder))
    shutil.copy(small.folder("images") / "photographed-0.jpg", folder / "picture.jpg")
    for n in range(TEXTS):
        (folder / f"{n}.txt").write_text("no media")
    yield folder
    assert sorted(path.name for path in marks.iterdir()) == []


def run(folder: Path, command: list[str], home: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        command, cwd=folder, env=environment(home), input="a password\n", capture_output=True, text=True, check=False
    )


def results(output: str) -> dict[str, dict]:
    return {line["input"]: line for line in map(json.loads, output.splitlines())}


@pytest.mark.slow
def test_a_batch_in_worker_processes(evidence: Path, tmp_path: Path) -> None:
    texts = [f"{n}.txt" for n in range(TEXTS)]
    names = ["picture.jpg", "edited.pdf", "synthetic-speech.wav"]
    done = run(evidence, [*INSTALLED, "analyze", "--json", "--task", "forensic_analysis", *texts, *names], tmp_path)
    actual = results(done.stdout)
    assert list(actual) == [*texts, *names], done.stderr
    assert all("text" in str(actual[name]["error"]) for name in texts)
    assert all(actual[name]["results"]["forensic_analysis"]["status"] == "completed" for name in names)


COMMANDS = {
    "analyze": ("--no-explain", "picture.jpg", "--html", "report.html"),
    "demo": ("--help",),
    "extract-revisions": ("edited.pdf",),
    "models": ("list",),
    "population": ("--help",),
    "serve": ("--host", "192.0.2.1"),
    "worker": ("--help",),
    "account": ("add", "anna"),
    "doctor": (),
    "completion": ("bash",),
    "train": ("--help",),
    "combine": ("--help",),
}


def test_no_command_is_left_out() -> None:
    assert set(build_parser()._subparsers._group_actions[0].choices) == set(COMMANDS)


@pytest.mark.slow
@pytest.mark.parametrize("name", COMMANDS)
def test_each_command(evidence: Path, tmp_path: Path, name: str) -> None:
    done = run(evidence, [*INSTALLED, name, *COMMANDS[name]], tmp_path)
    if name == "serve":
        assert done.returncode == 2 and "cannot be listened on" in done.stderr
    else:
        assert done.returncode == 0, done.stderr


def test_the_package_as_a_module_looks_into_the_current_folder_no_longer_than_python_itself(tmp_path: Path) -> None:
    for name in ("select", "json", "argparse"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('planted')")
    done = run(tmp_path, [sys.executable, "-m", "forensix", "models", "list"], tmp_path)
    assert done.returncode == 0 and "forensix-face" in done.stdout, done.stderr


@pytest.mark.slow
def test_the_service_its_workers_and_what_they_start(evidence: Path, tmp_path: Path) -> None:
    from forensix.client import Client

    with serving(tmp_path / "home", folder=evidence) as service:
        client = Client.sign_in(service.base_url, *service.account("anna"))
        report_id = client.create("forensic_analysis", evidence / "picture.jpg")
        answer = client.wait("forensic_analysis", report_id)
        client.close()
    assert answer.status == "completed" and answer.result is not None


@pytest.mark.slow
def test_a_dask_worker(evidence: Path, tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    from forensix import analyze_many

    with Cluster(tmp_path) as cluster:
        cluster.add(1, folder=evidence)
        with distributed.Client(cluster.address, set_as_default=False) as client:
            (report,) = analyze_many([evidence / "picture.jpg"], ["forensic_analysis"], executor=client)
    assert not report.failed


CELLS = (
    # What a user would write: a detector of their own in a module beside the notebook.
    "import own\nimport forensix",
    "made = forensix.evaluate(forensix.Manifest.read('manifest.csv'), 'ai_generated_image_detection',\n"
    "                         component=own.Own(), executor=1)\n"
    "print('scores', made.scores['score'].tolist(), made.failures.empty)",
    "reports = list(forensix.analyze_many(['picture.jpg'], ['ai_generated_image_detection'], executor=1,\n"
    "                                     image_detector=own.Own(), attribution='forensix-attribution'))\n"
    "print('report', reports[0].error, reports[0].outcomes['ai_generated_image_detection'].score)",
)
OWN = """
import helping

class Own:
    version = "1"

    def score(self, rgb):
        return helping.answer()
"""


@pytest.mark.slow
def test_a_detector_beside_a_notebook_reaches_the_workers_and_nothing_else_from_there_does(
    evidence: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "folder"
    shutil.copytree(evidence, folder, ignore=shutil.ignore_patterns("*.txt"))
    # The notebook itself is the user's, and Python lets it import what lies beside it.
    shutil.rmtree(folder / "forensix")
    for name in ("numpy", "brotli"):
        (folder / f"{name}.py").unlink()
    (folder / "own.py").write_text(OWN)
    (folder / "helping.py").write_text("def answer():\n    return 0.25\n")
    (folder / "manifest.csv").write_text("path,label\npicture.jpg,fake\n")
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, folder / "mine.ipynb")
    monkeypatch.setenv("FORENSIX_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
    done = papermill.execute_notebook(folder / "mine.ipynb", folder / "out.ipynb", cwd=folder, progress_bar=False)
    printed = "".join(out.get("text", "") for cell in done.cells for out in cell.outputs)
    assert "scores [0.25] True" in printed and "report None 0.25" in printed


@pytest.mark.slow
def test_a_notebook_of_ours_started_in_a_folder_of_evidence(evidence: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONPATH", raising=False)
    done = papermill.execute_notebook(
        REPOSITORY / "notebooks" / "forensic_analysis.ipynb",
        evidence / "out.ipynb",
        parameters={"source": "picture.jpg"},
        cwd=evidence,
        progress_bar=False,
    )
    assert "picture.jpg" in str([cell.outputs for cell in done.cells if cell.cell_type == "code"])


def test_plugins_of_the_current_folder_are_not_offered(evidence: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(evidence)
    for entry in ("", str(evidence)):
        monkeypatch.setattr(sys, "path", [entry, *sys.path])
        assert "planted" not in interpreter.entry_points("forensix.tasks")
        assert "forensic_analysis" in interpreter.entry_points("forensix.tasks")


def offer(folder: Path, package: str, group: str, name: str) -> None:
    metadata = folder / f"{package}-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(f"[{group}]\n{name} = {package}:it\n")


@pytest.mark.parametrize(
    ("packages", "used"), [(["another", "Forensix"], "Forensix"), (["one", "two"], "one"), (["one", "one"], "")]
)
def test_of_two_packages_with_one_name_forensix_or_the_first_is_used_and_both_are_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, packages: list[str], used: str
) -> None:
    for place, package in enumerate(packages):
        offer(tmp_path / str(place), package, "forensix.tasks", "voice_analysis")
    offered = interpreter._offered(tuple(str(tmp_path / str(place)) for place in range(len(packages))))
    assert offered["forensix.tasks"]["voice_analysis"].value == f"{used or 'one'}:it"
    if used:
        other = next(package for package in packages if package != used)
        both = f"{used} and {other} both offer voice_analysis in forensix.tasks: that of {used} is used"
        assert caplog.messages == [both.lower()]
    else:
        assert caplog.messages == []


def test_the_path_of_children_holds_no_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "with:colon").mkdir()
    monkeypatch.setenv("FORENSIX_HOME", "home")
    monkeypatch.setenv("FORENSIX_WHISPER", "small")
    remaining = [entry for entry in sys.path if os.path.isabs(entry)]
    monkeypatch.setattr(sys, "path", ["", ".", "sub", str(tmp_path), str(tmp_path / "with:colon"), *remaining])
    assert interpreter.import_path() == [str(tmp_path / "with:colon"), *remaining]
    built = interpreter.environment()
    assert built["PYTHONPATH"] == os.pathsep.join(remaining) and built["PYTHONSAFEPATH"] == "1"
    assert built["FORENSIX_HOME"] == str(tmp_path / "home")
    assert built["FORENSIX_WHISPER"] == "small", "a model of the hub, not a folder that is not there"
    (tmp_path / "small").mkdir()
    assert interpreter.environment()["FORENSIX_WHISPER"] == str(tmp_path / "small")


def test_a_working_folder_that_was_deleted_is_told_by_the_library_as_by_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = small.folder("images") / "photographed-0.jpg"
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(UsageError, match="the folder that you work in was deleted"):
        analyze(picture, tasks=["forensic_analysis"])
