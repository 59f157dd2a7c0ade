"""One POST to a webhook: signed, to public addresses only, within one deadline, no redirect followed, no answer read.

References
----------
Standard Webhooks 1.0 (symmetric signatures): headers, what is signed, and how the secret is spelled.
"""

import base64
import hashlib
import hmac
import ssl
import time
from collections.abc import Collection
from functools import cache

import httpcore
import httpx

from forensix.errors import FetchError
from forensix.media.guarded import Deadline, GuardedBackend

SECRET_PREFIX = "whsec_"


class NoAnswer(Exception):
    """The receiver could not be reached, must not be, or did not answer in time."""


def sign(secret: str, message_id: str, timestamp: int, body: bytes) -> str:
    """Return the ``webhook-signature`` of a body: ``v1,`` and the base64 of the HMAC-SHA256."""
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    signed = f"{message_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode("ascii")


def post(
    url: str, body: bytes, *, message_id: str, secret: str, timeout_s: float, private_hosts: Collection[str] = ()
) -> int:
    """Send a JSON body and return the HTTP status, whatever it is.

    Raises
    ------
    NoAnswer
        There was none within ``timeout_s``, name resolution and TLS included.
    """
    clock = Deadline(timeout_s)
    try:
        target = httpx.URL(url)
        if target.scheme not in ("http", "https") or not target.host:
            raise NoAnswer("the URL is not an http(s) URL")
        timestamp = int(time.time())
        headers: dict[bytes | str, bytes | str] = {
            "Host": target.netloc.decode("ascii"),
            "User-Agent": "forensix",
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "Connection": "close",
            "webhook-id": message_id,
            "webhook-timestamp": str(timestamp),
            "webhook-signature": sign(secret, message_id, timestamp, body),
        }
        where = httpcore.URL(scheme=target.raw_scheme, host=target.raw_host, port=target.port, target=target.raw_path)
        backend = GuardedBackend(clock, private_hosts)
        with (
            httpcore.ConnectionPool(ssl_context=_tls(), network_backend=backend, max_connections=1) as pool,
            pool.stream("POST", where, headers=headers, content=body, extensions=clock.limits()) as answer,
        ):
            return answer.status
    except httpcore.TimeoutException:
        raise NoAnswer(f"not within {timeout_s:g} s") from None
    except FetchError as error:
        raise NoAnswer("its address is private" if "private" in str(error) else "its host is unknown") from None
    except (httpcore.NetworkError, httpcore.ProtocolError) as error:
        raise NoAnswer(type(error).__name__) from None
    except (httpx.InvalidURL, UnicodeError, ValueError):
        raise NoAnswer("the URL is malformed") from None


@cache
def _tls() -> ssl.SSLContext:
    # Reading the certificates takes longer than a delivery.
    return httpx.create_ssl_context(trust_env=False)
