"""The client against a scripted service: what it sends, what it sends again, and whom it believes."""

import base64
import os
import socket
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

from forensix.client import Client, Token, TokenClaims, to_report
from forensix.errors import ForensixError, InputNotFound, ServiceError, UsageError
from forensix.schema import FaceResult, ImageResult, TaskReport, VoiceResult
from forensix.tasks.catalogue import describe
from tests.client.script import CLAIMS, Script, parts


def test_importing_the_client_is_cheap() -> None:
    code = "import sys, forensix.client; print(*(m for m in ('torch', 'numpy', 'fastapi') if m in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


def test_signing_in_creates_a_token_with_name_and_password_and_closing_ends_it(script: Script) -> None:
    script.ok(id="1", token="made", claims=CLAIMS)
    script.ok(urls=[])
    script.ok(deleted_tokens=["1"])
    with Client.sign_in(script.url, "anna", "secret") as client:
        client.webhooks("voice_analysis_complete")
    client.close()
    basic = f"Basic {base64.b64encode(b'anna:secret').decode()}"
    assert [(r["method"], r["path"], r["headers"]["authorization"]) for r in script.requests] == [
        ("POST", "/auth/tokens", basic),
        ("GET", "/webhooks/voice_analysis_complete", "Bearer made"),
        ("DELETE", "/auth/tokens/1", basic),
    ]


def test_closing_goes_on_where_the_token_cannot_be_ended(script: Script) -> None:
    for refuse in (lambda: script.refuse(404, "not_found"), lambda: script.answers.append(None)):
        script.ok(id="1", token="made", claims=CLAIMS)
        refuse()
        Client.sign_in(script.url, "anna", "secret").close()


def test_tokens_that_this_client_did_not_make_for_itself_are_left(script: Script) -> None:
    script.ok(id="2", token="another", claims=CLAIMS)
    with Client(script.url, token="given", account=("anna", "secret")) as client:
        assert client.create_token().token == "another"
    script.ok(id="1", token="made", claims=CLAIMS)
    script.ok(deleted_tokens=["1", "2"])
    with Client.sign_in(script.url, "anna", "secret") as client:
        client.delete_tokens()


def test_a_wrong_password_is_told(script: Script) -> None:
    script.refuse(401, "unauthorized")
    with pytest.raises(ServiceError, match="refused with 401") as refused:
        Client.sign_in(script.url, "anna", "wrong")
    assert (refused.value.status, refused.value.code) == (401, "unauthorized")
    assert isinstance(refused.value, ForensixError)


def test_tokens_take_name_and_password(script: Script) -> None:
    with pytest.raises(UsageError, match="sign_in"):
        Client(script.url, token="t0ken").tokens()


def test_secrets_are_not_shown(client: Client) -> None:
    assert "t0ken" not in repr(client) and "secret" not in repr(client)
    assert "made" not in repr(Token("1", "made", TokenClaims("a", "abcdef", 2, 1, "i", "s")))


@pytest.mark.parametrize("token", ["t0ken\n", "t0 ken", "t\u00f6ken", ""])
def test_a_token_that_cannot_be_sent_is_told_without_showing_it(token: str) -> None:
    with pytest.raises(UsageError, match="strip") as refused:
        Client("http://127.0.0.1:8000", token=token)
    assert "ken" not in str(refused.value).replace("token", "")


def test_options_come_before_the_file(script: Script, client: Client, tmp_path: Path) -> None:
    (tmp_path / "clip.mp4").write_bytes(b"content")
    script.ok(report_id="r1")
    assert client.create("face_manipulation", tmp_path / "clip.mp4", explain=True) == "r1"
    sent = parts(script.requests[0])
    assert list(sent) == ["explain", "file"]
    assert sent["explain"][1] == b"true"
    assert sent["file"][1] == b"content" and b'filename="clip.mp4"' in sent["file"][0]
    assert script.requests[0]["path"] == "/tasks/face_manipulation"
    assert script.requests[0]["headers"]["authorization"] == "Bearer t0ken"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such names")
