"""One worker: a process that takes one analysis at a time from the queue, delivers results, and sees to the rest.

The process itself stays small and never looks at media: that is the analyst's. Told to stop, it takes nothing more on,
lets the analysis finish for a while and then gives it back; killed, its jobs are taken over by another worker, or by
itself when it is started again.
"""

import contextlib
import logging
import os
import random
import threading
import time
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

import sqlalchemy as sa

from forensix import machine
from forensix.errors import ForensixError, first_line
from forensix.service.data import jobs, marks
from forensix.service.data.database import Database
from forensix.service.data.jobs import Jobs
from forensix.service.data.storage import Storage
from forensix.service.logs import Seldom
from forensix.service.settings import Settings
from forensix.service.stopping import stop_at_signals
from forensix.service.work import leases, retention
from forensix.service.work.analyses import Analyses
from forensix.service.work.analyst import Analyst, Stopped
from forensix.service.work.deliveries import Deliveries
from forensix.service.work.retry import Retry
from forensix.service.work.scratch import Scratch

_LOG = logging.getLogger(__name__)
# For giving back, after the time for finishing.
_LAST_S = 2.0


class Worker:
    """Everything that one worker process holds; ``chosen`` goes with every analysis."""

    def __init__(self, settings: Settings, chosen: Mapping[str, Any]) -> None:
        self._settings = settings
        self._retry = Retry()
        self._database = Database(settings)
        self._storage = Storage(settings.storage_url, sync=settings.sync)
        if not self._retry.insist(lambda: marks.is_there(self._database, self._storage)):
            self._database.close()
            raise ForensixError(
                "FORENSIX_STORAGE_URL names storage that is not that of this database: every host needs the same"
            )
        self._jobs = Jobs(settings, self._database)
        self._lease = self._retry.insist(lambda: leases.take_lease(self._database))
        self._scratch = Scratch(settings.home / "scratch", self._lease.id)
        folder = self._scratch.folder
        # Workers that `serve` starts share the cores; how many stand beside another one is not known.
        threads = max(1, machine.cores() // settings.workers) if settings.workers else 1
        self._analyst = Analyst(
            folder, time_s=settings.analysis_s, memory_bytes=settings.analysis_memory_bytes, threads=threads
        )
        self._analyses = Analyses(
            settings, self._database, self._jobs, self._storage, self._analyst, self._retry, folder, chosen
        )
        self._deliveries = Deliveries(settings, self._database, self._jobs, self._retry)
        self._watch = leases.Watch(self._database, self._jobs, self._lease)
        self._running: set[str] = set()
        self._stopping = threading.Event()

    def run(self) -> None:
        """Work until told to stop."""
        stop_at_signals(self._stop)
        self._launch()
        threading.Thread(target=self._beat, name="forensix-beat", daemon=True).start()
        threading.Thread(target=self._retain, name="forensix-retention", daemon=True).start()
        threading.Thread(target=self._analyst.warm, name="forensix-warm", daemon=True).start()
        _LOG.info("worker started", extra={"fields": {"worker": self._lease.id}})
        self._stopping.wait()
        self._wind_down()

    def _launch(self) -> None:
        from dbos import DBOS, DBOSPortableJSONSerializer

        own = logging.getLogger("dbos")
        # DBOS writes to a handler of its own unless there is one.
        own.addHandler(logging.NullHandler())
        # While the database is away it says so a dozen times a second.
        own.addFilter(Seldom())

        def analyse(task_id: str) -> None:
            self._job(task_id, jobs.ANALYSES, lambda: self._analyses.run(task_id))

        def deliver(task_id: str, webhook_id: str, attempt: int) -> None:
            job_id = jobs.delivery_id(task_id, webhook_id, attempt)
            self._job(job_id, jobs.RETRIES, lambda: self._deliveries.run(task_id, webhook_id, attempt))

        DBOS.workflow(name=jobs.ANALYSE, max_recovery_attempts=None)(analyse)
        DBOS.workflow(name=jobs.DELIVER, max_recovery_attempts=None)(deliver)
        DBOS(
            config={
                "name": jobs.APPLICATION,
                "system_database_url": self._settings.connection_url,
                "executor_id": self._lease.id,
                "application_version": jobs.VERSION,
                "serializer": DBOSPortableJSONSerializer(),
                "enable_otlp": False,
                "run_migrations": False,
                "sys_db_pool_size": 10,
                # It sets the level of its own logger by this.
                "log_level": logging.getLevelName(max(logging.getLogger().level, logging.WARNING)),
            }
        )
        DBOS.listen_queues(list(jobs.QUEUES))
        DBOS.launch()
        jobs.register_queues(self._settings)

    def _job(self, job_id: str, queue: str, body: Callable[[], None]) -> None:
        self._running.add(job_id)
        try:
            if self._retry.stopping.is_set():
                raise Stopped
            body()
        except Stopped:
            # Given back, so that what DBOS makes of our return no longer counts.
            with contextlib.suppress(Stopped):
                self._retry.insist(lambda: self._jobs.give_back(job_id, queue), even_when_stopping=True)
        finally:
            self._running.discard(job_id)

    def _beat(self) -> None:
        while not self._retry.over.wait(leases.BEAT_S):
            try:
                self._watch.beat()
                self._watch.look()
            except leases.Replaced:
                _LOG.error(
                    "another worker took this one for dead; ending", extra={"fields": {"worker": self._lease.id}}
                )
                self._analyst.stop()
                os._exit(os.EX_TEMPFAIL)
            except sa.exc.SQLAlchemyError as error:
                _LOG.warning("no sign of life: %s", first_line(error))
                self._watch.forget()
            except Exception:
                _LOG.exception("the watch over other workers failed")

    def _retain(self) -> None:
        self._clear()
        while not self._retry.stopping.wait(retention.EVERY_S * random.uniform(0.1, 0.3)):
            try:
                if retention.take_turn(self._database):
                    retention.make_pass(self._settings, self._database, self._jobs, self._storage)
            except sa.exc.SQLAlchemyError as error:
                _LOG.warning("no retention: %s", first_line(error))
            # Each worker for itself: others may have a home of their own.
            self._clear()

    def _clear(self) -> None:
        try:
            self._scratch.clear(self._database)
        except (sa.exc.SQLAlchemyError, OSError) as error:
            _LOG.warning("what killed workers left was not looked for: %s", first_line(error))

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self._stopping.set()

    def _wind_down(self) -> None:
        """Take nothing more on, finish or give back what is there, and end the process."""
        from dbos import DBOS

        _LOG.info("worker stopping", extra={"fields": {"worker": self._lease.id, "jobs": len(self._running)}})
        self._retry.stopping.set()
        # Stops taking jobs on at once, then waits for those that run.
        patience_s = int(self._settings.shutdown_s + 2 * _LAST_S)
        ending = threading.Thread(
            target=DBOS.destroy, kwargs={"workflow_completion_timeout_sec": patience_s}, daemon=True
        )
        ending.start()
        self._wait_for_jobs(self._settings.shutdown_s)
        self._analyst.stop()
        self._wait_for_jobs(_LAST_S)
        self._retry.over.set()
        ending.join(_LAST_S)
        try:
            leases.give_back_all(self._jobs, self._lease)
            leases.leave(self._database, self._lease)
        except sa.exc.SQLAlchemyError as error:
            _LOG.warning("left without a word, which the others will notice: %s", first_line(error))
        self._analyst.close()
        self._scratch.close()
        _LOG.info("worker stopped", extra={"fields": {"worker": self._lease.id}})
        logging.shutdown()
        # Threads of jobs that were given back may wait for ever.
        os._exit(0)

    def _wait_for_jobs(self, at_most_s: float) -> None:
        end = time.monotonic() + at_most_s
        while self._running and time.monotonic() < end:
            time.sleep(0.05)


def run(settings: Settings, chosen: Mapping[str, Any]) -> int:
    """Be a worker until told to stop, on a database that has been migrated; ends the process.

    ``chosen`` are the components that analyses use, by slot, and ``device`` and ``batch_size`` of their networks.

    Raises
    ------
    ForensixError
        The database or the storage cannot be used.
    """
    Worker(settings, chosen).run()
    return 0
