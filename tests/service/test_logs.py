"""Logs: one JSON object a line, a request's id, and nothing that should not be there."""

import base64
import json
import logging
from pathlib import Path

import pytest
import sqlalchemy as sa

from forensix.service.logs import JsonFormatter, Seldom, set_up
from tests.service.in_process import JPEG, Account, Api, refused


@pytest.fixture
def account(api: Api) -> Account:
    return api.account()


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> pytest.LogCaptureFixture:
    caplog.handler.setFormatter(JsonFormatter())
    caplog.set_level(logging.DEBUG)
    # The client of the tests logs too.
    for name in ("httpx", "httpx2", "httpcore", "asyncio"):
        monkeypatch.setattr(logging.getLogger(name), "level", logging.ERROR)
        logging.getLogger(name).manager._clear_cache()  # type: ignore[attr-defined]
    caplog.clear()
    return caplog


def lines(log: pytest.LogCaptureFixture) -> list[dict]:
    return [json.loads(line) for line in log.text.splitlines()]


def test_a_request_is_a_line(account: Account, log: pytest.LogCaptureFixture) -> None:
    report_id = account.created()
    (line,) = [line for line in lines(log) if line["message"] == "request"]
    assert line["method"] == "POST"
    assert line["route"] == "/tasks/face_manipulation"
    assert line["status"] == 200
    assert line["account"] == account.id
    assert line["report_id"] == report_id
    assert line["ms"] > 0
    assert line["request_id"]
    assert line["time"].endswith("+00:00")


def test_every_answer_has_the_id_that_stands_in_the_log(api: Api, log: pytest.LogCaptureFixture) -> None:
    for path in ("/healthz", "/nonesuch", "/auth/tokens"):
        log.clear()
        answer = api.client.get(path)
        assert {line["request_id"] for line in lines(log)} == {answer.headers["x-request-id"]}


def test_an_id_that_a_client_offers_is_kept(api: Api) -> None:
    answer = api.client.get("/healthz", headers={"X-Request-ID": "trace-0123.4567_89"})
    assert answer.headers["x-request-id"] == "trace-0123.4567_89"


@pytest.mark.parametrize(
    "offered",
    [
        "short",
        "x" * 65,
        "two\r\nX-Injected: yes",
        'quote"and{brace}',
        "%0d%0aX-Injected:%20yes",
        "\x1b[31mred-red-red",
        "größe-größe",
        "${jndi:ldap://x}",
    ],
)
def test_a_hostile_id_is_not_repeated(api: Api, log: pytest.LogCaptureFixture, offered: str) -> None:
    answer = api.client.get("/healthz", headers={b"X-Request-ID": offered.encode()})
    assert answer.status_code == 200
    assert answer.headers["x-request-id"] != offered
    assert "x-injected" not in answer.headers
    assert offered not in log.text
    assert len(lines(log)) >= 1


def test_line_breaks_do_not_make_lines() -> None:
    record = logging.LogRecord("x", logging.INFO, "", 0, 'one\n{"level": "INFO"}\r\ntwo\x1b[31m\u2028', (), None)
    record.fields = {"name": "a\nb"}  # type: ignore[attr-defined]
    text = JsonFormatter().format(record)
    assert text.isascii()
    assert "\n" not in text
    assert "\x1b" not in text
    assert json.loads(text)["message"].startswith("one\n")


