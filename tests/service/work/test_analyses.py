"""Tasks that no worker can analyse any more: they fail with a sentence, and are not tried for ever."""

import errno
import json
from collections.abc import Callable
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, cast

import pytest
import sqlalchemy as sa

from forensix.service.data.reports import report_bytes
from forensix.service.work.analyses import Analyses
from forensix.service.work.analyst import Analyst, Stopped
from forensix.service.work.retry import Away, Retry, is_passing
from forensix.tasks import catalogue
from tests.service.workshop import Workshop


class Never:
    """An analyst that must not be asked."""

    def analyse(self, request: Any) -> None:
        raise AssertionError(request)


@pytest.mark.parametrize("is_named", [True, False])
def test_a_task_of_a_package_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_named: bool) -> None:
    offered = catalogue.entries()
    if is_named:
        offered = offered | {"lost": EntryPoint("lost", "no_such_package:Lost", "forensix.tasks")}
    monkeypatch.setattr(catalogue, "entries", lambda: offered)
    workshop = Workshop(tmp_path)
    try:
        task_id = workshop.task(task="lost")
        analyst = cast(Analyst, Never())
        parts = (workshop.settings, workshop.database, workshop.jobs, workshop.storage, analyst, Retry(), tmp_path)
        Analyses(*parts).run(task_id)
        row = workshop.row(task_id)
    finally:
        workshop.close()
    assert (row["status"], row["error_code"]) == ("failed", "task_gone")
    answer = json.loads(report_bytes(row))
    assert answer["event_type"] == "lost_complete"
    assert answer["error"].startswith("this analysis is no longer to be had here")


def test_a_limit_on_the_size_of_files_is_not_waited_for() -> None:
    assert is_passing(OSError(errno.ENOSPC, "full")) and not is_passing(OSError(errno.EFBIG, "too large"))


def test_what_will_pass_is_tried_until_it_has_or_the_worker_stops() -> None:
    locked = sa.exc.OperationalError("SELECT 1", None, Exception("database is locked"))

    def ends_with(*ends: Exception | str) -> Callable[[], str]:
        left = iter(ends)

        def attempt() -> str:
            end = next(left)
            if isinstance(end, Exception):
                raise end
            return end

        return attempt

    retry = Retry()
    assert retry.insist(ends_with(locked, Away("the storage is away"), "done")) == "done"
    with pytest.raises(sa.exc.IntegrityError):
        retry.insist(ends_with(sa.exc.IntegrityError("INSERT", None, Exception("not unique")), "done"))
    retry.stopping.set()
    with pytest.raises(Stopped):
        retry.insist(ends_with(locked, "done"))
    assert retry.insist(ends_with(locked, "done"), even_when_stopping=True) == "done", "what happened is written down"
