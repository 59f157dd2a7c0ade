"""What Prometheus reads: counts of this process, and the state of the queue as the database tells it when asked."""

import time

import sqlalchemy as sa
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, disable_created_metrics, generate_latest

from forensix.service.data.database import SILENT_S, Database, deliveries, tasks, workers

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Metrics:
    """Counters and gauges of one API process, on a registry of their own."""

    def __init__(self) -> None:
        # Series of when each counter began: as many again, for nothing.
        disable_created_metrics()  # type: ignore[no-untyped-call]
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "forensix_requests", "Requests answered", ["method", "route", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "forensix_request_seconds", "Time to answer", ["route"], buckets=_SECONDS, registry=self.registry
        )
        self.created = Counter("forensix_tasks_created", "Tasks accepted", ["task"], registry=self.registry)
        self.upload_bytes = Counter("forensix_upload_bytes", "Bytes of accepted uploads", registry=self.registry)
        self.refused = Counter("forensix_refusals", "Requests refused, by code", ["code"], registry=self.registry)
        self._tasks = Gauge("forensix_tasks", "Tasks kept, by status", ["status"], registry=self.registry)
        self._waiting = Gauge("forensix_queue_waiting", "Tasks that no worker has started", registry=self.registry)
        self._oldest = Gauge(
            "forensix_queue_oldest_seconds", "How long the oldest of them has waited", registry=self.registry
        )
        self._workers = Gauge("forensix_workers", "Workers that gave a sign of life lately", registry=self.registry)
        self._deliveries = Gauge(
            "forensix_deliveries", "Webhook deliveries, by outcome", ["outcome"], registry=self.registry
        )

    def page(self, database: Database) -> bytes:
        """Return the page that Prometheus reads; blocks."""
        now = time.time()
        waiting = sa.select(sa.func.count(), sa.func.min(tasks.c.created_at)).where(
            tasks.c.status == "in_progress", tasks.c.started_at.is_(None)
        )
        with database.read() as connection:
            by_status = sa.select(tasks.c.status, sa.func.count()).group_by(tasks.c.status)
            counts = {status: n for status, n in connection.execute(by_status)}
            n_waiting, oldest = connection.execute(waiting).one()
            alive = sa.select(sa.func.count()).where(workers.c.heartbeat_at > now - SILENT_S)
            n_workers = connection.scalar(alive)
            delivered = sa.select(sa.func.count(), sa.func.count(deliveries.c.delivered_at))
            n_deliveries, n_delivered = connection.execute(delivered.select_from(deliveries)).one()
        for status in ("in_progress", "completed", "failed"):
            self._tasks.labels(status).set(counts.get(status, 0))
        self._waiting.set(n_waiting)
        self._oldest.set(max(0.0, now - oldest) if oldest else 0.0)
        self._workers.set(n_workers or 0)
        self._deliveries.labels("delivered").set(n_delivered)
        self._deliveries.labels("open").set(n_deliveries - n_delivered)
        return generate_latest(self.registry)