def test_a_name_that_is_not_utf8_is_sent_as_far_as_it_can_be(script: Script, client: Client, tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9.mp4")
    path.write_bytes(b"content")
    script.ok(report_id="r1")
    client.create("face_manipulation", path)
    assert 'filename="caf\ufffd.mp4"'.encode() in parts(script.requests[0])["file"][0]


def test_bytes_and_urls_are_sent_in_the_same_form(script: Script, client: Client) -> None:
    for _ in range(2):
        script.ok(report_id="r1")
    client.create("forensic_analysis", b"%PDF-", additional_info="é", name="scan.pdf")
    client.create("voice_analysis", url="https://example.org/a.mp3", transcribe=False)
    first, second = map(parts, script.requests)
    assert first["additional_info"][1].decode() == "é" and first["file"][1] == b"%PDF-"
    assert {name: content for name, (_, content) in second.items()} == {
        "transcribe": b"false",
        "url": b"https://example.org/a.mp3",
    }


@pytest.mark.parametrize(
    ("task", "options", "message"),
    [
        ("faces", {"file": b"x"}, "choose from face_manipulation"),
        ("voice_analysis", {}, "exactly one"),
        ("voice_analysis", {"file": b"x", "url": "https://example.org"}, "exactly one"),
        ("forensic_analysis", {"file": b"x", "explain": True}, "does not take explain"),
        ("face_manipulation", {"file": b"x", "transcribe": True}, "does not take transcribe"),
    ],
)
def test_wrong_calls_are_not_sent(client: Client, task: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        client.create(task, **options)


def test_a_missing_file_is_told(client: Client, tmp_path: Path) -> None:
    with pytest.raises(InputNotFound, match=r"absent\.mp4 cannot be read"):
        client.create("face_manipulation", tmp_path / "absent.mp4")


@pytest.mark.parametrize("address", ["127.0.0.1:8000", "ftp://example.org", "http://example.org:port"])
def test_an_address_that_is_none_is_told(address: str) -> None:
    with pytest.raises(UsageError, match="address"):
        Client(address, token="t")


def test_a_file_is_not_read_into_memory(tmp_path: Path) -> None:
    size = 64 << 20
    with (tmp_path / "large.wav").open("wb") as file:
        file.truncate(size)
    received = []

    def swallow() -> None:
        connection, _ = listening.accept()
        buffer = bytearray(1 << 16)
        while sum(received) < size and (n := connection.recv_into(buffer)):
            received.append(n)
        connection.close()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=swallow, daemon=True).start()
        with Client(f"http://127.0.0.1:{listening.getsockname()[1]}", token="t0ken") as client:
            tracemalloc.start()
            with pytest.raises(ServiceError, match="did not answer"):
                client.create("voice_analysis", tmp_path / "large.wav")
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
    assert sum(received) >= size
    assert peak < 4 << 20


@pytest.mark.parametrize(
    ("task", "kind"),
    [("face_manipulation", FaceResult), ("ai_generated_image_detection", ImageResult), ("voice_analysis", VoiceResult)],
)
def test_results_are_typed_by_their_task(script: Script, client: Client, task: str, kind: type) -> None:
    script.task(task, "completed", result={"class_name": "real"})
    assert type(client.get(task, "r1").result) is kind


def test_an_answer_of_another_version_is_told(script: Script, client: Client) -> None:
    script.task("face_manipulation", "completed", result={"class_name": "perhaps"})
    with pytest.raises(ServiceError, match=r"2\.40\.6 of the interface: class_name: .*'no_faces'$") as error:
        client.get("face_manipulation", "r1")
    assert error.value.code == "unexpected_answer"


def test_what_a_newer_service_adds_is_passed_over(script: Script, client: Client) -> None:
    script.task("face_manipulation", "completed", result={"class_name": "real", "new": {"newer": 1}}, new=[2])
    actual = client.get("face_manipulation", "r1")
    assert actual.result is not None and actual.result.to_wire() == {"class_name": "real"}


OTHERS: list[dict[str, Any]] = [
    {},
    {"urls": "x", "claims": 1, "deleted_tokens": None},
    {
        "report_id": None,
        "id": 5,
        "token": 7,
        "urls": [{"id": 1, "url": 2}],
        "claims": {"t1": CLAIMS | {"issuedAt": "noon"}},
        "deleted_tokens": "abc",
    },
    {"report_id": ["r1"], "id": None, "token": "t", "urls": None, "claims": CLAIMS, "deleted_tokens": [5]},
]


@pytest.mark.parametrize("body", OTHERS, ids=["empty", "other", "null", "list"])
def test_an_answer_of_another_program_is_told(script: Script, body: dict[str, Any]) -> None:
    for call in (
        lambda client: client.create("voice_analysis", b"RIFF"),
        lambda client: client.register_webhook("voice_analysis_complete", "https://example.org/"),
        lambda client: client.webhooks("voice_analysis_complete"),
        lambda client: client.create_token(),
        lambda client: client.tokens(),
        lambda client: client.token("t1"),
        lambda client: client.delete_token("t1"),
    ):
        with (
            Client(script.url, token="t", account=("anna", "word")) as client,
            pytest.raises(ServiceError, match="is this the address of the service") as error,
        ):
            script.ok(**body)
            call(client)
        assert error.value.code == "unexpected_answer"


def test_a_service_that_is_not_there_is_told() -> None:
    with (
        Client("http://127.0.0.1:9", token="t", patience_s=0.1) as client,
        pytest.raises(ServiceError, match="did not answer") as lost,
    ):
        client.create("voice_analysis", b"x")
    assert "may have been done" not in str(lost.value)


def test_an_answer_that_is_no_object_is_told(script: Script, client: Client) -> None:
    script.answers.append((500, {}, b"<html>Internal Server Error</html>"))
    with pytest.raises(ServiceError, match="500"):
        client.get("voice_analysis", "r1")


def test_an_answer_that_is_nested_too_deeply_is_told(script: Script, client: Client) -> None:
    script.answers.append((200, {}, b"[" * 100_000))
    with pytest.raises(ServiceError, match="status 200, and no JSON object"):
        client.get("voice_analysis", "r1")


def test_identifiers_cannot_leave_their_place_in_the_path(script: Script, client: Client) -> None:
    script.refuse(404, "not_found")
    with pytest.raises(ServiceError):
        client.get("voice_analysis", "../../auth/tokens?x=1#y")
    assert script.requests[0]["path"] == "/tasks/voice_analysis/..%2F..%2Fauth%2Ftokens%3Fx%3D1%23y"


def test_text_that_is_no_utf8_is_a_name_all_the_same_and_nothing_else(script: Script, client: Client) -> None:
    for name in ("\udce4.wav", "a\ud800.wav"):
        script.ok(report_id="r1")
        assert client.create("voice_analysis", b"RIFF", name=name) == "r1"
        assert "\ufffd" in parts(script.requests[-1])["file"][0].decode("utf-8")
    for call in (
        lambda: client.create("forensic_analysis", b"%PDF", additional_info="\ud800"),
        lambda: client.create("voice_analysis", url="https://example.org/\udce4"),
        lambda: client.register_webhook("voice_analysis_complete", "https://example.org/\ud800"),
    ):
        with pytest.raises(UsageError, match="text must be UTF-8"):
            call()
    with pytest.raises(UsageError, match="text must be UTF-8") as refused:
        Client.sign_in(script.url, "anna", "secret\ud800")
    assert "secret" not in str(refused.value)
    with pytest.raises(InputNotFound, match="cannot be read"):
        client.create("voice_analysis", "a\ud800.wav")
    script.refuse(404, "not_found")
    with pytest.raises(ServiceError):
        client.get("voice_analysis", "\ud800")
    assert len(script.requests) == 3


def test_webhooks_are_registered_listed_and_deleted(script: Script, client: Client) -> None:
    event = describe("voice_analysis").event
    script.ok(id="w1")
    script.ok(urls=[{"id": "w1", "url": "https://example.org/hook"}])
    script.ok()
    script.ok()
    assert client.register_webhook(event, "https://example.org/hook") == "w1"
    assert [(w.id, w.url) for w in client.webhooks(event)] == [("w1", "https://example.org/hook")]
    client.delete_webhook(event, "w1")
    client.delete_webhooks(event)
    assert script.requests[0]["body"] == b"url=https%3A%2F%2Fexample.org%2Fhook"
    assert [(r["method"], r["path"]) for r in script.requests] == [
        ("POST", f"/webhooks/{event}"),
        ("GET", f"/webhooks/{event}"),
        ("DELETE", f"/webhooks/{event}/w1"),
        ("DELETE", f"/webhooks/{event}"),
    ]


def test_tokens_are_listed_and_deleted(script: Script, client: Client) -> None:
    script.ok(claims={"1": CLAIMS})
    script.ok(claims={"1": CLAIMS})
    script.ok(deleted_tokens=["1"])
    script.ok(deleted_tokens=["2", "3"])
    assert client.tokens()["1"].ends_with == client.token("1").ends_with == "abcdef"
    assert client.delete_token("1") == ("1",)
    assert client.delete_tokens() == ("2", "3")
    assert {r["headers"]["authorization"].split()[0] for r in script.requests} == {"Basic"}


def test_answers_draw_themselves() -> None:
    done = TaskReport(
        id="1", status="completed", event_type=describe("face_manipulation").event, result=FaceResult(class_name="real")
    )
    failed = TaskReport(id="2", status="failed", event_type=describe("voice_analysis").event, error="it has no sound")
    report = to_report("clip.mp4", done, failed)
    assert report.verdicts == {"face_manipulation": "inconclusive", "voice_analysis": "failed"}
    page = report._repr_html_()
    assert "clip.mp4" in page and "it has no sound" in page


def test_what_the_service_may_have_left_undecided_is_not_called_real() -> None:
    fake = FaceResult(class_name="fake", class_probability=0.9)
    results = {"voice_analysis": VoiceResult(class_name="real"), "face_manipulation": fake}
    answers = [
        TaskReport(id="1", status="completed", event_type=describe(task).event, result=result)
        for task, result in results.items()
    ]
    report = to_report("clip.mp4", *answers)
    assert report.verdicts == {"voice_analysis": "inconclusive", "face_manipulation": "fake"}
    assert "Sounds recorded" not in (page := report.to_html()) and "whether it is real or undecided" in page
    assert report.headline == "Likely a manipulated or generated face (score 0.90); the voice is not called fake."
    assert "Not called fake" in page and "cannot be judged" not in page and "undecided." not in report.headline
