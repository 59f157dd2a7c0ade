"""Webhooks: signed, to whoever is registered at that moment, until each has said yes; nobody waits for another."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from forensix.service.data.jobs import DELIVERIES, NONE_YET, RETRIES
from forensix.service.data.reports import report_bytes
from forensix.service.work.deliveries import Deliveries, backoff_s
from forensix.service.work.retry import Retry
from tests.service.running import Receiver, receiving, wait_until
from tests.service.workshop import Workshop, kill


@pytest.fixture
def workshop(tmp_path: Path) -> Iterator[Workshop]:
    actual = Workshop(tmp_path, webhook_backoff_s=100, webhook_timeout_s=1)
    yield actual
    actual.close()


def attempts(workshop: Workshop) -> list[tuple[str, int, str, str]]:
    """Return webhook, attempt, queue and status of the deliveries that wait, and forget about analyses."""
    jobs = [job for job in workshop.queued() if job.name == "deliver"]
    return [(job.input["args"][1], job.input["args"][2], str(job.queue_name), job.status) for job in jobs]


def run(workshop: Workshop, task_id: str, webhook_id: str, attempt: int) -> None:
    """Make an attempt in this process, as a worker does."""
    Deliveries(workshop.settings, workshop.database, workshop.jobs, Retry()).run(task_id, webhook_id, attempt)


def finished(workshop: Workshop) -> str:
    task_id = workshop.task()
    workshop.finish(task_id)
    return task_id


# One POST.


# One attempt.


def test_what_is_delivered_is_what_is_polled(workshop: Workshop, receiver: Receiver) -> None:
    webhook = workshop.webhook(receiver.url())
    task_id = finished(workshop)
    assert attempts(workshop) == [(webhook, 1, DELIVERIES, "ENQUEUED")]
    run(workshop, task_id, webhook, 1)
    (got,) = receiver.deliveries
    assert got.body == report_bytes(workshop.row(task_id))
    assert json.loads(got.body)["id"] == task_id
    assert got.headers["webhook-id"] == f"msg_{task_id}"
    delivery = workshop.delivery(task_id, webhook)
    assert delivery is not None and (delivery["attempts"], delivery["last_status"]) == (1, 200)
    assert delivery["delivered_at"] is not None


def test_an_attempt_that_is_made_again_after_success_sends_nothing(workshop: Workshop, receiver: Receiver) -> None:
    webhook = workshop.webhook(receiver.url())
    task_id = finished(workshop)
    for _ in range(3):
        run(workshop, task_id, webhook, 1)
    assert len(receiver.deliveries) == 1


def test_a_failed_attempt_queues_the_next_one(workshop: Workshop) -> None:
    with receiving([500]) as receiver:
        webhook = workshop.webhook(receiver.url())
        task_id = finished(workshop)
        run(workshop, task_id, webhook, 1)
    assert (webhook, 2, RETRIES, "DELAYED") in attempts(workshop)
    delivery = workshop.delivery(task_id, webhook)
    assert delivery is not None and (delivery["last_status"], delivery["delivered_at"]) == (500, None)


def test_ten_attempts_and_no_more(workshop: Workshop, caplog: pytest.LogCaptureFixture) -> None:
    webhook = workshop.webhook("http://127.0.0.1:1/")
    task_id = finished(workshop)
    for attempt in range(1, 11):
        assert "not tried again" not in caplog.text
        run(workshop, task_id, webhook, attempt)
    assert "WARNING" in caplog.text and "not delivered, and not tried again" in caplog.text
    assert sorted(attempt for _, attempt, *_ in attempts(workshop)) == list(range(1, 11))
    delivery = workshop.delivery(task_id, webhook)
    assert delivery is not None and (delivery["attempts"], delivery["delivered_at"]) == (10, None)


def test_the_wait_doubles_with_jitter_up_to_a_bound(workshop: Workshop) -> None:
    settings = workshop.settings.model_copy(update={"webhook_backoff_s": 10, "webhook_backoff_max_s": 3600})
    for attempt in range(1, 12):
        expected = min(10 * 2 ** (attempt - 1), 3600)
        waits = [backoff_s(settings, attempt) for _ in range(50)]
        assert 0.8 * expected <= min(waits) < max(waits) <= 1.2 * expected
    # A receiver that is down for an hour still gets its results.
    assert sum(0.8 * min(10 * 2 ** (attempt - 1), 3600) for attempt in range(1, 10)) > 3600


def test_no_url_counts_as_a_failed_attempt_and_a_late_one_is_found(workshop: Workshop, receiver: Receiver) -> None:
    task_id = finished(workshop)
    assert attempts(workshop) == [(NONE_YET, 2, RETRIES, "DELAYED")]
    run(workshop, task_id, NONE_YET, 2)
    assert attempts(workshop)[-1] == (NONE_YET, 3, RETRIES, "DELAYED")
    webhook = workshop.webhook(receiver.url())
    run(workshop, task_id, NONE_YET, 3)
    assert attempts(workshop)[-1] == (webhook, 3, DELIVERIES, "ENQUEUED")
    run(workshop, task_id, webhook, 3)
    assert len(receiver.deliveries) == 1


def test_after_ten_attempts_without_a_url_the_result_is_only_polled(
    workshop: Workshop, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="forensix")
    task_id = finished(workshop)
    for attempt in range(2, 11):
        run(workshop, task_id, NONE_YET, attempt)
    assert max(attempt for _, attempt, *_ in attempts(workshop)) == 10
    assert "deliver" not in caplog.text


def test_a_corrected_url_takes_over_from_the_wrong_one(workshop: Workshop, receiver: Receiver) -> None:
    wrong = workshop.webhook("http://127.0.0.1:1/")
    task_id = finished(workshop)
    run(workshop, task_id, wrong, 1)
    workshop.unregister(wrong)
    right = workshop.webhook(receiver.url())
    run(workshop, task_id, wrong, 2)
    assert (right, 2, DELIVERIES, "ENQUEUED") in attempts(workshop)
    run(workshop, task_id, right, 2)
    assert len(receiver.deliveries) == 1


def test_each_url_is_delivered_to_and_others_of_the_account_or_event_are_not(
    workshop: Workshop, receiver: Receiver
) -> None:
    workshop.account("other")
    mine = {workshop.webhook(receiver.url("/a")), workshop.webhook(receiver.url("/b"))}
    workshop.webhook(receiver.url("/other-account"), account="other")
    workshop.webhook(receiver.url("/other-event"), task="voice_analysis")
    task_id = finished(workshop)
    assert {webhook for webhook, *_ in attempts(workshop)} == mine
    for webhook in mine:
        run(workshop, task_id, webhook, 1)
    assert sorted(got.path for got in receiver.deliveries) == ["/a", "/b"]


def test_a_receiver_that_is_down_is_tried_in_the_slower_lane(workshop: Workshop) -> None:
    webhook = workshop.webhook("http://127.0.0.1:1/")
    first = finished(workshop)
    run(workshop, first, webhook, 1)
    finished(workshop)
    assert attempts(workshop)[-1] == (webhook, 1, RETRIES, "ENQUEUED")
    for attempt in range(2, 10):
        run(workshop, first, webhook, attempt)
    finished(workshop)
    assert attempts(workshop)[-1] == (webhook, 1, RETRIES, "ENQUEUED"), "one attempt is left"
    run(workshop, first, webhook, 10)
    # Given up on: that says nothing of the next.
    finished(workshop)
    assert attempts(workshop)[-1] == (webhook, 1, DELIVERIES, "ENQUEUED")


def test_a_task_that_was_deleted_is_not_delivered(workshop: Workshop, receiver: Receiver) -> None:
    webhook = workshop.webhook(receiver.url())
    task_id = finished(workshop)
    workshop.remove(task_id)
    run(workshop, task_id, webhook, 1)
    assert receiver.deliveries == []


# With a worker.


@pytest.mark.slow
def test_deliveries_by_a_worker(tmp_path: Path) -> None:
    """A receiver that is down then up, one that is slow, one registered late, and a worker that is killed meanwhile."""
    workshop = Workshop(tmp_path, webhook_backoff_s=0.5, webhook_timeout_s=4)
    with receiving([500, 503]) as flaky, receiving(delay_s=3) as slow, receiving() as quick, receiving() as late:
        workshop.account("berta")
        names = ("flaky", "slow", "quick")
        flaky_id, _, _ = (workshop.webhook(r.url(f"/{n}")) for n, r in zip(names, (flaky, slow, quick), strict=True))
        with workshop.working() as (worker,):
            first = workshop.task(b"not a picture")
            unheard = workshop.task(b"not a picture", account="berta")
            (row, _) = workshop.wait(first, unheard)
            (got,) = quick.wait(1, timeout_s=10)
            assert got.at_s - row["finished_at"] < 1
            assert json.loads(got.body)["status"] == "failed"
            assert slow.wait(1)[0].at_s - row["finished_at"] < 2
            flaky.wait(2)
            kill(worker)
        with workshop.working():
            workshop.webhook(late.url("/late"), account="berta")
            flaky.wait(3)
            wait_until(lambda: delivered(workshop, first, flaky_id), 60, "the delivery to be noted", log=workshop.log)
            (fields,) = late.wait(1)
            assert json.loads(fields.body)["id"] == unheard
            slow.wait(1)
    ids = {got.headers["webhook-id"] for r in (flaky, slow, quick) for got in r.deliveries}
    assert ids == {f"msg_{first}"}
    workshop.close()


def delivered(workshop: Workshop, task_id: str, webhook_id: str) -> bool:
    delivery = workshop.delivery(task_id, webhook_id)
    return delivery is not None and delivery["delivered_at"] is not None
