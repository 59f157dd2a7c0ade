"""How often an account may ask, and how often an address may give a wrong password; counted in this process."""

import ipaddress
import threading
import time
from collections import Counter

from forensix.service.errors import rate_limited
from forensix.service.settings import Settings

_MINUTE_S = 60.0


class Rates:
    """Counts by fixed minutes; a limit of 0 counts nothing."""

    def __init__(self, settings: Settings) -> None:
        self._requests = _Minute(settings.account_rate)
        self._passwords = _Minute(settings.password_rate)

    def count_request(self, account_id: str) -> None:
        """Count a request of an account.

        Raises
        ------
        Refusal
            429: one too many.
        """
        if not self._requests.count(account_id):
            raise rate_limited("requests", self._requests.left_s())

    def check_address(self, address: str) -> None:
        """Say whether another password of this address is looked at.

        Raises
        ------
        Refusal
            429: too many were wrong.
        """
        if not self._passwords.has_room(network(address)):
            raise rate_limited("wrong passwords", self._passwords.left_s())

    def count_wrong_password(self, address: str) -> None:
        """Count a wrong password of an address."""
        self._passwords.count(network(address))


class _Minute:
    """Counts by key, forgotten each minute of a clock that nobody sets: a jump of the other locks nobody out."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._begun = time.monotonic()
        self._counts: Counter[str] = Counter()
        # Passwords are checked in threads.
        self._lock = threading.Lock()

    def count(self, key: str) -> bool:
        """Count one more, and return whether it was within the limit."""
        with self._lock:
            room = self._room(key)
            self._counts[key] += room
            return room

    def has_room(self, key: str) -> bool:
        """Return whether one more would be within the limit."""
        with self._lock:
            return self._room(key)

    def left_s(self) -> float:
        """Return how long this minute still lasts."""
        return max(0.0, self._begun + _MINUTE_S - time.monotonic())

    def _room(self, key: str) -> bool:
        if time.monotonic() - self._begun >= _MINUTE_S:
            self._begun = time.monotonic()
            self._counts.clear()
        return not self._most or self._counts[key] < self._most


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
