"""Webhooks: signed, to whoever is registered at that moment, until each has said yes; nobody waits for another."""

import base64
import hashlib
import hmac
import json
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from forensix.service.data.jobs import DELIVERIES, NONE_YET, RETRIES
from forensix.service.data.reports import report_bytes
from forensix.service.work import posting
from forensix.service.work.deliveries import Deliveries, backoff_s
from forensix.service.work.retry import Retry
from tests.service.running import Receiver, receiving, wait_until
from tests.service.workshop import Workshop, kill

LOOPBACK = ("127.0.0.1",)
EXAMPLE = "v1,T49pOLi9Y59Pd0W8q5zvP9qTIc61pr4XaCUOi3i6Wj4="


@pytest.fixture
def workshop(tmp_path: Path) -> Iterator[Workshop]:
    actual = Workshop(tmp_path, webhook_backoff_s=100, webhook_timeout_s=1)
    yield actual
    actual.close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as actual:
        yield actual


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


def send(url: str, **changes: Any) -> int:
    options: dict[str, Any] = {"message_id": "msg_1", "secret": "whsec_c2VjcmV0", "timeout_s": 1}
    return posting.post(url, b"{}", **(options | {"private_hosts": LOOPBACK} | changes))


# One POST.


def test_the_signature_is_that_of_the_convention(receiver: Receiver) -> None:
    secret = "whsec_" + base64.b64encode(b"sixteen bytes or more").decode()
    before = int(time.time())
    assert send(receiver.url("/hook?x=1"), secret=secret, message_id="msg_abc") == 200
    (got,) = receiver.deliveries
    assert got.path == "/hook?x=1"
    assert got.headers["content-type"] == "application/json"
    assert got.headers["webhook-id"] == "msg_abc"
    timestamp = got.headers["webhook-timestamp"]
    assert before <= int(timestamp) <= before + 5
    signed = f"msg_abc.{timestamp}.".encode() + got.body
    expected = hmac.new(b"sixteen bytes or more", signed, hashlib.sha256).digest()
    assert got.headers["webhook-signature"] == "v1," + base64.b64encode(expected).decode()


def test_the_signature_agrees_with_openssl() -> None:
    # printf 'msg_1.1614265330.{"test": 2432232314}' | openssl dgst -sha256 -hmac secret -binary
    signature = posting.sign("whsec_c2VjcmV0", "msg_1", 1614265330, b'{"test": 2432232314}')
    assert signature == EXAMPLE


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_redirects_are_not_followed(status: int) -> None:
    with receiving([status]) as receiver:
        assert send(receiver.url()) == status
        time.sleep(0.1)
        assert [got.path for got in receiver.deliveries] == ["/"]


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f.1", "127.1", "[::ffff:127.0.0.1]", "0.0.0.0"]
)
def test_private_addresses_are_not_called(receiver: Receiver, host: str) -> None:
    with pytest.raises(posting.NoAnswer):
        send(f"http://{host}:{receiver.port}/", private_hosts=())
    assert receiver.deliveries == []


def test_a_name_that_changes_its_address_after_the_check_is_not_followed(
    receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = iter(["93.184.216.34", "127.0.0.1", "127.0.0.1"])
    connected: list[str] = []

    def resolve(host: str, port: int, *_: object, **__: object) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(answers), port))]

    def connect(address: tuple[str, int], *_: object, **__: object) -> socket.socket:
        connected.append(address[0])
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(posting.NoAnswer):
        send(f"http://rebinding.example:{receiver.port}/", private_hosts=())
    assert connected == ["93.184.216.34"]
    assert receiver.deliveries == []


def test_a_certificate_of_nobody_is_not_trusted(tmp_path: Path) -> None:
    from tests.service.certificates import self_signed

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(self_signed(tmp_path, "127.0.0.1"))
    came: list[bytes] = []

    def serve(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        try:
            with context.wrap_socket(connection, server_side=True) as secured:
                came.append(secured.recv(100))
        except OSError:
            return

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, args=(listening,), daemon=True).start()
        with pytest.raises(posting.NoAnswer):
            send(f"https://127.0.0.1:{listening.getsockname()[1]}/")
    assert came == []


@pytest.mark.parametrize("manner", ["silent", "dripping", "reading slowly"])
def test_slow_receivers_are_left_in_time(manner: str) -> None:
    over = threading.Event()

    def serve(listening: socket.socket) -> None:
        connection, _ = listening.accept()
        with connection:
            while not over.wait(0.05):
                try:
                    if manner == "dripping":
                        connection.sendall(b"H")
                    if manner == "reading slowly":
                        connection.recv(1)
                except OSError:
                    return

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, args=(listening,), daemon=True).start()
        begun = time.monotonic()
        with pytest.raises(posting.NoAnswer):
            posting.post(
                f"http://127.0.0.1:{listening.getsockname()[1]}/",
                b"x" * (32 << 20),
                message_id="msg_1",
                secret="whsec_c2VjcmV0",
                timeout_s=1,
                private_hosts=LOOPBACK,
            )
        assert time.monotonic() - begun < 4
        over.set()


def test_an_endless_answer_is_not_read(receiver: Receiver) -> None:
    sent = 0

    def serve(listening: socket.socket) -> None:
        nonlocal sent
        connection, _ = listening.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            try:
                while True:
                    connection.sendall(b"1000\r\n" + b"x" * 4096 + b"\r\n")
                    sent += 4096
            except OSError:
                return

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=serve, args=(listening,), daemon=True)
        thread.start()
        begun = time.monotonic()
        assert send(f"http://127.0.0.1:{listening.getsockname()[1]}/") == 200
        assert time.monotonic() - begun < 0.9
        thread.join(5)
    # What the kernel buffers, no more.
    assert sent < 32 << 20


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/", "http://", "not a url", "http://127.0.0.1:99999/", "file:///etc"])
def test_what_is_no_url_is_no_answer(url: str) -> None:
    with pytest.raises(posting.NoAnswer):
        send(url)


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


def test_ten_attempts_and_no_more(workshop: Workshop) -> None:
    webhook = workshop.webhook("http://127.0.0.1:1/")
    task_id = finished(workshop)
    for attempt in range(1, 11):
        run(workshop, task_id, webhook, attempt)
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


def test_after_ten_attempts_without_a_url_the_result_is_only_polled(workshop: Workshop) -> None:
    task_id = finished(workshop)
    for attempt in range(2, 11):
        run(workshop, task_id, NONE_YET, attempt)
    assert max(attempt for _, attempt, *_ in attempts(workshop)) == 10


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
    for attempt in range(2, 11):
        run(workshop, first, webhook, attempt)
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
            wait_until(lambda: delivered(workshop, first, flaky_id), 10, "the delivery to be noted", log=workshop.log)
            (fields,) = late.wait(1)
            assert json.loads(fields.body)["id"] == unheard
            slow.wait(1)
    ids = {got.headers["webhook-id"] for r in (flaky, slow, quick) for got in r.deliveries}
    assert ids == {f"msg_{first}"}
    workshop.close()


def delivered(workshop: Workshop, task_id: str, webhook_id: str) -> bool:
    delivery = workshop.delivery(task_id, webhook_id)
    return delivery is not None and delivery["delivered_at"] is not None
