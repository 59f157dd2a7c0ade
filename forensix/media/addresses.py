"""Which addresses a download may reach: those of the public internet, looked at through every wrapping.

References
----------
IANA special-purpose address registries (RFC 6890); RFC 6052 (NAT64), RFC 3056 (6to4), RFC 4291 (mapped addresses),
RFC 9637 (documentation).
"""

import ipaddress
import re
import socket
import threading
from collections.abc import Collection

from forensix.errors import FetchError, UsageError
from forensix.media.sniff import shorten

HOST = re.compile(r"[\w-]+(?:\.[\w-]+)*\.?|\[?[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]+(?:%\w+)?\]?")
"""A name or an address, an IPv6 one in brackets or not."""

_V6_PUBLIC = ipaddress.IPv6Network("2000::/3")
_V6_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_V6_DOCUMENTATION = ipaddress.IPv6Network("3fff::/20")
"""Of RFC 9637, which Python 3.11 does not know."""
_V4_REFUSED = tuple(
    ipaddress.IPv4Network(block)
    for block in (
        "192.0.0.0/24",  # protocol assignments, some of which Python counts as global
        "192.88.99.0/24",  # 6to4 relays
        "168.63.129.16/32",  # a cloud's metadata service on an otherwise public address
    )
)


def check_hosts(private_hosts: Collection[str]) -> None:
    """Raise `UsageError` unless they are names or addresses of hosts: another text opens nothing."""
    if isinstance(private_hosts, str):
        raise UsageError(f"private_hosts is a list of hosts: write private_hosts=[{private_hosts!r}]")
    wrong = next((host for host in private_hosts if not HOST.fullmatch(str(host))), None)
    if wrong is not None:
        raise UsageError(f"a private host is a name or an address, without scheme, port and path: {shorten(wrong)!r}")


def is_public(address: str) -> bool:
    """Return whether a numeric address is one of the public internet; False for what is no address at all."""
    try:
        ip = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    if isinstance(ip, ipaddress.IPv4Address):
        return _is_public_v4(ip)
    inner = ip.ipv4_mapped or ip.sixtofour
    if ip in _V6_NAT64:
        inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    if inner is not None:
        return _is_public_v4(inner)
    return ip in _V6_PUBLIC and ip.is_global and ip not in _V6_DOCUMENTATION


def resolve(host: str, port: int, timeout_s: float) -> list[str]:
    """Return the numeric addresses of a host, all forms that the system's resolver takes included.

    Raises
    ------
    FetchError
        When the name is unknown, or no answer came in time.
    """
    reachable: list[str] = []
    failure: list[Exception] = []

    def look_up() -> None:
        try:
            answers = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            reachable.extend(dict.fromkeys(str(answer[4][0]) for answer in answers))
        except (OSError, UnicodeError) as error:
            failure.append(error)

    # getaddrinfo knows no time-out; a thread that is left behind ends by itself.
    thread = threading.Thread(target=look_up, daemon=True)
    thread.start()
    thread.join(max(timeout_s, 0))
    if failure or not reachable:
        why = "no such name" if failure else "the name server did not answer in time"
        raise FetchError(f"the host {shorten(host)} cannot be found: {why}; check the address and the network")
    return reachable


def _is_public_v4(ip: ipaddress.IPv4Address) -> bool:
    return ip.is_global and not ip.is_multicast and not any(ip in block for block in _V4_REFUSED)
