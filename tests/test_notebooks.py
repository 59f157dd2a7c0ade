"""Every notebook runs from top to bottom, with its defaults and with parameters, and is committed without outputs."""

import json
from pathlib import Path

import papermill
import pytest

NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "notebooks").glob("*.ipynb"))


def test_there_are_notebooks() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["quickstart"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_committed_without_outputs(path: Path) -> None:
    cells = [cell for cell in json.loads(path.read_text(encoding="utf-8"))["cells"] if cell["cell_type"] == "code"]
    assert cells
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)


@pytest.mark.slow
def test_quickstart_draws_reports(tmp_path: Path) -> None:
    done = papermill.execute_notebook(NOTEBOOKS[0], tmp_path / "out.ipynb", cwd=tmp_path, progress_bar=False)
    outputs = [output for cell in done.cells if cell.cell_type == "code" for output in cell.outputs]
    pages = [output["data"]["text/html"] for output in outputs if "text/html" in output.get("data", {})]
    assert any("Face manipulation" in page and "portrait.jpg" in page for page in pages)
    assert any("absent.jpg" in page for page in pages)


@pytest.mark.slow
def test_quickstart_takes_a_file_of_the_users_own(tmp_path: Path) -> None:
    from forensix.demo import make_document

    (document,) = make_document(tmp_path)
    parameters = {"path": str(document), "explain": False}
    done = papermill.execute_notebook(
        NOTEBOOKS[0], tmp_path / "out.ipynb", parameters=parameters, cwd=tmp_path, progress_bar=False
    )
    text = "".join(str(output.get("data")) for cell in done.cells for output in cell.get("outputs", ()))
    assert "edited.pdf" in text
