"""Networks and messengers that a file came through, by what they write and how they name it."""

import pytest

from forensix.forensics import claims
from forensix.metadata.facts import Fact, Facts


def told(key: str, value: str, kind: str = "image") -> list[tuple[str, str]]:
    facts = Facts(kind, "jpeg", (Fact(key, value, "somewhere", 8),))
    return [(f.severity, f.claim.claim) for f in claims(facts) if f.claim.type == "software"]


@pytest.mark.parametrize(
    ("kind", "key", "value", "service"),
    [
        ("image", "iptc.SpecialInstructions", "FBMD0a000a990100005c0400001a0a0000", "Facebook or Instagram"),
        ("video", "container.tag.©cmt", "vid:v12044gd0000cabcdefghijklmnopqrs", "TikTok"),
        ("video", "container.tag.comment", "vid:v0f025gc0000cabcdefghijklmnopqrs", "TikTok"),
    ],
)
def test_the_mark_of_a_network_says_what_the_file_came_through(kind: str, key: str, value: str, service: str) -> None:
    assert told(key, value, kind) == [("benign", f"The file was sent through {service}")]


@pytest.mark.parametrize(
    ("name", "service"),
    [
        ("IMG-20240102-WA0003.jpg", "WhatsApp"),
        ("VID-20240102-WA0003.mp4", "WhatsApp"),
        ("WhatsApp Image 2024-01-02 at 10.11.12.jpeg", "WhatsApp"),
        ("FB_IMG_1700000000000.jpg", "Facebook"),
        ("123456789_1234567890123456_1234567890123456789_n.jpg", "Facebook"),
        ("signal-2024-01-02-101112.jpeg", "Signal"),
        ("photo_2024-01-02_10-11-12.jpg", "Telegram"),
        ("Snapchat-123456789.jpg", "Snapchat"),
    ],
)
def test_a_name_as_a_messenger_gives_it_is_told(name: str, service: str) -> None:
    assert told("file.name", name) == [("benign", f"The file is named as {service} names what is saved from it")]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("iptc.SpecialInstructions", "FBMD is a word"),
        ("iptc.SpecialInstructions", "No use before 1 May"),
        ("iptc.Caption", "FBMD0a000a990100005c0400001a0a0000"),
        ("file.name", "IMG-20240102.jpg"),
        ("file.name", "my WhatsApp Image.jpg"),
        ("file.name", "photo_1.jpg"),
        ("container.tag.comment", "vid: my holidays"),
    ],
)
def test_words_that_only_look_like_it_are_none(key: str, value: str) -> None:
    assert told(key, value) == []
