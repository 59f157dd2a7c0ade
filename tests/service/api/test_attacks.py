"""Ids, paths, methods and headers that mean harm: refused with the right code and body, nothing stored."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.in_process import JPEG, Account, Api, refused, running_api
from tests.service.postgres import postgres, program

TRICKS = (
    "' OR '1'='1", "1; DROP TABLE tasks; --", "1 UNION SELECT * FROM accounts", "%27%20OR%201%3D1", "..",
    "../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%2e%2e%2f", "%2e%2e/%2e%2e", "....//", "%00", "a%00b",
    "%0d%0aX-Injected:%20yes", "*", "%25", "_", "%",
    "x" * 10_000, "null", "undefined", "-1", "0", "{id}", "${id}", "<script>", "%ff%fe", "%f0%9f%92%a9", "\u2028",
)  # fmt: skip


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def api(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    home: Path = tmp_path_factory.mktemp("home")
    if request.param == "sqlite":
        with running_api(home) as running:
            yield running
        return
    if program("initdb") is None:
        pytest.skip("PostgreSQL is not installed")
    with postgres() as server, running_api(home, database_url=server.url) as running:
        yield running


@pytest.fixture(scope="module")
def account(api: Api) -> Account:
    return api.account()


@pytest.mark.parametrize("trick", TRICKS)
def test_tricks_in_ids(api: Api, account: Account, trick: str) -> None:
    api.client.cookies.clear()
    report_id = account.created()
    account.webhooks("POST", url="https://example.org/hook")
    with api.leaves_nothing():
        for answer in (
            account.get(f"/tasks/face_manipulation/{trick}"),
            account.get(f"/tasks/{trick}/{report_id}"),
            account.tokens("GET", f"/{trick}"),
            account.tokens("DELETE", f"/{trick}"),
            account.webhooks("DELETE", path=f"/{trick}"),
        ):
            # A client folds "..", which may lead to a path that exists but takes another method or credential.
            assert answer.status_code in (401, 404, 405), (trick, answer.status_code, answer.text)
            refused(answer, answer.status_code, answer.json()["code"])
            assert "x-injected" not in answer.headers
            assert "root:" not in answer.text
    assert account.get(f"/tasks/face_manipulation/{report_id}").status_code == 200
    assert len(account.webhooks().json()["urls"]) == 1


def test_ids_of_others_are_as_unknown_as_ids_of_nobody(api: Api, account: Account) -> None:
    other = api.account()
    report = account.created()
    hook = account.webhooks("POST", url="https://example.org/hook").json()["id"]
    token = account.tokens().json()["id"]
    nobody = str(uuid.uuid4())
    for mine, unknown in (
        (other.get(f"/tasks/face_manipulation/{report}"), other.get(f"/tasks/face_manipulation/{nobody}")),
        (other.webhooks("DELETE", path=f"/{hook}"), other.webhooks("DELETE", path=f"/{nobody}")),
        (other.tokens("GET", f"/{token}"), other.tokens("GET", f"/{nobody}")),
        (other.tokens("DELETE", f"/{token}"), other.tokens("DELETE", f"/{nobody}")),
    ):
        assert refused(mine, 404, "not_found") == refused(unknown, 404, "not_found")


def test_ids_cannot_be_guessed(account: Account) -> None:
    ids = {account.created() for _ in range(5)}
    assert len(ids) == 5
    assert {uuid.UUID(each).version for each in ids} == {4}


@pytest.mark.parametrize(
    "task", ["nonesuch", "FACE_MANIPULATION", "face_manipulation%00", "face_manipulation/", "", "data_extraction"]
)
def test_unknown_tasks(api: Api, account: Account, task: str) -> None:
    with api.leaves_nothing():
        answer = account.create(task)
        assert "face_manipulation" in refused(answer, 404, "not_found")["error"]
        assert account.get(f"/tasks/{task}/{uuid.uuid4()}").status_code == 404


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("/auth/tokens", "DELETE, GET, HEAD, POST"),
        ("/auth/tokens/x", "DELETE, GET, HEAD"),
        ("/tasks/voice_analysis", "POST"),
        ("/tasks/voice_analysis/x", "GET, HEAD"),
        ("/webhooks/voice_analysis_complete", "DELETE, GET, HEAD, POST"),
        ("/webhooks/voice_analysis_complete/x", "DELETE"),
        ("/healthz", "GET, HEAD"),
        ("/openapi.json", "GET, HEAD"),
    ],
)
def test_methods(api: Api, path: str, allowed: str) -> None:
    for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "BREW"} - set(allowed.split(", ")):
        answer = api.client.request(method, path)
        refused(answer, 405, "method_not_allowed")
        assert answer.headers["allow"] == allowed


def test_no_pages_that_load_from_elsewhere(api: Api) -> None:
    for path in ("/docs", "/redoc", "/", "/static/x", "/.env", "/tasks", "/webhooks"):
        refused(api.client.get(path), 404, "not_found")


def test_answers_are_not_to_be_guessed_at_or_kept(account: Account) -> None:
    headers = account.get("/webhooks/voice_analysis_complete").headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["cache-control"] == "no-store"
    assert headers["content-type"] == "application/json"


@pytest.mark.parametrize("value", ["a\r\nX-Injected: yes", "a\nb", "\0", "é" * 100, "x" * 5000])
def test_headers_of_clients_do_not_come_back(api: Api, account: Account, value: str) -> None:
    raw = value.encode()
    for name in ("X-Request-ID", "Origin", "X-Forwarded-For", "X-Forwarded-Host", "Referer", "User-Agent"):
        answer = api.client.get("/webhooks/voice_analysis_complete", headers={**account.headers, name: raw})
        assert answer.status_code == 200
        assert "x-injected" not in answer.headers
        assert value not in str(answer.headers)


def test_a_file_name_injects_nothing(api: Api, account: Account) -> None:
    report_id = account.created(file=('a"\r\nX-Injected: yes\r\n\r\n.jpg', JPEG))
    answer = account.get(f"/tasks/face_manipulation/{report_id}")
    assert "x-injected" not in answer.headers
    name = api.row(report_id)["file_name"]
    assert name is None or name.isprintable()


@pytest.mark.parametrize("task", ["face_manipulation", "forensic_analysis"])
def test_text_of_all_kinds_is_kept_or_refused(api: Api, account: Account, task: str) -> None:
    for text in ("\ud7ff\U0010ffff", "\u202eright to left", "'; DROP TABLE tasks; --", "{{7*7}}", "\x01\x02", "\ufffe"):
        answer = account.create(task, additional_info=text)
        assert answer.status_code == 200, (text, answer.text)
        assert api.row(answer.json()["report_id"])["additional_info"] in (None, text)
