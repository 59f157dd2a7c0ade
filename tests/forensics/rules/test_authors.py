"""Who made a file and what it holds, by its own words."""

from pathlib import Path

import pytest

from forensix.forensics import claims
from forensix.forensics.findings import Finding
from forensix.forensics.rules import authors
from forensix.metadata.facts import Fact, Facts
from forensix.metadata.image import reader as image
from tests.metadata import making_images as make

CLAIM = "The file says who made it or what it holds"
CAPTION = ("caption Interview 7",)


def found(*items: tuple[str, object], kind: str = "image") -> list[Finding]:
    facts = Facts(kind, "jpeg", tuple(Fact(key, value, "somewhere", 8 * i) for i, (key, value) in enumerate(items)))
    return list(authors.rules(facts))


def told(*items: tuple[str, object], kind: str = "image") -> tuple[str, ...]:
    return tuple(value for f in found(*items, kind=kind) for value in f.claim.value)


@pytest.mark.parametrize(
    ("kind", "items", "said"),
    [
        (
            "image",
            (
                ("exif.Artist", "Julie Doe"),
                ("iptc.By-line", "Julie Doe"),
                ("iptc.Credit", "Mugwum Press"),
                ("iptc.Country", "Germany"),
                ("iptc.City", "Cologne"),
                ("xmp.dc.description", ["The mayor", "Der Bürgermeister"]),
            ),
            (
                "author Julie Doe",
                "credit Mugwum Press",
                "caption The mayor, Der Bürgermeister",
                "place Cologne, Germany",
            ),
        ),
        (
            "audio",
            (("id3.TIT2", "Episode 12"), ("id3.TPE1", "Radio X"), ("id3v1.title", "Episode 12"), ("id3.TALB", "Talks")),
            ("author Radio X", "title Episode 12", "album Talks"),
        ),
        (
            "video",
            (("container.title", "Trip"), ("container.tag.ARTIST", "Me and You")),
            ("author Me and You", "title Trip"),
        ),
        (
            "video",
            (
                ("container.tag.desc", "The bridge falls"),
                ("container.tag.©cmt", "https://video.example/watch?v=1"),
                ("container.tag.PURL", "https://video.example/watch?v=1"),
            ),
            (
                "caption The bridge falls",
                "comment https://video.example/watch?v=1",
                "address https://video.example/watch?v=1",
            ),
        ),
        ("audio", (("container.bext.description", "Interview 7"), ("container.tag.ICMT", "Lavf58.1")), CAPTION),
        ("video", (("container.tag.desc", "Interview 7"), ("container.tag.©cmt", "vid:v09044g40000c1")), CAPTION),
        ("audio", (("id3.TIT2", "Song"), ("id3.COMM", "iTunNORM 0000043C 00000412")), ("title Song",)),
        (
            "pdf",
            (("pdf.info.Author", "Erika"), ("pdf.info.Title", "Invoice 4711")),
            ("author Erika", "title Invoice 4711"),
        ),
    ],
    ids=["picture", "recording", "video", "saved video", "broadcast", "TikTok", "iTunes", "document"],
)
def test_author_title_caption_and_place_are_told(
    kind: str, items: tuple[tuple[str, object], ...], said: tuple[str, ...]
) -> None:
    (claim,) = found(*items, kind=kind)
    assert (claim.severity, claim.claim.type, claim.claim.user_category) == ("benign", "metadata", "origin")
    assert (
        claim.claim.value == said and f"somewhere at byte {claim.facts[0].offset}: {said[0]}" in claim.claim.explanation
    )
    assert all(part in claim.claim.explanation for part in said)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("exif.ImageDescription", "OLYMPUS DIGITAL CAMERA         "),
        ("exif.ImageDescription", "SONY DSC"),
        ("exif.ImageDescription", "Screenshot"),
        ("exif.Artist", "Picasa"),
        ("xmp.dc.creator", [{"a": "b"}]),
        ("container.tag.TITLE", 7),
        ("exif.Copyright", " \0 "),
        ("iptc.Credit", "Made with Google AI"),
        ("pdf.info.Title", "untitled"),
        ("pdf.info.Author", "anonymous"),
        ("id3.TPE1", "Unknown Artist"),
    ],
)
def test_what_nobody_wrote_and_what_is_told_elsewhere_is_left_out(key: str, text: object) -> None:
    assert told((key, text)) == ()


def test_a_text_that_an_older_field_cuts_off_is_told_once() -> None:
    whole = "The photographers of the agency, all of them"
    assert told(("iptc.Credit", whole[:32]), ("xmp.photoshop.Credit", whole)) == (f"credit {whole}",)
    assert told(("iptc.City", "Rome"), ("iptc.Province", "Rome"), ("iptc.Country", "Romeo")) == ("place Rome, Romeo",)


def test_hostile_texts_are_bounded_and_in_one_line() -> None:
    items = [("exif.Artist", f"{i}\n\u202e<b>" + "x" * 100_000) for i in range(60)]
    (claim,) = found(*items)
    assert len(claim.facts) == authors.MOST
    assert all(len(value) <= 500 and value.isprintable() for value in claim.claim.value)
    assert len(claim.claim.explanation) < 1000 and claim.claim.explanation.isprintable()


def test_the_records_of_an_agency_are_read_from_a_picture(tmp_path: Path) -> None:
    block = b"".join(
        b"\x1c\x02" + bytes([number]) + len(text).to_bytes(2, "big") + text
        for number, text in ((80, b"Julie Doe"), (90, b"Cologne"), (95, b"NRW"), (101, b"Germany"))
    )
    path = tmp_path / "a.jpg"
    path.write_bytes(make.jpeg(make.photoshop_segment(make.resource(0x0404, block))))
    (claim,) = [f for f in claims(image.read(str(path), "jpeg")) if f.claim.claim == CLAIM]
    assert claim.claim.value == ("author Julie Doe", "place Cologne, NRW, Germany")
    assert claim.facts[0].offset is not None
