"""Tokens: the five operations, and every way in which a token can be no good."""

import base64
import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jwt
import pytest
import sqlalchemy as sa

from forensix.service.api.app import create_app
from forensix.service.data.database import tokens
from forensix.service.errors import Refusal
from forensix.service.settings import Settings
from tests.service.in_process import Account, Api, refused, running_api
from tests.service.postgres import postgres, program

POLL = "/tasks/voice_analysis/3f0e7a34-4b8e-4a5e-9d3c-111111111111"


@pytest.fixture
def account(api: Api) -> Account:
    return api.account()


def is_taken(api: Api, authorization: str) -> bool:
    """Whether a request with this header gets past authentication (to a 404)."""
    answer = api.client.get(POLL, headers={"Authorization": authorization})
    if answer.status_code == 404:
        return True
    refused(answer, 401, "unauthorized")
    return False


def forge(api: Api, account: Account, *, key: str | None = None, algorithm: str = "HS256", **changes: Any) -> str:
    """Return a token with the claims of the account's own, but for the changes; None takes a claim out."""
    claims = jwt.decode(account.token, options={"verify_signature": False}) | changes
    claims = {name: value for name, value in claims.items() if value is not None}
    return jwt.encode(claims, key or api.context.tokens._signing_key(), algorithm=algorithm)


def test_deleting_one_ends_it_at_once_everywhere(api: Api, account: Account) -> None:
    issued, second = account.tokens().json(), account.tokens().json()
    # Another process on the same database, which has seen the token.
    elsewhere = Api(other := create_app(api.settings), type(api.client)(other))
    assert is_taken(elsewhere, f"Bearer {issued['token']}")
    assert account.tokens("DELETE", f"/{issued['id']}").json() == {"deleted_tokens": [issued["id"]], "success": True}
    for each in (api, elsewhere):
        assert not is_taken(each, f"Bearer {issued['token']}")
        assert is_taken(each, f"Bearer {second['token']}")
    refused(account.tokens("DELETE", f"/{issued['id']}"), 404, "not_found")
    refused(account.tokens("GET", f"/{issued['id']}"), 404, "not_found")
    other.state.context.close()


def test_a_deleted_token_creates_nothing_although_it_was_good_a_moment_ago(api: Api, account: Account) -> None:
    account.created()
    account.tokens("DELETE")
    with api.leaves_nothing():
        refused(account.create(), 401, "unauthorized")


def test_tokens_that_are_no_good(api: Api, account: Account) -> None:
    header, claims, signature = account.token.split(".")
    none = base64.urlsafe_b64encode(json.dumps({"alg": "none", "typ": "JWT"}).encode()).rstrip(b"=").decode()
    other = api.account()
    now = int(time.time())
    bad = {
        "expired": forge(api, account, exp=now - 1),
        "alg none": f"{none}.{claims}.",
        "alg none with the signature": f"{none}.{claims}.{signature}",
        "alg none by the library": jwt.encode(
            jwt.decode(account.token, options={"verify_signature": False}), "", algorithm="none"
        ),
        "another key": forge(api, account, key="another key of thirty-two bytes or so"),
        "a key of zeros": forge(api, account, key="\0" * 32),
        "another algorithm": forge(api, account, algorithm="HS512"),
        "another audience": forge(api, account, aud="another"),
        "a list of audiences": forge(api, account, aud=[api.settings.audience, "another"]),
        "another issuer": forge(api, account, iss="another"),
        "another account": forge(api, account, sub=other.id),
        "an unknown id": forge(api, account, jti="unknown"),
        "an id that is SQL": forge(api, account, jti="' OR 1=1 --"),
        "not yet": forge(api, account, nbf=now + 1000),
        "cut off": f"{header}.{claims}",
        "no signature": f"{header}.{claims}.",
        "changed": f"{header}.{claims[:-2]}{'AA' if claims[-2:] != 'AA' else 'BB'}.{signature}",
        "nonsense": "nonsense",
        "empty": "",
    }
    bad |= {
        f"without {name}": forge(api, account, **{name: None}) for name in ("exp", "aud", "iss", "sub", "jti", "iat")
    }
    taken = [what for what, token in bad.items() if is_taken(api, f"Bearer {token}")]
    assert taken == []
    assert is_taken(api, f"Bearer {account.token}")


def test_a_request_without_a_token_is_told_of_no_error_in_one(api: Api, account: Account) -> None:
    for headers, is_given in (({}, False), ({"Authorization": "Basic YTpi"}, False), (account.headers, True)):
        wrong = {name: f"{value}x" for name, value in headers.items()}
        answer = api.client.get(POLL, headers=wrong)
        refused(answer, 401, "unauthorized")
        assert ("invalid_token" in answer.headers["www-authenticate"]) == is_given


def test_an_id_that_is_no_text_is_no_good(api: Api, account: Account) -> None:
    for value in (1, ["x"], {"a": 1}):
        assert not is_taken(api, f"Bearer {forge(api, account, jti=value)}")
        assert not is_taken(api, f"Bearer {forge(api, account, sub=value)}")


