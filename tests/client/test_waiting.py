"""Polls until the end, and calls that are put off or whose answer was lost."""

import time
from pathlib import Path

import pytest

from forensix.client import Client
from forensix.errors import ServiceError
from forensix.schema import FaceResult
from tests.client.script import Script, parts


def test_polling_goes_on_until_the_end(script: Script, client: Client) -> None:
    script.ok(report_id="r1")
    for _ in range(2):
        script.task("face_manipulation", "in_progress")
    script.task("face_manipulation", "completed", result={"class_name": "no_faces"}, preview="data:,")
    report = client.analyze("face_manipulation", b"x")
    assert report.result == FaceResult(class_name="no_faces") and report.preview == "data:,"
    assert [r["path"] for r in script.requests[1:]] == ["/tasks/face_manipulation/r1"] * 3


def test_a_failed_task_is_an_answer(script: Script, client: Client) -> None:
    script.task("voice_analysis", "failed", error="the file is cut short")
    actual = client.wait("voice_analysis", "r1")
    assert (actual.status, actual.error, actual.result) == ("failed", "the file is cut short", None)


def test_waiting_ends(script: Script, client: Client) -> None:
    for _ in range(2):
        script.task("voice_analysis", "in_progress")
    with pytest.raises(ServiceError, match="not finished after") as error:
        client.wait("voice_analysis", "r1", timeout_s=1, poll_s=2)
    assert (error.value.code, error.value.report_id) == ("still_in_progress", "r1")


@pytest.mark.parametrize(("status", "end"), [(500, "; it may go on: wait again"), (404, "refused with 404")])
def test_whoever_waits_in_vain_learns_the_report_id(script: Script, client: Client, status: int, end: str) -> None:
    script.ok(report_id="r1")
    script.task("voice_analysis", "in_progress")
    script.refuse(status, "a_code")
    with pytest.raises(ServiceError) as error:
        client.analyze("voice_analysis", b"RIFF")
    assert str(error.value).startswith(f"voice_analysis r1: refused with {status}") and str(error.value).endswith(end)
    assert (error.value.status, error.value.code, error.value.report_id) == (status, "a_code", "r1")


@pytest.mark.parametrize("status", [429, 503])
def test_what_is_put_off_is_sent_again_from_the_start(
    script: Script, client: Client, tmp_path: Path, status: int
) -> None:
    (tmp_path / "clip.mp4").write_bytes(b"content")
    script.refuse(status, "busy", retry_after="1")
    script.ok(report_id="r1")
    begun = time.monotonic()
    assert client.create("face_manipulation", tmp_path / "clip.mp4") == "r1"
    assert time.monotonic() - begun >= 1
    assert [parts(request)["file"][1] for request in script.requests] == [b"content"] * 2


def test_what_is_put_off_for_too_long_is_refused(script: Script, client: Client) -> None:
    script.refuse(429, "too_many_requests", retry_after="3600")
    with pytest.raises(ServiceError) as refused:
        client.create("face_manipulation", b"x")
    assert (refused.value.status, refused.value.code) == (429, "too_many_requests")


@pytest.mark.parametrize("status", [400, 401, 404, 413, 415, 500, 503])
def test_other_refusals_are_not_sent_again(script: Script, client: Client, status: int) -> None:
    script.refuse(status, "refused")
    with pytest.raises(ServiceError) as refused:
        client.create("face_manipulation", b"x")
    assert refused.value.status == status
    assert len(script.requests) == 1


def test_a_creation_whose_answer_was_lost_is_not_repeated(script: Script, client: Client) -> None:
    script.answers.append(None)
    with pytest.raises(ServiceError, match="may have been done") as lost:
        client.create("face_manipulation", b"x")
    assert (lost.value.status, lost.value.code) == (None, "no_answer")
    assert len(script.requests) == 1


def test_a_poll_whose_answer_was_lost_is_repeated(script: Script, client: Client) -> None:
    script.answers.append(None)
    script.task("voice_analysis", "in_progress")
    assert client.get("voice_analysis", "r1").status == "in_progress"


@pytest.mark.parametrize("status", [502, 503, 504])
def test_a_poll_that_a_proxy_answers_while_the_service_starts_anew_is_repeated(
    script: Script, client: Client, status: int
) -> None:
    script.answers += [(status, {"content-type": "text/html"}, b"<html>Bad Gateway</html>")] * 2
    script.task("voice_analysis", "completed", result={"class_name": "real"})
    assert client.wait("voice_analysis", "r1").status == "completed"


def test_a_poll_that_a_proxy_answers_for_too_long_is_refused(script: Script) -> None:
    script.answers += [(502, {}, b"<html>Bad Gateway</html>")] * 2
    with Client(script.url, token="t0ken", patience_s=0.5) as client, pytest.raises(ServiceError) as refused:
        client.get("voice_analysis", "r1")
    assert (refused.value.status, refused.value.code) == (502, "no_object")


@pytest.mark.parametrize("status", [502, 504])
def test_a_creation_that_a_proxy_answers_is_not_repeated(script: Script, client: Client, status: int) -> None:
    script.answers.append((status, {}, b"<html>Bad Gateway</html>"))
    with pytest.raises(ServiceError) as refused:
        client.create("face_manipulation", b"x")
    assert refused.value.status == status


def test_an_answer_that_cannot_be_unpacked_is_an_error_of_the_service(script: Script, client: Client) -> None:
    script.answers.append((200, {"content-encoding": "gzip"}, b"no gzip"))
    with pytest.raises(ServiceError) as refused:
        client.get("voice_analysis", "r1")
    assert (refused.value.status, refused.value.code) == (None, "no_answer")
