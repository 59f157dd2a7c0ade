"""What operators ask: health, readiness, metrics."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
import sqlalchemy as sa

from forensix.service.api import probe
from tests.service.in_process import JPEG, Api, refused


def test_health_and_readiness(api: Api) -> None:
    for path in ("/healthz", "/readyz"):
        answer = api.client.get(path)
        assert (answer.status_code, answer.json()["success"]) == (200, True)
        looked = api.client.head(path)
        assert (looked.status_code, looked.content) == (200, b"")


def test_a_head_is_answered_as_a_get_without_the_body(api: Api) -> None:
    account = api.account()
    for path in ("/metrics", "/openapi.json", "/auth/tokens", "/webhooks/voice_analysis_complete", "/tasks/x", "/"):
        auth = account.auth if path == "/auth/tokens" else None
        headers = {} if auth else account.headers
        full, head = (api.client.request(method, path, auth=auth, headers=headers) for method in ("GET", "HEAD"))
        assert (head.status_code, head.content) == (full.status_code, b"")
        if path != "/metrics":
            assert head.headers["content-length"] == full.headers["content-length"]
    assert all("head" not in operations for operations in api.client.get("/openapi.json").json()["paths"].values())


def test_not_ready_without_the_database(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone() -> None:
        raise sa.exc.OperationalError("BEGIN", {}, Exception("gone"))

    monkeypatch.setattr(probe, "FRESH_S", -1)
    monkeypatch.setattr(api.context.database, "read", gone)
    refused(api.client.get("/readyz"), 503, "unavailable")
    assert api.client.get("/healthz").status_code == 200


def test_not_ready_without_the_storage(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "FRESH_S", -1)
    monkeypatch.setattr(api.context.storage, "ready", lambda: False)
    assert "storage" in refused(api.client.get("/readyz"), 503, "unavailable")["error"]


def test_storage_is_asked_in_its_own_threads(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[str] = []
    monkeypatch.setattr(probe, "FRESH_S", -1)
    monkeypatch.setattr(api.context.storage, "ready", lambda: bool(threads.append(threading.current_thread().name)))
    refused(api.client.get("/readyz"), 503, "unavailable")
    assert threads[0].startswith("forensix-storage"), "those who only read do not wait for it"


def test_readiness_is_looked_at_once_a_moment_however_many_ask(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []

    def ready() -> bool:
        asked.append(time.monotonic())
        time.sleep(0.3)
        return True

    # Longer than asking takes on a busy machine.
    monkeypatch.setattr(probe, "FRESH_S", 4)
    monkeypatch.setattr(api.context.storage, "ready", ready)
    time.sleep(probe.FRESH_S + 0.1)
    for n_looks in (1, 2):
        assert [answer.status_code for answer in ask_together(api, 20)] == [200] * 20
        assert api.client.get("/readyz").status_code == 200
        assert len(asked) == n_looks
        time.sleep(probe.FRESH_S + 0.1)


def test_storage_that_hangs_is_asked_once(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    go_on, asked = threading.Event(), []

    def ready() -> bool:
        asked.append(None)
        return go_on.wait(20)

    monkeypatch.setattr(api.context.storage, "ready", ready)
    monkeypatch.setattr(probe, "FRESH_S", -1)
    monkeypatch.setattr(probe, "PATIENCE_S", 0.2)
    try:
        for _ in range(3):
            refused(api.client.get("/readyz"), 503, "unavailable")
        assert len(asked) == 1
    finally:
        go_on.set()


def ask_together(api: Api, n: int) -> list[httpx.Response]:
    with ThreadPoolExecutor(n) as pool:
        return list(pool.map(lambda _: api.client.get("/readyz"), range(n)))


def test_metrics(api: Api) -> None:
    account = api.account()
    account.created()
    account.create("voice_analysis")
    api.client.get("/tasks/face_manipulation/some-secret-id")
    api.client.request("BREW", "/healthz")
    page = api.client.get("/metrics")
    assert page.headers["content-type"].startswith("text/plain")
    text = page.text
    assert 'forensix_tasks_created_total{task="face_manipulation"} 1.0' in text
    assert f"forensix_upload_bytes_total {float(len(JPEG))}" in text
    assert 'forensix_refusals_total{code="unsupported_media"} 1.0' in text
    assert 'forensix_requests_total{method="POST",route="/tasks/face_manipulation",status="200"} 1.0' in text
    assert 'route="/tasks/face_manipulation/{id}"' in text
    assert 'forensix_tasks{status="in_progress"} 1.0' in text
    assert "forensix_queue_waiting 1.0" in text
    assert "some-secret-id" not in text
    assert "BREW" not in text
    assert account.id not in text
