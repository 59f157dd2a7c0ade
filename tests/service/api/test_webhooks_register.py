"""Registering webhooks: the four operations, the eight events, and addresses that are refused at once."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from forensix.service.api.links import check_url
from tests.service.in_process import Account, Api, multipart, refused, running_api
from tests.service.postgres import postgres, program

URL = "https://example.org/hook?x=1"


@pytest.fixture(scope="module")
def api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    home = tmp_path_factory.mktemp("home")
    with running_api(home, private_hosts="hooks.internal,127.0.0.2", webhooks_per_event=3) as running:
        yield running


@pytest.fixture
def account(api: Api) -> Account:
    return api.account()


def test_either_form_encoding(api: Api, account: Account) -> None:
    kind, body = multipart(('name="url"', URL.encode()))
    path = "/webhooks/voice_analysis_complete"
    by_parts = api.client.post(path, headers=account.headers | kind, content=body)
    assert by_parts.status_code == 200, by_parts.text
    # The same URL keeps its id: nobody wants everything twice.
    assert account.webhooks("POST", url=f" {URL} ").json()["id"] == by_parts.json()["id"]


def test_events_are_apart(account: Account) -> None:
    first = account.webhooks("POST", url=URL).json()["id"]
    assert account.webhooks("GET", "forensic_analysis_complete").json()["urls"] == []
    refused(account.webhooks("DELETE", "forensic_analysis_complete", f"/{first}"), 404, "not_found")
    account.webhooks("DELETE", "forensic_analysis_complete")
    assert len(account.webhooks().json()["urls"]) == 1


def test_accounts_are_apart(api: Api, account: Account) -> None:
    other = api.account()
    mine = account.webhooks("POST", url=URL).json()["id"]
    theirs = other.webhooks("POST", url=URL).json()["id"]
    assert mine != theirs
    refused(other.webhooks("DELETE", path=f"/{mine}"), 404, "not_found")
    other.webhooks("DELETE")
    assert account.webhooks().json()["urls"] == [{"id": mine, "url": URL}]


@pytest.mark.parametrize(
    "event", ["nonesuch", "voice_analysis", "VOICE_ANALYSIS_COMPLETE", "voice_analysis_complete%00"]
)
def test_unknown_events(account: Account, event: str) -> None:
    for method in ("POST", "GET", "DELETE"):
        refused(account.webhooks(method, event), 404, "not_found")
    refused(account.webhooks("DELETE", event, "/x"), 404, "not_found")


@pytest.mark.parametrize("form", [{}, {"url": ""}, {"url": "   "}, {"nonesuch": "x"}])
def test_the_url_must_be_there(account: Account, form: dict[str, str]) -> None:
    refused(account.webhooks("POST", **form), 400, "bad_field")


def test_a_token_that_is_revoked_while_the_form_arrives_registers_nothing(api: Api) -> None:
    account = api.account()

    async def form() -> AsyncIterator[bytes]:
        yield b"url=https%3A%2F%2Fexample.org"
        await asyncio.to_thread(account.tokens, "DELETE")
        yield b"%2Fhook"

    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(api.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://test") as client:
            headers = account.headers | {"Content-Type": "application/x-www-form-urlencoded"}
            return await client.post("/webhooks/voice_analysis_complete", headers=headers, content=form())

    refused(asyncio.run(send()), 401, "unauthorized")
    again = account.tokens().json()["token"]
    listed = api.client.get("/webhooks/voice_analysis_complete", headers={"Authorization": again})
    assert listed.json() == {"success": True, "urls": []}


@pytest.mark.skipif(program("postgres") is None, reason="PostgreSQL is not installed")
def test_one_url_registered_many_times_at_once_is_registered_once(tmp_path: Path) -> None:
    with postgres() as server, running_api(tmp_path, database_url=server.url, webhooks_per_event=3) as api:
        account = api.account()
        for n in range(5):
            url = f"https://example.org/{n % 2}"
            with ThreadPoolExecutor(16) as pool:
                ids = set(pool.map(lambda _: account.webhooks("POST", url=url).json()["id"], range(32)))  # noqa: B023
            assert len(ids) == 1
        assert len(account.webhooks().json()["urls"]) == 2


def test_so_many_for_an_event(account: Account) -> None:
    for n in range(3):
        assert account.webhooks("POST", url=f"https://example.org/{n}").status_code == 200
    refused(account.webhooks("POST", url="https://example.org/3"), 400, "too_many")
    assert account.webhooks("POST", url="https://example.org/2").status_code == 200
    assert account.webhooks("POST", "forensic_analysis_complete", url="https://example.org/3").status_code == 200


PRIVATE = (
    "http://localhost/", "http://LOCALHOST:8000/", "http://a.localhost/", "http://localhost./", "http://127.0.0.1/",
    "http://127.0.0.1./", "http://127.1/", "http://0x7f000001/", "http://0x7f.1/", "http://2130706433/", "http://017700000001/",
    "http://0/", "http://0.0.0.0/", "http://10.1.2.3/", "http://172.16.0.1/", "http://192.168.1.1/", "http://169.254.169.254/",
    "http://168.63.129.16/", "http://100.64.0.1/", "http://224.0.0.1/", "http://255.255.255.255/", "http://[::1]/",
    "http://[::]/", "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[fe80::1]/", "http://[fe80::1%25eth0]/",
    "http://[fc00::1]/", "http://[64:ff9b::7f00:1]/", "http://[2002:7f00:1::]/", "https://printer.local/",
    "http://metadata.google.internal/",
)  # fmt: skip
MALFORMED = (
    "no url", "example.org/hook", "//example.org/", "http://", "http:///hook", "https://:443/", "ftp://example.org/",
    "file:///etc/passwd", "javascript:alert(1)", "gopher://example.org/", "http://user@example.org/",
    "http://user:word@example.org/", "http://@example.org/", "http://example.org:99999/", "http://example.org:0/",
    "http://example.org:x/", "http://xn--/", "http://[::1/", "http://exa mple.org/", "http://example.org\\@127.0.0.1/",
    "http://example.org/\r\nX: y",
    "http://example.org/\0", "http://example.org/a\tb", "http://example.org/größe", "http://１２７.0.0.1/",
    "https://example.org/" + "x" * 2048,
)  # fmt: skip


@pytest.mark.parametrize("url", (*PRIVATE, *MALFORMED))
def test_urls_that_are_refused(api: Api, account: Account, url: str) -> None:
    refused(account.webhooks("POST", url=url), 400, "bad_url" if "\0" not in url else "bad_field")
    assert account.webhooks().json()["urls"] == []
    with api.leaves_nothing():
        answer = account.create("voice_analysis", None, url=url)
        assert answer.status_code == 400
        assert answer.json()["code"] in ("bad_url", "bad_field")


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org:8443/a/b?c=d&e=%20#f",
        "https://xn--bcher-kva.example/",
        "https://93.184.216.34/hook",
        "https://[2606:2800:220:1:248:1893:25c8:1946]/hook",
        "http://hooks.internal:8000/",
        "http://127.0.0.2:9/",
        "HTTPS://EXAMPLE.org/",
    ],
)
def test_urls_that_are_taken(account: Account, url: str) -> None:
    assert account.webhooks("POST", url=url).status_code == 200
    assert account.webhooks().json()["urls"][0]["url"] == url


@pytest.mark.parametrize("url", ["http://example.org/", "http://93.184.216.34/hook", "HTTP://EXAMPLE.org:443/"])
def test_results_are_sent_in_the_clear_to_opened_hosts_only(account: Account, url: str) -> None:
    assert "https://" in refused(account.webhooks("POST", url=url), 400, "bad_url")["error"]
    assert account.webhooks().json()["urls"] == []
    assert account.create("voice_analysis", None, url=url).status_code == 200, "a link to media is no secret"


def test_an_opened_host_opens_no_other() -> None:
    assert check_url("http://LocalHost:1/", ["localhost"])
    with pytest.raises(Exception, match="private"):
        check_url("http://127.0.0.1:1/", ["localhost"])
