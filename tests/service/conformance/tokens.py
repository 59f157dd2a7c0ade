"""Sections 2.6, 4.1 and 5: tokens, and who may do what."""

import base64
import json

import httpx

from tests.service import specification as spec
from tests.service.conformance.live import Json, Live, Rows, good, refused

rows = Rows()
DAY_S = 86_400


def payload(token: str) -> Json:
    part = token.split(".")[1]
    return dict(json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))))


def create(live: Live, auth: tuple[str, str] | None = None) -> Json:
    return good(live.ask("POST", "/auth/tokens", auth=auth or live.anna), spec.CREATED_TOKEN)


@rows.add("4.1", "POST /auth/tokens: claims, id, success, token")
def _(live: Live) -> None:
    issued = create(live)
    inside = payload(issued["token"])
    assert issued["token"].count(".") == 2
    assert inside["aud"] == issued["claims"]["audience"] and inside["iss"] == issued["claims"]["issuer"]
    assert inside["jti"] == issued["id"]
    assert inside["exp"] == issued["claims"]["expiresAt"] and inside["sub"] == issued["claims"]["subject"]


@rows.add("4.1", "GET /auth/tokens: a map of claims by token id, without the tokens")
def _(live: Live) -> None:
    issued = create(live)
    answer = live.ask("GET", "/auth/tokens", auth=live.anna)
    assert good(answer, spec.LISTED_TOKENS)["claims"][issued["id"]] == issued["claims"]
    assert issued["token"] not in answer.text


@rows.add("4.1", "GET /auth/tokens/{id}: the map with this one")
def _(live: Live) -> None:
    issued = create(live)
    actual = good(live.ask("GET", f"/auth/tokens/{issued['id']}", auth=live.anna), spec.LISTED_TOKENS)
    assert actual["claims"] == {issued["id"]: issued["claims"]}


@rows.add("4.1", "DELETE /auth/tokens/{id}: deleted_tokens; the token ends at once")
def _(live: Live) -> None:
    issued, other = create(live), create(live)
    assert live.ask("GET", f"/webhooks/{spec.EVENTS[0]}", token=issued["token"]).status_code == 200
    actual = good(live.ask("DELETE", f"/auth/tokens/{issued['id']}", auth=live.anna), spec.DELETED_TOKENS)
    assert actual["deleted_tokens"] == [issued["id"]]
    refused(live.ask("GET", f"/webhooks/{spec.EVENTS[0]}", token=issued["token"]), 401)
    refused(live.ask("GET", f"/auth/tokens/{issued['id']}", auth=live.anna), 404)
    refused(live.ask("DELETE", f"/auth/tokens/{issued['id']}", auth=live.anna), 404)
    assert live.ask("GET", f"/webhooks/{spec.EVENTS[0]}", token=other["token"]).status_code == 200


@rows.add("4.1", "DELETE /auth/tokens: all of the user, and of nobody else")
def _(live: Live) -> None:
    carol = live.service.account("carol")
    issued = [create(live, carol) for _ in range(2)]
    actual = good(live.ask("DELETE", "/auth/tokens", auth=carol), spec.DELETED_TOKENS)
    refused(live.ask("GET", f"/webhooks/{spec.EVENTS[0]}", token=issued[0]["token"]), 401)
    assert sorted(actual["deleted_tokens"]) == sorted(token["id"] for token in issued)
    assert good(live.ask("GET", "/auth/tokens", auth=carol), spec.LISTED_TOKENS)["claims"] == {}
    assert good(live.ask("DELETE", "/auth/tokens", auth=carol), spec.DELETED_TOKENS)["deleted_tokens"] == []
    assert live.ask("GET", f"/webhooks/{spec.EVENTS[0]}").status_code == 200


@rows.add("2.6", "decided: endsWith is the last six characters; times in Unix seconds, 30 days apart")
def _(live: Live) -> None:
    issued = create(live)
    claims = issued["claims"]
    assert claims["endsWith"] == issued["token"][-6:]
    assert claims["expiresAt"] - claims["issuedAt"] == 30 * DAY_S


@rows.add("5", "decided: another account's token id is 404, and its token stays")
def _(live: Live) -> None:
    theirs = create(live, live.ben)
    refused(live.ask("GET", f"/auth/tokens/{theirs['id']}", auth=live.anna), 404)
    refused(live.ask("DELETE", f"/auth/tokens/{theirs['id']}", auth=live.anna), 404)
    assert theirs["id"] in good(live.ask("GET", "/auth/tokens", auth=live.ben), spec.LISTED_TOKENS)["claims"]


@rows.add("5", "tokens take HTTP Basic and no bearer token")
def _(live: Live) -> None:
    refused(live.ask("GET", "/auth/tokens"), 401)
    refused(live.http.get("/auth/tokens", auth=(live.anna[0], "wrong")), 401)
    refused(live.http.get("/auth/tokens", auth=("nobody", live.anna[1])), 401)


@rows.add("5", "tasks and webhooks take a bearer token and no password")
def _(live: Live) -> None:
    refused(live.ask("GET", f"/webhooks/{spec.EVENTS[0]}", auth=live.anna), 401)
    refused(live.ask("GET", "/tasks/voice_analysis/x", auth=live.anna), 401)


@rows.add("5", "decided: the token is taken with Bearer in any case, and bare")
def _(live: Live) -> None:
    for value in (f"Bearer {live.token}", f"bearer {live.token}", f"Bearer   {live.token}", live.token):
        answer = live.http.get(f"/webhooks/{spec.EVENTS[0]}", headers={"Authorization": value})
        good(answer, spec.LISTED_WEBHOOKS)


@rows.add("5", "a token that was changed, or is of no signature, is refused")
def _(live: Live) -> None:
    head, body, signature = live.token.split(".")
    none = base64.urlsafe_b64encode(b'{"alg":"none","typ":"JWT"}').decode().rstrip("=")
    for token in (f"{head}.{body}.{signature[::-1]}", f"{none}.{body}.", f"{none}.{body}.{signature}", "x"):
        refused(live.ask("GET", f"/webhooks/{spec.EVENTS[0]}", token=token), 401)


def _unauthorised(operation: spec.Operation) -> None:
    @rows.add("5", f"{operation.name}: 401 and WWW-Authenticate without credentials")
    def _(live: Live) -> None:
        path = operation.path.format(id="x", event=spec.EVENTS[0])
        answer = httpx.request(operation.method, live.service.base_url + path)
        refused(answer, 401)
        assert answer.headers["www-authenticate"].lower().startswith(operation.auth)


for _operation in spec.OPERATIONS:
    _unauthorised(_operation)
