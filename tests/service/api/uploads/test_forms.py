"""Forms of uploads: malformed, too large beside the file, compressed, and with file names of all kinds."""

import pytest

from tests.service.api.uploads.bodies import TASK, Pieces, content_of, opening, post, stream
from tests.service.in_process import BOUNDARY, JPEG, PNG, Account, Api, multipart, refused

BROKEN = {
    "no boundary": ({"Content-Type": "multipart/form-data"}, b"--x\r\n"),
    "another boundary": (
        {"Content-Type": "multipart/form-data; boundary=other"},
        multipart(('name="file"; filename="a.jpg"', JPEG))[1],
    ),
    "a huge boundary": ({"Content-Type": "multipart/form-data; boundary=" + "x" * 5000}, b"--x\r\n"),
    "no headers": ({}, f"--{BOUNDARY}\r\n\r\nvalue\r\n--{BOUNDARY}--\r\n".encode()),
    "no name": ({}, opening("") + b"value\r\n" + f"--{BOUNDARY}--\r\n".encode()),
    "an attachment": (
        {},
        f'--{BOUNDARY}\r\nContent-Disposition: attachment; name="file"\r\n\r\nx\r\n--{BOUNDARY}--\r\n'.encode(),
    ),
    "a header without colon": ({}, f"--{BOUNDARY}\r\nContent Disposition\r\n\r\nx\r\n--{BOUNDARY}--\r\n".encode()),
    "a huge header": ({}, f"--{BOUNDARY}\r\nX-A: {'a' * 100_000}\r\n\r\nx\r\n--{BOUNDARY}--\r\n".encode()),
    "many headers": ({}, f"--{BOUNDARY}\r\n{'X-A: a' * 1000}\r\n\r\nx\r\n--{BOUNDARY}--\r\n".encode()),
    "a preamble": ({}, b"preamble\r\n" + multipart(('name="url"', b"https://example.org/"))[1]),
    "text that is no UTF-8": ({}, multipart(('name="url"', b"https://example.org/\xff\xfe"))[1]),
    "many parts": ({}, multipart(*[(f'name="x{n}"', b"") for n in range(60)])[1]),
    "nothing but the end": ({}, f"--{BOUNDARY}--\r\n".encode()),
}


@pytest.mark.parametrize("case", BROKEN)
def test_malformed_multipart(api: Api, account: Account, case: str) -> None:
    changes, body = BROKEN[case]
    headers = account.headers | {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"} | changes
    with api.leaves_nothing():
        answer = api.client.post(TASK, headers=headers, content=body)
        assert answer.status_code == 400, answer.text
        assert answer.json()["code"] in ("bad_form", "file_or_url_missing")


@pytest.mark.parametrize("field", ["url", "nonesuch", "additional_info"])
def test_what_is_not_the_file_is_bounded(api: Api, account: Account, field: str) -> None:
    body = Pieces(opening(f'name="{field}"'), b"x" * 32 * 1024, 1000)
    with api.leaves_nothing():
        answer = stream(account, body.__aiter__())
    assert answer.status_code in (400, 413)
    assert body.asked <= 12


def test_what_follows_the_end_is_bounded(api: Api, account: Account) -> None:
    _, complete = multipart(('name="file"; filename="a.jpg"', JPEG))
    body = Pieces(complete, b"x" * 32 * 1024, 1000)
    with api.leaves_nothing():
        refused(stream(account, body.__aiter__()), 413, "too_large")
    assert body.asked <= 12


def test_a_form_without_a_file_is_bounded(api: Api, account: Account) -> None:
    headers = account.headers | {"Content-Type": "application/x-www-form-urlencoded"}
    with api.leaves_nothing():
        refused(api.client.post(TASK, headers=headers, content=b"url=" + b"x" * 300_000), 413, "too_large")
        refused(api.client.post(TASK, headers=headers, content=b"&".join([b"a=b"] * 100)), 400, "bad_form")
        refused(api.client.post(TASK, headers=headers, content=b"url=%ff%fe"), 400, "bad_form")
        refused(api.client.post(TASK, headers=headers, content=b"url=\xff"), 400, "bad_form")


@pytest.mark.parametrize("encoding", ["gzip", "br", "deflate", "identity, gzip"])
def test_compressed_bodies_are_not_unpacked(api: Api, account: Account, encoding: str) -> None:
    with api.leaves_nothing():
        answer = post(account, ('name="file"; filename="a.jpg"', JPEG), **{"Content-Encoding": encoding})
        refused(answer, 415, "unsupported_form")


@pytest.mark.parametrize("encoding", ["", " ", "identity", "Identity, identity"])
def test_no_compression_may_be_said(account: Account, encoding: str) -> None:
    answer = post(account, ('name="file"; filename="a.jpg"', JPEG), **{"Content-Encoding": encoding})
    assert answer.status_code == 200


def test_two_content_types_are_refused(api: Api, account: Account) -> None:
    kind, body = multipart(('name="file"; filename="a.jpg"', JPEG))
    other = "application/x-www-form-urlencoded"
    for second in (other, kind["Content-Type"]):
        headers = [*account.headers.items(), *kind.items(), ("Content-Type", second)]
        with api.leaves_nothing():
            refused(api.client.post(TASK, headers=headers, content=body), 400, "bad_form")


NAMES = {
    'filename="clip.mp4"': "clip.mp4",
    'filename="../../etc/passwd"': "passwd",
    'filename="/etc/passwd"': "passwd",
    r'filename="C:\\Users\\anna\\clip.mp4"': "clip.mp4",
    'filename="a\tb\x7fc.jpg"': "a_b_c.jpg",
    'filename=".."': None,
    'filename="写真.jpg"': "写真.jpg",
    # RFC 7578 forbids this form, and older clients send it.
    "filename*=UTF-8''caf%C3%A9.jpg": "café.jpg",
    "filename*=iso-8859-1'fr'caf%E9.jpg": "café.jpg",
    "filename*=UTF-8''..%2F%00%FFa.jpg": "_\ufffda.jpg",
    "filename*=UTF-16''a.jpg": None,
    "filename*=UTF-8''other.jpg; filename=\"a.jpg\"": "a.jpg",
    'filename=""': None,
    "": None,
}


@pytest.mark.parametrize("given", NAMES)
def test_file_names_are_for_display_only(api: Api, account: Account, given: str) -> None:
    answer = post(account, (f'name="file"; {given}'.rstrip("; "), JPEG))
    assert answer.status_code == 200, answer.text
    report_id = answer.json()["report_id"]
    row = api.row(report_id)
    assert row["file_name"] == NAMES[given]
    assert row["upload"] == report_id
    assert report_id in api.stored()[1]


def test_long_names_keep_their_ends(api: Api, account: Account) -> None:
    answer = post(account, (f'name="file"; filename="{"x" * 3000}.jpg"', JPEG))
    name = api.row(answer.json()["report_id"])["file_name"]
    assert len(name) == 200
    assert name.endswith(".jpg")


def test_a_name_does_not_make_a_format(api: Api, account: Account) -> None:
    assert content_of(api, post(account, ('name="file"; filename="a.txt"', PNG))) == PNG
    with api.leaves_nothing():
        refused(post(account, ('name="file"; filename="a.jpg"', b"text\n" * 99)), 415, "unsupported_media")
        refused(post(account, ('name="file"; filename="a.jpg"', bytes(range(256)))), 415, "unsupported_media")
