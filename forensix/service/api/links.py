"""URLs that clients hand over, for media and for webhooks: what can be refused before anything is connected.

A name that leads to a private address is found out at connection time, by the downloader and by the deliveries.
"""

import ipaddress
import re
import socket
from collections.abc import Collection

import httpx

from forensix.media.addresses import is_public
from forensix.service.errors import Refusal

MAX_URL = 2048


def check_url(url: str, private_hosts: Collection[str]) -> str:
    """Return the URL without the blanks around it.

    Raises
    ------
    Refusal
        400: it is malformed or too long, not http(s), holds a user name or password, or names a private address.
    """
    url = url.strip()
    if len(url) > MAX_URL:
        raise _bad(f"a URL may have {MAX_URL} characters, this one has {len(url)}")
    if not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        raise _bad("the URL holds characters that a URL cannot hold; percent-encode them")
    try:
        target = httpx.URL(url)
        # Read here: a host that pretends to be internationalised fails only when it is decoded.
        port, host = target.port, target.host.lower().strip("[].")
    except (httpx.InvalidURL, ValueError):
        raise _bad("the URL is malformed; give one such as https://example.org/clip.mp4") from None
    if target.scheme not in ("http", "https") or not host:
        raise _bad("the URL must start with http:// or https:// and name a host")
    # By the text itself: a name that is empty is dropped on parsing.
    if "@" in re.split(r"[/?#]", url.partition("://")[2])[0]:
        raise _bad("the URL must not hold a user name or password")
    if port is not None and not 0 < port < 65536:
        raise _bad("the URL names a port that there is not")
    if not _is_opened(host, private_hosts) and _is_private(host):
        raise _bad("the URL names a private address, which this service does not reach")
    return url


def check_webhook(url: str, private_hosts: Collection[str]) -> str:
    """Return the URL of a receiver, without the blanks around it.

    Results hold faces and what was said: over the internet they go encrypted, to a host that shows a certificate.

    Raises
    ------
    Refusal
        400: as `check_url`, or it is not https and no host that the operator opened.
    """
    url = check_url(url, private_hosts)
    target = httpx.URL(url)
    if target.scheme != "https" and not _is_opened(target.host, private_hosts):
        raise _bad("the URL must start with https://; results are not sent in the clear")
    return url


def _is_opened(host: str, private_hosts: Collection[str]) -> bool:
    return host.lower().strip("[].") in {allowed.lower().strip("[].") for allowed in private_hosts}


def _is_private(host: str) -> bool:
    if host == "localhost" or host.endswith((".localhost", ".local", ".internal")):
        return True
    try:
        # Also 127.1, 0x7f000001 and 2130706433, which resolvers take for addresses.
        return not is_public(str(ipaddress.IPv4Address(socket.inet_aton(host))))
    except OSError:
        pass
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return not is_public(host)


def _bad(sentence: str) -> Refusal:
    return Refusal(400, "bad_url", sentence)
