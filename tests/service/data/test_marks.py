"""Storage that does not go with the database: whoever has it is told, and no task fails for it."""

import logging
from pathlib import Path

import pytest

from forensix.errors import ForensixError
from forensix.service.data import marks
from forensix.service.data.storage import Storage
from forensix.service.work import analyses
from forensix.service.work.analyses import Analyses
from forensix.service.work.analyst import Answer, Stopped
from forensix.service.work.retry import Retry
from forensix.service.work.worker import Worker
from tests.service.workshop import Workshop


@pytest.fixture
def other(tmp_path: Path) -> Storage:
    """Another folder, as an empty mount point is."""
    return Storage(f"file://{tmp_path}/other")


def test_storage_is_known_by_its_mark(
    workshop: Workshop, other: Storage, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    assert marks.is_there(workshop.database, other), "no API has taken anything yet"
    for _ in range(2):
        marks.leave(workshop.database, workshop.storage)
    assert marks.is_there(workshop.database, workshop.storage)
    assert not marks.is_there(workshop.database, other)
    assert list(workshop.storage.listing()) == [], "retention does not take it for an upload"
    assert not caplog.records
    # The operator has moved the uploads, or pointed one of two hosts to the wrong place: the log says so.
    with caplog.at_level(logging.WARNING):
        marks.leave(workshop.database, other)
    assert "not the one that this database had" in caplog.text
    assert marks.is_there(workshop.database, other)


def test_a_full_disk_is_no_reason_not_to_begin(workshop: Workshop, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_storage: Storage, _mark: str) -> None:
        raise OSError("full")

    monkeypatch.setattr(Storage, "leave_mark", full)
    marks.leave(workshop.database, workshop.storage)
    assert marks.is_there(workshop.database, workshop.storage)


def test_a_worker_with_other_storage_than_the_api_does_not_begin(workshop: Workshop, tmp_path: Path) -> None:
    marks.leave(workshop.database, workshop.storage)
    settings = workshop.settings.model_copy(update={"storage_url": f"file://{tmp_path}/other"})
    with pytest.raises(ForensixError, match="FORENSIX_STORAGE_URL names storage that is not that of this database"):
        Worker(settings, {})


def test_a_task_waits_for_storage_that_is_not_mounted(
    workshop: Workshop, other: Storage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Never:
        def analyse(self, request: object) -> Answer:
            raise AssertionError(request)

    def run() -> None:
        Analyses(*shared, other, Never(), retry, workshop.home).run(task_id)  # type: ignore[arg-type]

    marks.leave(workshop.database, workshop.storage)
    task_id, retry = workshop.task(), Retry()
    shared = workshop.settings, workshop.database, workshop.jobs
    monkeypatch.setattr(retry.stopping, "wait", lambda _s: True)
    with pytest.raises(Stopped):
        run()
    assert (workshop.row(task_id)["status"], workshop.row(task_id)["attempts"]) == ("in_progress", 0)
    assert caplog.messages == ["a job cannot go on (the storage is not that of the database); trying again"]
    monkeypatch.setattr(analyses, "STORAGE_S", -1.0)
    run()
    assert workshop.row(task_id)["error_code"] == "upload_gone"
