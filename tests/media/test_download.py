"""Downloads: what is fetched, and what must never be reached."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from forensix.errors import FetchError, LimitExceeded, UnsupportedMedia, UsageError
from forensix.media import Limits, open_media
from forensix.media.addresses import is_public
from tests.making import write_image

LOCAL = ("127.0.0.1", "localhost")


class _Handler(BaseHTTPRequestHandler):
    answers: dict[str, Callable[["_Handler"], None]]
    hits: list[tuple[str, str]]

    def do_GET(self) -> None:
        self.hits.append((self.path, self.headers["Host"]))
        path = self.path.partition("?")[0]
        try:
            self.answers.get(path, lambda handler: handler.send_error(404))(self)
        except OSError:
            return

    def log_message(self, format: str, *args: object) -> None:
        pass

    def give(self, body: bytes, kind: str = "application/octet-stream", **headers: str) -> None:
        self.send_response(200)
        for key, value in {"Content_Type": kind, "Content_Length": str(len(body)), **headers}.items():
            self.send_header(key.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(body)

    def redirect(self, where: str) -> None:
        self.send_response(302)
        self.send_header("Location", where)
        self.end_headers()


class Site:
    """A server on this machine that answers as told."""

    def __init__(self) -> None:
        self.answers: dict[str, Callable[[_Handler], None]] = {}
        self.hits: list[tuple[str, str]] = []
        handler = type("Handler", (_Handler,), {"answers": self.answers, "hits": self.hits})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.port = self._server.server_port
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def site() -> Iterator[Site]:
    actual = Site()
    yield actual
    actual.close()


@pytest.fixture
def photo(tmp_path: Path) -> bytes:
    return write_image(tmp_path / "photo.png").read_bytes()


def test_a_direct_link_is_opened_like_a_file(site: Site, photo: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    site.answers["/a/pic%20one.jpg"] = lambda handler: handler.give(photo)
    site.answers["/to"] = lambda handler: handler.redirect("/a/pic%20one.jpg")
    for url in (f"{site.url}/a/pic%20one.jpg?token=x#here", f"{site.url}/to"):
        with open_media(url, private_hosts=LOCAL) as media:
            assert (media.source, media.name, media.format, media.kind) == (url, "pic one.jpg", "png", "image")
            assert media.image().shape == (240, 320, 3)
            path = media.path
        assert not path.parent.exists()
    assert site.hits[0] == ("/a/pic%20one.jpg?token=x", f"127.0.0.1:{site.port}")


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.1",
        "0.0.0.0",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "127.0.0.1.",
    ],
)
def test_this_machine_is_not_reached_in_any_spelling(host: str, listener) -> None:
    with pytest.raises(FetchError):
        open_media(f"http://{host}:{listener.port}/x.png")
    assert listener.contacts == 0


def test_redirects_are_checked_too(site: Site, listener) -> None:
    site.answers["/x.png"] = lambda handler: handler.redirect(f"http://localhost:{listener.port}/secret")
    with pytest.raises(FetchError, match="the host localhost has a private address"):
        open_media(f"{site.url}/x.png", private_hosts=["127.0.0.1"])
    assert len(site.hits) == 1
    assert listener.contacts == 0


def test_redirects_leave_http_for_nothing_and_end(site: Site) -> None:
    site.answers["/file"] = lambda handler: handler.redirect("file:///etc/passwd")
    site.answers["/loop"] = lambda handler: handler.redirect("/loop")
    site.answers["/nowhere"] = lambda handler: (handler.send_response(302), handler.end_headers())[0]
    for path, sentence in (("/file", "of the kind file"), ("/loop", "more than 5 redirects"), ("/nowhere", "nowhere")):
        with pytest.raises(FetchError, match=sentence):
            open_media(site.url + path, private_hosts=LOCAL)
    assert sum(path == "/loop" for path, _ in site.hits) == 6


def test_every_answer_of_the_name_server_counts(monkeypatch: pytest.MonkeyPatch, listener) -> None:
    def answer(*addresses: str) -> None:
        actual = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, listener.port)) for address in addresses]
        monkeypatch.setattr(socket, "getaddrinfo", lambda *args, **kwargs: actual)

    for addresses in (("127.0.0.1",), ("93.184.216.34", "127.0.0.1"), ("169.254.169.254",), ("10.0.0.1",)):
        answer(*addresses)
        with pytest.raises(FetchError, match=r"inside\.example has a private address"):
            open_media(f"http://inside.example:{listener.port}/x.png")
    assert listener.contacts == 0


def test_an_answer_that_changes_after_the_check_changes_nothing(monkeypatch: pytest.MonkeyPatch, listener) -> None:
    asked: list[object] = []
    real = socket.getaddrinfo

    def rebinding(host: object, port: int, *args: object, **kwargs: object) -> object:
        if host != "rebind.example":
            return real(host, port, *args, **kwargs)
        asked.append(host)
        # A public address first, this machine from then on.
        address = "1.1.1.1" if len(asked) == 1 else "127.0.0.1"
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    connected: list[object] = []

    def connect(address: tuple[str, int], *args: object, **kwargs: object) -> socket.socket:
        connected.append(address[0])
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr(socket, "getaddrinfo", rebinding)
    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(FetchError, match="connection was refused"):
        open_media(f"http://rebind.example:{listener.port}/x.png")
    # Asked once, and the connection went to what was checked, not to the name.
    assert asked == ["rebind.example"]
    assert connected == ["1.1.1.1"]


def test_public_and_private_addresses() -> None:
    public = ("8.8.8.8", "93.184.216.34", "2606:4700::1111", "64:ff9b::808:808", "2002:808:808::1", "::ffff:8.8.8.8")
    private = [
        "0.0.0.0",
        "10.1.2.3",
        "100.64.0.1",
        "100.100.100.200",
        "127.0.0.1",
        "127.255.255.254",
        "169.254.169.254",
        "172.16.0.1",
        "192.0.0.192",
        "192.168.1.1",
        "192.88.99.1",
        "198.18.0.1",
        "203.0.113.1",
        "224.0.0.1",
        "239.1.1.1",
        "240.0.0.1",
        "255.255.255.255",
        "168.63.129.16",
        "::",
        "::1",
        "::7f00:1",
        "::ffff:10.0.0.1",
        "::ffff:0:7f00:1",
        "64:ff9b::7f00:1",
        "64:ff9b::a9fe:a9fe",
        "64:ff9b:1::1",
        "100::1",
        "2001::1",
        "2001:db8::1",
        "3fff::1",
        "2002:7f00:1::1",
        "2002:a00:1::",
        "fc00::1",
        "fd00:ec2::254",
        "fe80::1",
        "fe80::1%eth0",
        "fec0::1",
        "ff02::1",
        "not-an-address",
        "1",
    ]
    assert [address for address in public if not is_public(address)] == []
    assert [address for address in private if is_public(address)] == []


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("ftp://example.org/a.mp4", "of the kind ftp; only http and https"),
        ("file:///etc/passwd", "of the kind file"),
        ("rtsp://example.org/a", "of the kind rtsp"),
        ("http://", "is not a URL|names no host"),
        ("http://user:pw@127.0.0.1/x", "carries a user name or password"),
        ("http://no-such-host.invalid/x.mp4", "the host no-such-host.invalid cannot be found"),
        ("http://" + "a" * 300 + ".invalid/x", r"^the host .{80} cannot be found"),
        ("http://example.org:99999/x", "names the port 99999"),
        ("http://example.org:0/x", "names the port 0,"),
        ("http://a b/x", "is not a URL|cannot be found"),
        ("http://xn--/x", "is not a URL"),
    ],
)
def test_urls_that_cannot_be_fetched(url: str, sentence: str) -> None:
    with pytest.raises(FetchError, match=sentence) as error:
        open_media(url)
    assert "\n" not in str(error.value)
    assert "pw" not in str(error.value)


def test_refused_and_failing_servers(site: Site) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    with pytest.raises(FetchError, match="cannot be reached: the connection was refused"):
        open_media(f"http://127.0.0.1:{port}/x.png", private_hosts=LOCAL)
    site.answers["/broken"] = lambda handler: handler.send_error(503)
    site.answers["/short"] = lambda handler: handler.give(b"abc", Content_Length="1000")
    for path, sentence in (("/gone", "HTTP status 404"), ("/broken", "HTTP status 503"), ("/short", "broke off")):
        with pytest.raises(FetchError, match=sentence):
            open_media(site.url + path, private_hosts=LOCAL)
    with pytest.raises(FetchError, match="cannot be reached"):
        open_media(f"https://127.0.0.1:{site.port}/x", private_hosts=LOCAL)


def test_too_large_is_noticed_by_the_header_and_by_counting(site: Site) -> None:
    def lie(handler: _Handler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while True:
            handler.wfile.write(bytes(1 << 16))

    site.answers["/stated"] = lambda handler: handler.give(b"", Content_Length=str(1 << 40))
    site.answers["/endless"] = lie
    limits = Limits(max_bytes=1024**2)
    for path, came in (("/stated", "1,048,576 MB"), ("/endless", "more")):
        with pytest.raises(LimitExceeded, match=f"has {came}; the limit for a download is 1 MB"):
            open_media(site.url + path, private_hosts=LOCAL, limits=limits)


@pytest.mark.parametrize("where", ["headers", "body"])
def test_a_server_that_drips_does_not_outlast_the_deadline(where: str, site: Site) -> None:
    def drip(handler: _Handler) -> None:
        start = b"HTTP/1.1 200 OK\r\nX: " if where == "headers" else b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n"
        handler.wfile.write(start)
        for _ in range(100):
            handler.wfile.write(b"x")
            handler.wfile.flush()
            time.sleep(0.1)

    site.answers["/slow"] = drip
    start = time.monotonic()
    with pytest.raises(FetchError, match="did not answer within 1 s"):
        open_media(f"{site.url}/slow", private_hosts=LOCAL, limits=replace(Limits(), download_s=1))
    assert time.monotonic() - start < 4


def test_compressed_answers_and_playlists_are_refused(site: Site) -> None:
    site.answers["/gzip"] = lambda handler: handler.give(b"\x1f\x8b", Content_Encoding="gzip")
    site.answers["/list.mp4"] = lambda handler: handler.give(f"#EXTM3U\n{site.url}/inner.ts\n".encode(), "video/mp4")
    with pytest.raises(FetchError, match="compressed"):
        open_media(f"{site.url}/gzip", private_hosts=LOCAL)
    with pytest.raises(UnsupportedMedia, match="is a playlist"):
        open_media(f"{site.url}/list.mp4", private_hosts=LOCAL)
    assert [path for path, _ in site.hits] == ["/gzip", "/list.mp4"]


@pytest.mark.slow
def test_a_page_of_no_platform_is_said_to_be_one(site: Site, listener) -> None:
    page = f"<!doctype html><video src='http://127.0.0.1:{listener.port}/a.mp4'>".encode()
    site.answers["/watch"] = lambda handler: handler.give(page, "text/html")
    with pytest.raises(FetchError, match="is a web page, and of no platform that is known"):
        open_media(f"{site.url}/watch", private_hosts=LOCAL)
    # The generic extractor would have followed the page.
    assert (len(site.hits), listener.contacts) == (1, 0)


@pytest.mark.parametrize("hosts", ["localhost", ["http://localhost/"], ["localhost:8000"]])
def test_what_is_no_host_is_refused_before_anything_is_opened(hosts: object, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="host"):
        open_media(tmp_path / "none.png", private_hosts=hosts)  # type: ignore[arg-type]
