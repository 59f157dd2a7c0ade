"""Networks and messengers that a file came through, by the marks and the names that they give what is downloaded.

They scale and encode anew what they pass on and take out most of what it said of its origin, so that a picture or a
video is not as the device wrote it, and nobody has to have edited it. A mark stays where a file is edited afterwards; a
name is changed by anybody.
Source: files that were downloaded from these services.
"""

import re
from collections.abc import Iterator

from forensix.forensics.findings import Finding, finding, literal, place
from forensix.forensics.rules.video_tags import CLAIMS
from forensix.metadata.facts import Fact, Facts

MARKS = (
    (re.compile(r"iptc\.SpecialInstructions"), re.compile(r"FBMD[0-9a-f]{8,}"), "Facebook or Instagram"),
    (re.compile(r"container\.tag\.(©cmt|comment)", re.IGNORECASE), re.compile(r"vid:v[0-9a-z]{16,}"), "TikTok"),
)
"""A field, what it holds, and who writes that."""

NAMES = (
    (re.compile(r"(IMG|VID|AUD|PTT|STK)-\d{8}-WA\d{4}\b|WhatsApp (Image|Video|Audio|Ptt) \d{4}-"), "WhatsApp"),
    (re.compile(r"FB_IMG_\d{13}\b|\d{6,}_\d{10,}_\d{10,}_[no]\.jpg$"), "Facebook"),
    (re.compile(r"signal-\d{4}-\d\d-\d\d-(\d{6}|\d\d-\d\d-\d\d)"), "Signal"),
    (re.compile(r"telegram-cloud-(photo|document)-|(photo|video)_\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d\b"), "Telegram"),
    (re.compile(r"Snapchat-\d{6,}\."), "Snapchat"),
)  # fmt: skip
"""How names begin that services give what is saved from them."""


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield a claim for each mark of a service, and one for a name as a service gives it."""
    told: dict[str, Fact] = {}
    for fact in facts.few():
        for key, mark, name in MARKS:
            if key.fullmatch(fact.key) and mark.fullmatch(str(fact.value).strip()):
                told.setdefault(name, fact)
    for name, fact in told.items():
        yield finding(
            "benign",
            CLAIMS["messenger"].format(name),
            f"{place(fact)} says {literal(fact.value)[:60]!r}, a number by which {name} marks what is downloaded from "
            "there. Networks scale and encode anew what they pass on and take out most of what it said of its origin, "
            "so this is not the file as a device wrote it; that is no sign of editing.",
            "software",
            "origin",
            facts=[fact],
        )
    named = facts.fact("file.name")
    service = next((name for pattern, name in NAMES if named and pattern.match(str(named.value))), None)
    if named is not None and service is not None:
        yield finding(
            "benign",
            f"The file is named as {service} names what is saved from it",
            f"The name is {literal(named.value)[:80]!r}. {service} encodes pictures and videos anew on the way and "
            "takes out most of what they said of their origin, which is no sign of editing. Anybody can name it so.",
            "software",
            "origin",
            facts=[named],
        )
