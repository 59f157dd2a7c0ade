"""Fetch a URL to a private file: direct links here, links of platforms by yt-dlp in the sandbox.

Only http and https, and only public addresses: every connection, those that redirects ask for included, is made by the
guarded backend. Proxies of the environment are not used: they would connect for us.
"""

from pathlib import Path
from typing import TYPE_CHECKING

import httpcore
import httpx

from forensix.errors import FetchError, LimitExceeded
from forensix.media.guarded import Deadline, GuardedBackend
from forensix.media.sandbox import call
from forensix.media.sniff import shorten
from forensix.media.values import limit_text

if TYPE_CHECKING:
    from forensix.media.values import Limits

MAX_REDIRECTS = 5
_REDIRECTS = (301, 302, 303, 307, 308)
_HEADERS: dict[bytes | str, bytes | str] = {
    "User-Agent": "forensix",
    "Accept": "image/*, video/*, audio/*, application/pdf, */*;q=0.1",
    # Nothing to unpack: what is counted is what is kept.
    "Accept-Encoding": "identity",
}


def fetch(url: str, folder: Path, limits: "Limits", private_hosts: frozenset[str] = frozenset()) -> tuple[Path, str]:
    """Download ``url`` into ``folder`` and return the file's path and the name that the URL gives it.

    Raises
    ------
    FetchError
        The URL is malformed, its host is unknown or private, or the server refuses, fails or is too slow; or it is
        a web page of no platform that is known.
    LimitExceeded
        More than ``limits.max_bytes``.
    """
    path = folder / "download"
    name, no_media = _fetch_direct(url, path, limits, private_hosts)
    if no_media is None:
        return path, name
    path.unlink(missing_ok=True)
    fetched = call(
        "forensix.media.platforms:download",
        url,
        str(folder),
        limits.max_bytes,
        timeout_s=limits.download_s,
        network=True,
        file_bytes=limits.max_bytes,
    )
    if fetched is None:
        raise no_media
    return Path(fetched["path"]), fetched["name"]


def _fetch_direct(
    url: str, path: Path, limits: "Limits", private_hosts: frozenset[str]
) -> tuple[str, FetchError | None]:
    """Return the name, and what to say when the URL is no file and no platform is known for it either."""
    clock = Deadline(limits.download_s)
    target = _parse(url)
    backend = GuardedBackend(clock, private_hosts)
    context = httpx.create_ssl_context(trust_env=False)
    try:
        with httpcore.ConnectionPool(ssl_context=context, network_backend=backend, max_connections=1) as pool:
            for _ in range(MAX_REDIRECTS + 1):
                with pool.stream("GET", _core_url(target), headers=_headers(target), extensions=clock.limits()) as got:
                    if got.status not in _REDIRECTS:
                        return _name(target), _receive(got, target, path, limits)
                    target = _redirected(target, got)
            raise FetchError(
                f"{_printable(target)} lies behind more than {MAX_REDIRECTS} redirects; give the final link"
            )
    except httpcore.TimeoutException:
        raise FetchError(
            f"{_printable(target)} did not answer within {limits.download_s:g} s; try again, or download it yourself"
        ) from None
    except httpcore.ConnectError as error:
        raise FetchError(f"{_printable(target)} cannot be reached: {_reason(error)}") from None
    except (httpcore.NetworkError, httpcore.ProtocolError) as error:
        raise FetchError(f"{_printable(target)} broke off the answer: {_reason(error)}") from None


def _receive(response: httpcore.Response, target: httpx.URL, path: Path, limits: "Limits") -> FetchError | None:
    headers = {key.lower(): value for key, value in response.headers}
    if response.status != 200:
        refusal = FetchError(f"{_printable(target)} answered with HTTP status {response.status}; check the link")
        # Platforms turn simple clients away from their pages; whether this is one, yt-dlp knows.
        if response.status in (401, 403, 429) and _may_be_page(headers):
            return refusal
        raise refusal
    if headers.get(b"content-encoding", b"identity").lower() != b"identity":
        raise FetchError(f"{_printable(target)} sent compressed data, which was not asked for")
    stated = headers.get(b"content-length", b"0")
    if stated.isdigit() and int(stated) > limits.max_bytes:
        raise _too_large(target, limit_text(int(stated)), limits)
    n_bytes = 0
    head = b""
    with path.open("xb") as file:
        for chunk in response.iter_stream():
            n_bytes += len(chunk)
            if n_bytes > limits.max_bytes:
                raise _too_large(target, "more", limits)
            if len(head) < 1024:
                head += chunk[:1024]
            file.write(chunk)
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:15].lower()
    if not (_may_be_page(headers) and start.startswith((b"<!doctype html", b"<html", b"<!--"))):
        return None
    return FetchError(
        f"{_printable(target)} is a web page, and of no platform that is known; give the direct link to the media file"
    )


def _parse(url: str) -> httpx.URL:
    try:
        target = httpx.URL(url.strip())
        # Decoded only when it is asked for, which a name that pretends to be internationalised does not survive.
        host = target.host
    except (httpx.InvalidURL, UnicodeError, ValueError):
        raise FetchError(f"{shorten(url)} is not a URL; give one such as https://example.org/clip.mp4") from None
    if target.scheme not in ("http", "https"):
        raise FetchError(f"{shorten(url)} is a link of the kind {target.scheme}; only http and https are fetched")
    if not host:
        raise FetchError(f"{shorten(url)} names no host; give a link such as https://example.org/clip.mp4")
    if target.port is not None and not 0 < target.port < 65536:
        raise FetchError(f"{_printable(target)} names the port {target.port}, which there is not")
    if target.userinfo:
        raise FetchError(f"{_printable(target)} carries a user name or password, which are not sent")
    return target


def _redirected(target: httpx.URL, response: httpcore.Response) -> httpx.URL:
    where = next((value for key, value in response.headers if key.lower() == b"location"), b"")
    if not where:
        raise FetchError(f"{_printable(target)} redirects to nowhere")
    try:
        return _parse(str(target.join(where.decode("utf-8", "replace"))))
    except (httpx.InvalidURL, ValueError):
        raise FetchError(f"{_printable(target)} redirects to a malformed address") from None


def _core_url(target: httpx.URL) -> httpcore.URL:
    return httpcore.URL(scheme=target.raw_scheme, host=target.raw_host, port=target.port, target=target.raw_path)


def _headers(target: httpx.URL) -> dict[bytes | str, bytes | str]:
    return {**_HEADERS, "Host": target.netloc.decode("ascii")}


def _name(target: httpx.URL) -> str:
    return Path(target.path).name or target.host


def _may_be_page(headers: dict[bytes, bytes]) -> bool:
    return headers.get(b"content-type", b"text/html").lower().startswith((b"text/html", b"application/xhtml"))


def _too_large(target: httpx.URL, came: str, limits: "Limits") -> LimitExceeded:
    limit = limit_text(int(limits.max_bytes))
    return LimitExceeded(f"{_printable(target)} has {came}; the limit for a download is {limit}")


def _printable(target: httpx.URL) -> str:
    # Query strings may hold secrets.
    return shorten(str(target.copy_with(query=None, fragment=None, userinfo=b"")))


def _reason(error: Exception) -> str:
    text = str(error)
    if "CERTIFICATE" in text.upper():
        return "its certificate is not valid for this host"
    if "refused" in text:
        return "the connection was refused"
    if "unreachable" in text:
        return "there is no network route to it"
    return "the connection failed"
