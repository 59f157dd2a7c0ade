"""The notebook of the service's client takes a service that runs; ``tests/test_notebooks.py`` has it start its own."""

from pathlib import Path
from typing import Any

import papermill
import pytest

from forensix.client import Client
from tests.service.running import Service

NOTEBOOK = Path(__file__).resolve().parents[2] / "notebooks" / "service_client.ipynb"


def run(folder: Path, **parameters: str) -> str:
    done = papermill.execute_notebook(
        NOTEBOOK, folder / "out.ipynb", parameters=parameters, cwd=folder, progress_bar=False
    )
    outputs: list[Any] = [output for cell in done.cells for output in cell.get("outputs", ())]
    return "".join(str(output.get("data") or output.get("text")) for output in outputs)


@pytest.mark.slow
def test_it_takes_a_service_that_runs(service: Service, tmp_path: Path) -> None:
    name, password = service.account("emma")
    client = Client.sign_in(service.base_url, name, password)
    others = client.register_webhook("forensic_analysis_complete", "https://127.0.0.1:9/others")
    output = run(tmp_path, base_url=service.base_url, name=name, password=password)
    assert output.count("('completed'") == 4
    assert service.process.poll() is None and "the service ended" not in output
    assert [webhook.id for webhook in client.webhooks("forensic_analysis_complete")] == [others]