def test_a_token_ends_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running_api(tmp_path, token_days=1 / 24) as api:
        assert is_taken(api, f"Bearer {api.account().token}")
        with monkeypatch.context() as an_hour_ago:
            an_hour_ago.setattr("forensix.service.data.tokens.time", SimpleNamespace(time=lambda: time.time() - 3601))
            account = api.account()
        assert not is_taken(api, f"Bearer {account.token}")
        assert account.tokens("GET").json()["claims"] == {}


@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "",
        "Basic",
        "Basic ",
        "Basic %%%",
        "Basic " + base64.b64encode(b"no colon").decode(),
        "Basic " + base64.b64encode(b"\xff\xfe:x").decode(),
        "Basic " + base64.b64encode(b"zero\0byte:password").decode(),
        "Basic " + base64.b64encode(b"' OR 1=1 --:password").decode(),
        "Basic " + base64.b64encode(b":").decode(),
        "Digest username=anna",
    ],
)
def test_token_operations_take_basic_only(api: Api, authorization: str | None) -> None:
    headers = {} if authorization is None else {"Authorization": authorization}
    for method, path in (("POST", ""), ("GET", ""), ("DELETE", ""), ("GET", "/x"), ("DELETE", "/x")):
        answer = api.client.request(method, f"/auth/tokens{path}", headers=headers)
        refused(answer, 401, "unauthorized")
        assert answer.headers["www-authenticate"].startswith("Basic ")


def test_a_wrong_password_and_an_unknown_name_get_the_same_answer(api: Api, account: Account) -> None:
    wrong = api.client.get("/auth/tokens", auth=(account.auth[0], "wrong password"))
    unknown = api.client.get("/auth/tokens", auth=("nobody", "wrong password"))
    assert refused(wrong, 401, "unauthorized") == refused(unknown, 401, "unauthorized")


def test_two_authorization_headers_are_refused(api: Api, account: Account) -> None:
    two = [("Authorization", f"Bearer {account.token}"), ("Authorization", "Bearer nonsense")]
    refused(api.client.get(POLL, headers=two), 401, "unauthorized")


def test_the_signing_key_is_shared_through_the_database(api: Api, account: Account, tmp_path: Path) -> None:
    same = Settings.read(home=tmp_path, database_url=api.settings.database_url)
    app = create_app(same)
    assert is_taken(Api(app, type(api.client)(app)), f"Bearer {account.token}")
    app.state.context.close()
    assert not list(api.settings.home.rglob("*key*"))


def test_an_account_keeps_a_bounded_number_of_tokens(account: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forensix.service.data.tokens.MAX_TOKENS", 2)
    assert account.tokens().status_code == 200
    refused(account.tokens(), 400, "too_many")


@pytest.fixture(scope="module")
def on_postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    if program("postgres") is None:
        pytest.skip("PostgreSQL is not installed")
    with postgres() as server, running_api(tmp_path_factory.mktemp("home"), database_url=server.url) as running:
        yield running


def give_tokens(api: Api, *ids: str) -> str:
    """Give a new account tokens of these ids in place of all that there are, and return its id."""
    account = api.account().id
    with api.context.database.write() as connection:
        connection.execute(sa.delete(tokens))
        times = {"issued_at": int(time.time()), "expires_at": int(time.time()) + 1000}
        for each in ids:
            connection.execute(sa.insert(tokens).values(id=each, account_id=account, ends_with="x", **times))
    return account


def lock(token_id: str, **how: Any) -> Any:
    return sa.select(tokens.c.id).where(tokens.c.id == token_id).with_for_update(**how)


def test_all_tokens_are_ended_in_the_order_of_their_bytes(on_postgres: Api) -> None:
    # By their bytes the capital comes first; by language, and in the table, it does not.
    account, context = give_tokens(on_postgres, "a", "B"), on_postgres.context
    with ThreadPoolExecutor(1) as pool:
        with context.database.write() as connection:
            connection.execute(lock("B", read=True, key_share=True))
            deleted = pool.submit(context.tokens.delete, account)
            time.sleep(0.5)
            connection.execute(lock("a", read=True, key_share=True, nowait=True))
        assert deleted.result(10) == ["B", "a"]


def test_tokens_asked_for_at_once_stay_within_the_bound(on_postgres: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("forensix.service.data.tokens.MAX_TOKENS", 3)
    account, context = give_tokens(on_postgres, "a"), on_postgres.context

    def hesitate(_c: Any, _cursor: Any, statement: str, *_: Any) -> None:
        if statement.startswith("INSERT INTO tokens"):
            time.sleep(0.2)

    def issue(_: int) -> bool:
        try:
            context.tokens.issue(account)
        except Refusal as refusal:
            assert refusal.code == "too_many"
            return False
        return True

    sa.event.listen(context.database.engine, "before_cursor_execute", hesitate)
    try:
        with ThreadPoolExecutor(6) as pool:
            assert sum(pool.map(issue, range(6))) == 2
    finally:
        sa.event.remove(context.database.engine, "before_cursor_execute", hesitate)
    assert len(context.tokens.listing(account)) == 3