def test_no_secret_and_no_media_in_the_log(api: Api, account: Account, log: pytest.LogCaptureFixture) -> None:
    built = account.tokens().json()
    account.tokens("GET", f"/{built['id']}")
    account.create(file=("private-name.jpg", JPEG), explain="true")
    account.create("forensic_analysis", None, url="https://example.org/x?signature=secret-signature")
    account.create("forensic_analysis", additional_info="private-words")
    account.webhooks("POST", url="https://example.org/hook-with-secret-path")
    api.client.get("/auth/tokens", auth=(account.auth[0], "wrong-password"))
    api.client.get("/nonesuch/" + account.token)
    api.client.get(f"/tasks/face_manipulation/{account.token[-40:]}?token={account.token}", headers=account.headers)
    api.client.get("/tasks/face_manipulation/x", headers={"Authorization": account.token + "x"})
    with api.context.database.read() as connection:
        secrets = [row.value for row in connection.execute(sa.text("SELECT value FROM keys"))]
        secrets += [row.webhook_secret for row in connection.execute(sa.text("SELECT webhook_secret FROM accounts"))]
    secrets += [built["token"], account.token, account.token[-40:], account.auth[1], "wrong-password"]
    secrets += [base64.b64encode(":".join(account.auth).encode()).decode()]
    secrets += ["private-name", "secret-signature", "private-words", "secret-path", "hook-with", "\\u00ff\\u00d8"]
    text = log.text
    assert "/auth/tokens" in text
    assert [secret for secret in secrets if secret in text] == []


def test_an_unexpected_error_is_logged_with_its_place_but_without_values(
    api: Api, account: Account, log: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Not spelled out: the log shows the lines of code that an error passed through.
    value = "-".join(("private", "value"))

    def broken(*_: object) -> None:
        with api.context.database.read() as connection:
            connection.execute(sa.text("SELECT nonesuch FROM accounts WHERE name = :name"), {"name": value})

    monkeypatch.setattr("forensix.service.api.routes.webhooks._registered", broken)
    monkeypatch.setattr(sa.exc, "OperationalError", type("Unrelated", (Exception,), {}))
    answer = account.webhooks()
    body = refused(answer, 500, "internal")
    assert "nonesuch" not in body["error"]
    (line,) = [line for line in lines(log) if line["level"] == "ERROR"]
    assert "test_logs.py" in line["exception"]
    assert value not in log.text
    assert line["request_id"] == answer.headers["x-request-id"]


def test_set_up_writes_json_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    root = logging.getLogger()
    before, changed = root.handlers[:], [root, logging.getLogger("forensix"), logging.getLogger("uvicorn")]
    levels = [logger.level for logger in changed]
    try:
        set_up("DEBUG")
        logging.getLogger("uvicorn.error").info("started %s", "now")
        logging.getLogger("forensix.service.requests").debug("asked")
        logging.getLogger("httpx").info("https://example.org/?secret=1")
        # The session token of an object store stands in what its client signs.
        logging.getLogger("botocore.auth").debug("x-amz-security-token:secret")
        logging.getLogger("botocore.auth").warning("no credentials")
    finally:
        root.handlers[:] = before
        for logger, level in zip(changed, levels, strict=True):
            logger.setLevel(level)
    lines = capsys.readouterr().err.splitlines()
    assert [json.loads(line)["message"] for line in lines] == ["started now", "asked", "no credentials"]


def test_what_is_said_over_and_over_is_logged_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    def passes(message: str) -> bool:
        return seldom.filter(logging.LogRecord("x", logging.WARNING, "", 0, message, (), None))

    now = 1000.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    seldom = Seldom()
    assert [passes(f"no database: attempt {n}") for n in range(20)] == [True] + 19 * [False]
    assert passes("no queue: attempt 1")
    now += 31
    assert passes("no database: attempt 21")
    assert not passes("no database: attempt 22")


def test_settings_do_not_show_passwords(tmp_path: Path) -> None:
    from forensix.errors import UsageError
    from forensix.service.settings import Settings

    settings = Settings.read(home=tmp_path, database_url="postgresql://anna:secret-word@db.example/forensix")
    assert "secret-word" not in repr(settings)
    with pytest.raises(UsageError) as caught:
        Settings.read(home=tmp_path, database_url="mysql://anna:secret-word@db.example/forensix")
    assert "secret-word" not in str(caught.value)
    assert "FORENSIX_DATABASE_URL" in str(caught.value)
