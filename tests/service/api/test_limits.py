"""Rates: an account's requests, an address's wrong passwords."""

import time
from pathlib import Path

import pytest

from forensix.service.api import limits
from forensix.service.api.limits import Rates, network
from forensix.service.errors import Refusal
from forensix.service.settings import Settings
from tests.service.in_process import refused, running_api


@pytest.fixture
def long_minute(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a minute outlast a test, also on a busy machine."""
    monkeypatch.setattr(limits, "_MINUTE_S", 600.0)


@pytest.mark.usefixtures("long_minute")
def test_an_account_has_so_many_requests_a_minute(tmp_path: Path) -> None:
    with running_api(tmp_path, account_rate=3) as api:
        mine, other = api.account(), api.account()
        for _ in range(3):
            assert mine.webhooks().status_code == 200
        answer = mine.webhooks()
        refused(answer, 429, "rate_limited")
        assert 1 <= int(answer.headers["retry-after"]) <= 601
        with api.leaves_nothing():
            refused(mine.create(), 429, "rate_limited")
        refused(mine.tokens(), 429, "rate_limited")
        assert other.webhooks().status_code == 200


@pytest.mark.usefixtures("long_minute")
def test_an_address_has_so_many_wrong_passwords_a_minute(tmp_path: Path) -> None:
    with running_api(tmp_path, password_rate=3) as api:
        account = api.account()
        for name in (account.auth[0], "nobody", account.auth[0]):
            refused(api.client.get("/auth/tokens", auth=(name, "wrong password")), 401, "unauthorized")
        # Also the right one: otherwise the answer would tell which it is.
        answer = api.client.get("/auth/tokens", auth=account.auth)
        refused(answer, 429, "rate_limited")
        # Tokens go on.
        assert account.webhooks().status_code == 200


def test_right_passwords_do_not_count_as_wrong(tmp_path: Path) -> None:
    with running_api(tmp_path, password_rate=2) as api:
        account = api.account()
        for _ in range(4):
            assert account.tokens("GET").status_code == 200


def test_a_clock_that_is_set_back_locks_nobody_out(monkeypatch: pytest.MonkeyPatch) -> None:
    rates, now, steady = Rates(Settings(account_rate=1)), time.time(), time.monotonic()
    rates.count_request("anna")
    monkeypatch.setattr(limits.time, "time", lambda: now - 86400)
    with pytest.raises(Refusal) as caught:
        rates.count_request("anna")
    assert int(caught.value.headers["Retry-After"]) <= 61
    monkeypatch.setattr(limits.time, "monotonic", lambda: steady + 61)
    rates.count_request("anna")


@pytest.mark.usefixtures("long_minute")
def test_a_header_does_not_make_another_address(tmp_path: Path) -> None:
    with running_api(tmp_path, password_rate=2) as api:
        for n in range(4):
            headers = {"X-Forwarded-For": f"192.0.2.{n}", "Forwarded": f"for=192.0.2.{n}", "X-Real-IP": f"192.0.2.{n}"}
            answer = api.client.get("/auth/tokens", auth=("nobody", "wrong password"), headers=headers)
        refused(answer, 429, "rate_limited")


def test_what_counts_as_one_user_of_the_network() -> None:
    assert network("192.0.2.1") != network("192.0.2.2")
    assert network("::ffff:192.0.2.1") == network("192.0.2.1")
    assert network("2001:db8::1") == network("2001:db8::ffff:1")
    assert network("2001:db8::1") != network("2001:db8:0:1::1")
    assert network("fe80::1%eth0") == network("fe80::1")
    assert network("testclient") == network("")
