"""How often an account may ask, and how often an address may give a wrong password; counted in this process."""

import ipaddress
import time

from limits import RateLimitItem, RateLimitItemPerMinute
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter

from forensix.service.errors import rate_limited
from forensix.service.settings import Settings


class Rates:
    """Counts by fixed minutes; a limit of 0 counts nothing."""

    def __init__(self, settings: Settings) -> None:
        self._limiter = FixedWindowRateLimiter(MemoryStorage())
        self._account = _per_minute(settings.account_rate, "account")
        self._password = _per_minute(settings.password_rate, "password")

    def count_request(self, account_id: str) -> None:
        """Count a request of an account.

        Raises
        ------
        Refusal
            429: one too many.
        """
        if self._account is not None and not self._limiter.hit(self._account, account_id):
            raise rate_limited("requests", self._wait_s(self._account, account_id))

    def check_address(self, address: str) -> None:
        """Say whether another password of this address is looked at.

        Raises
        ------
        Refusal
            429: too many were wrong.
        """
        key = network(address)
        if self._password is not None and not self._limiter.test(self._password, key):
            raise rate_limited("wrong passwords", self._wait_s(self._password, key))

    def count_wrong_password(self, address: str) -> None:
        """Count a wrong password of an address."""
        if self._password is not None:
            self._limiter.hit(self._password, network(address))

    def _wait_s(self, limit: RateLimitItem, key: str) -> float:
        return self._limiter.get_window_stats(limit, key).reset_time - time.time()


def network(address: str) -> str:
    """Return what stands for one user of the network: an IPv4 address, or the /64 that an IPv6 host is given."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return "unknown"
    if isinstance(ip, ipaddress.IPv4Address):
        return str(ip)
    if ip.ipv4_mapped is not None:
        return str(ip.ipv4_mapped)
    return str(ipaddress.IPv6Network((ip, 64), strict=False))


def _per_minute(amount: int, name: str) -> RateLimitItem | None:
    return RateLimitItemPerMinute(amount, 1, name) if amount else None
