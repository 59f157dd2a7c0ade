"""Creating tasks and polling them: fields, defaults, encodings, and who may see what."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from forensix import schema
from forensix.service.data.database import tasks
from forensix.tasks.catalogue import describe
from tests.service.in_process import JPEG, MP4, PDF, PNG, WAV, Account, Api, refused, running_api
from tests.service.specification import TASKS

TAKES = {
    "face_manipulation": {"a.jpg": JPEG, "a.mp4": MP4},
    "ai_generated_image_detection": {"a.png": PNG, "a.mp4": MP4},
    "voice_analysis": {"a.wav": WAV, "a.mp4": MP4},
    "forensic_analysis": {"a.jpg": JPEG, "a.mp4": MP4, "a.wav": WAV, "a.pdf": PDF},
}
REFUSES = {
    "face_manipulation": {"a.wav": WAV, "a.pdf": PDF},
    "ai_generated_image_detection": {"a.wav": WAV, "a.pdf": PDF},
    "voice_analysis": {"a.jpg": JPEG, "a.pdf": PDF},
    "forensic_analysis": {},
}
URL = "https://example.org/clip.mp4"


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    with running_api(tmp_path_factory.mktemp("home"), private_hosts="media.example") as running:
        yield running


@pytest.fixture(scope="module")
def account(api: Api) -> Account:
    return api.account()


@pytest.mark.parametrize("task", TASKS)
def test_what_a_task_takes(api: Api, account: Account, task: str) -> None:
    for name, content in TAKES[task].items():
        answer = account.create(task, (name, content))
        assert answer.status_code == 200, answer.text
        body = answer.json()
        assert set(body) == {"report_id", "success"}
        assert body["success"] is True
        row = api.row(body["report_id"])
        assert (row["task"], row["status"], row["file_name"], row["url"]) == (task, "in_progress", name, None)
        assert api.context.storage.read(row["upload"]).read() == content  # type: ignore[attr-defined]
    for name, content in REFUSES[task].items():
        with api.leaves_nothing():
            refused(account.create(task, (name, content)), 415, "unsupported_media")


@pytest.mark.parametrize("task", TASKS)
def test_content_that_is_no_media(api: Api, account: Account, task: str) -> None:
    for content in (
        b"just text\n" * 50,
        b"<html><body></body></html>",
        b"PK\x03\x04" + bytes(100),
        b"#EXTM3U\n#EXTINF:1",
    ):
        with api.leaves_nothing():
            refused(account.create(task, ("clip.bin", content)), 415, "unsupported_media")
    with api.leaves_nothing():
        refused(account.create(task, ("a.jpg", b"")), 400, "broken_media")


@pytest.mark.parametrize("task", ["face_manipulation", "voice_analysis"])
def test_content_that_is_only_named_like_a_format_is_not_said_to_be_of_it(
    api: Api, account: Account, task: str
) -> None:
    with api.leaves_nothing():
        body = refused(account.create(task, ("talk.mp3", bytes(2000))), 415, "unsupported_media")
    assert "does not begin as the mp3 that its name says" in body["error"]
    assert "forensic_analysis" in body["error"]


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("encoding", ["multipart", "urlencoded"])
def test_a_url_in_either_encoding(api: Api, account: Account, task: str, encoding: str) -> None:
    if encoding == "multipart":
        answer = account.create(task, None, url=URL)
    else:
        answer = api.client.post(f"/tasks/{task}", headers=account.headers, data={"url": URL})
    assert answer.status_code == 200, answer.text
    row = api.row(answer.json()["report_id"])
    assert (row["url"], row["upload"], row["file_name"]) == (URL, None, None)


@pytest.mark.parametrize("task", TASKS)
def test_exactly_one_of_file_and_url(api: Api, account: Account, task: str) -> None:
    file = next(iter(TAKES[task].items()))
    with api.leaves_nothing():
        refused(account.create(task, file, url=URL), 400, "file_and_url")
        refused(account.create(task, None, explain="true"), 400, "file_or_url_missing")
        refused(account.create(task, None, url=""), 400, "file_or_url_missing")
        refused(account.create(task, None, url="  "), 400, "file_or_url_missing")
        for form in ({}, {"url": ""}, {"explain": "true"}):
            answer = api.client.post(f"/tasks/{task}", headers=account.headers, data=form)
            refused(answer, 400, "file_or_url_missing")


def test_an_empty_url_beside_a_file_is_no_url(account: Account) -> None:
    assert account.created(url="")


def test_an_empty_file_part_beside_a_url_is_no_file(api: Api, account: Account) -> None:
    body = api.client.post(
        "/tasks/face_manipulation", headers=account.headers, files={"file": ("", b""), "url": (None, URL)}
    )
    assert body.status_code == 200, body.text


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("TRUE", True),
        ("1", True),
        ("on", True),
        ("false", False),
        ("False", False),
        ("0", False),
        ("off", False),
    ],
)
def test_booleans(api: Api, account: Account, text: str, value: bool) -> None:
    row = api.row(account.created("voice_analysis", file=("a.wav", WAV), explain=text, transcribe=text))
    assert (row["explain"], row["transcribe"]) == (value, value)


@pytest.mark.parametrize("text", ["", "yes", "2", "null", "truе", "true\0", "t" * 1000])
def test_what_is_no_boolean(api: Api, account: Account, text: str) -> None:
    with api.leaves_nothing():
        refused(account.create(explain=text), 400, "bad_field")


@pytest.mark.parametrize("info", ["x" * 10_001, "zero\0byte"])
def test_additional_info_is_bounded_text(api: Api, account: Account, info: str) -> None:
    with api.leaves_nothing():
        refused(account.create("forensic_analysis", additional_info=info), 400, "bad_field")


def test_fields_that_a_task_does_not_know_are_passed_over(api: Api, account: Account) -> None:
    row = api.row(account.created("face_manipulation", transcribe="no boolean", additional_info="x", nonesuch="y"))
    assert row["additional_info"] is None
    assert row["transcribe"] is True


def test_a_field_given_twice_is_refused(api: Api, account: Account) -> None:
    headers = account.headers
    twice = [("file", ("a.jpg", JPEG)), ("file", ("b.jpg", JPEG))]
    with api.leaves_nothing():
        refused(api.client.post("/tasks/face_manipulation", headers=headers, files=twice), 400, "bad_form")
        fields = [("explain", (None, "true")), ("explain", (None, "false")), ("file", ("a.jpg", JPEG))]
        refused(api.client.post("/tasks/face_manipulation", headers=headers, files=fields), 400, "bad_form")
        form = headers | {"Content-Type": "application/x-www-form-urlencoded"}
        answer = api.client.post("/tasks/face_manipulation", headers=form, content=f"url={URL}&url={URL}")
        refused(answer, 400, "bad_form")


def test_a_file_cannot_be_form_encoded(api: Api, account: Account) -> None:
    answer = api.client.post("/tasks/voice_analysis", headers=account.headers, data={"file": "abc"})
    refused(answer, 400, "bad_form")


@pytest.mark.parametrize(
    "content_type", ["application/json", "text/plain", "multipart/mixed; boundary=x", "image/jpeg"]
)
def test_bodies_that_are_no_forms(api: Api, account: Account, content_type: str) -> None:
    headers = account.headers | {"Content-Type": content_type}
    with api.leaves_nothing():
        answer = api.client.post("/tasks/voice_analysis", headers=headers, content=b'{"url": "https://example.org"}')
        refused(answer, 415, "unsupported_form")


def test_nothing_at_all(api: Api, account: Account) -> None:
    refused(api.client.post("/tasks/voice_analysis", headers=account.headers), 400, "file_or_url_missing")
    refused(api.client.post("/tasks/voice_analysis"), 401, "unauthorized")


def finish(api: Api, report_id: str, result: dict[str, Any] | None, **values: Any) -> None:
    """Do what a worker does at the end."""
    values |= {"status": "failed"} if result is None else {"status": "completed", "result": json.dumps(result)}
    with api.context.database.write() as connection:
        connection.execute(sa.update(tasks).where(tasks.c.id == report_id).values(**values))


@pytest.mark.parametrize("task", TASKS)
def test_polling(api: Api, account: Account, task: str) -> None:
    file = next(iter(TAKES[task].items()))
    path = f"/tasks/{task}/{(report_id := account.created(task, file=file))}"
    event = describe(task).event
    assert account.get(path).json() == {"id": report_id, "status": "in_progress", "event_type": event}
    finish(api, report_id, {"class_name": "real", "transcript": "naïve “words”"})
    answer = account.get(path)
    assert answer.headers["content-type"] == "application/json"
    result = {"class_name": "real", "transcript": "naïve “words”"}
    assert answer.json() == {"id": report_id, "status": "completed", "event_type": event, "result": result}


def test_polling_a_failure_and_a_preview(api: Api, account: Account) -> None:
    failed = account.created()
    finish(api, failed, None, error="the video is longer than 30 min", error_code="limit_exceeded")
    body = account.get(f"/tasks/face_manipulation/{failed}").json()
    event = "face_manipulation_analysis_complete"
    assert body == {"id": failed, "status": "failed", "event_type": event, "error": "the video is longer than 30 min"}
    report_id = account.created()
    finish(api, report_id, {"class_name": "no_faces"}, preview="data:image/jpeg;base64,AA==")
    body = account.get(f"/tasks/face_manipulation/{report_id}").json()
    assert body["preview"] == "data:image/jpeg;base64,AA=="
    assert schema.TaskReport(**body).to_wire() == body


def test_a_full_queue_takes_no_more(api: Api, account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(api.context, "_asked", -1000.0)
    monkeypatch.setattr(api.context.queue, "depth", lambda: api.settings.queue_limit)
    with api.leaves_nothing():
        refused(account.create(), 503, "busy")
    monkeypatch.setattr(api.context, "_asked", -1000.0)
    monkeypatch.undo()
    monkeypatch.setattr(api.context, "_asked", -1000.0)
    assert account.created()


def test_the_queue_fills_up_although_it_is_looked_at_now_and_then(tmp_path: Path) -> None:
    with running_api(tmp_path, queue_limit=10) as api:
        account = api.account()
        answers = [account.create() for _ in range(40)]
        for answer in answers[10:]:
            refused(answer, 503, "busy")
        assert api.stored()[0] == 10


def test_an_account_that_hands_in_much_leaves_room_to_others(tmp_path: Path) -> None:
    with running_api(tmp_path, queue_limit=10, account_queue_limit=4) as api:
        greedy, other = api.account(), api.account()
        first, *_, last = [greedy.created() for _ in range(4)]
        with api.leaves_nothing():
            refused(greedy.create(), 429, "rate_limited")
        assert other.created() and first != last
        finish(api, first, {"class_name": "no_faces"})
        assert greedy.created()


def test_a_task_and_its_job_are_written_together_or_not_at_all(
    api: Api, account: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise sa.exc.OperationalError("INSERT", {}, Exception("gone"))

    monkeypatch.setattr(api.context.queue, "create", fail)
    with api.leaves_nothing():
        refused(account.create(), 503, "unavailable")
    monkeypatch.undo()
    job = sa.text("SELECT count(*) FROM workflow_status WHERE workflow_uuid = :id")
    report_id = account.created()
    with api.context.database.read() as connection:
        assert connection.scalar(job, {"id": report_id}) == 1


def test_many_at_once_all_arrive(api: Api) -> None:
    from concurrent.futures import ThreadPoolExecutor

    accounts = [api.account() for _ in range(4)]
    with ThreadPoolExecutor(16) as pool:
        ids = list(pool.map(lambda n: accounts[n % 4].created(explain=n % 2 == 0), range(80)))
    assert len(set(ids)) == 80
    for n, report_id in enumerate(ids):
        row = api.row(report_id)
        assert row["account_id"] == accounts[n % 4].id
        assert row["explain"] == (n % 2 == 0)
