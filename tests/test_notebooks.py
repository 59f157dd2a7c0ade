"""Every notebook runs from top to bottom, with its defaults and with parameters, and is committed without outputs."""

import json
from pathlib import Path

import papermill
import pytest

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def outputs(name: str, folder: Path, **parameters: object) -> list[dict[str, object]]:
    """Run a notebook in ``folder`` and return the outputs of its cells."""
    done = papermill.execute_notebook(
        FOLDER / f"{name}.ipynb", folder / "out.ipynb", parameters=parameters, cwd=folder, progress_bar=False
    )
    return [output for cell in done.cells if cell.cell_type == "code" for output in cell.outputs]


def test_there_are_notebooks() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["forensic_analysis", "quickstart", "service_client"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_committed_without_outputs(path: Path) -> None:
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert cells
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)


def pages(shown: list[dict[str, object]]) -> list[str]:
    return [output["data"]["text/html"] for output in shown if "text/html" in output.get("data", {})]


@pytest.mark.slow
def test_quickstart_draws_reports(tmp_path: Path) -> None:
    found = pages(outputs("quickstart", tmp_path))
    assert any("Face manipulation" in page and "portrait.jpg" in page for page in found)
    assert any("absent.jpg" in page for page in found)


@pytest.mark.slow
def test_quickstart_takes_a_file_of_the_users_own(tmp_path: Path) -> None:
    from forensix.demo import make_document

    (document,) = make_document(tmp_path)
    assert "edited.pdf" in str(outputs("quickstart", tmp_path, path=str(document), explain=False))


@pytest.mark.slow
def test_forensic_analysis_leads_from_claims_to_bytes(tmp_path: Path) -> None:
    shown = outputs("forensic_analysis", tmp_path)
    found = pages(shown)
    report = found[0]
    for words in (
        "An embedded preview shows another picture",
        "An area of the picture occurs twice",
        "Map of the file",
    ):
        assert words in report
    printed = "".join(output["text"] for output in shown if output["output_type"] == "stream")
    assert "exif.Software = GIMP 2.10.36" in printed and "47 49 4d 50" in printed
    assert any("bytes written" in page and "the first version" in page for page in found)
    for words in ("Amount due: 100.00", "Digital silence inside the recording", "Damaged: "):
        assert any(words in page for page in found), words
    assert "report.html" in printed and "4 inputs" in printed


@pytest.mark.slow
def test_forensic_analysis_takes_a_file_of_the_users_own(tmp_path: Path) -> None:
    path = tmp_path / "cut.wav"
    path.write_bytes(b"RIFF\xff\xff\x00\x00WAVEfmt ")
    shown = pages(outputs("forensic_analysis", tmp_path, source=str(path), additional_info="case 17"))
    assert "cut.wav" in shown[0] and "case 17" in shown[0]


@pytest.mark.slow
def test_service_client_walks_the_whole_flow(tmp_path: Path) -> None:
    shown = outputs("service_client", tmp_path)
    text = "".join(output["data"].get("text/plain", "") for output in shown if "data" in output)
    for task in ("face_manipulation", "ai_generated_image_detection", "voice_analysis", "forensic_analysis"):
        assert f"'{task}': ('completed'" in text.replace("\n", " ")
    assert any("Voice" in page for page in pages(shown))
