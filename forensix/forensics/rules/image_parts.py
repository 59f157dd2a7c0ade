"""Claims about the pictures and videos that a HEIF, AVIF or JPEG file holds beside the picture that is shown.

Phones add maps of depth and light and mattes of persons to a photograph; they follow the picture and say nothing of
tampering. The index of a JPEG (MPF) does not say which of them a further picture is. A picture that a HEIF file marks
as hidden and that nothing in it uses is shown by no viewer: what it shows is not known, and the sentence on top of a
report tells of it. Previews are compared with the picture in `image_pixels`.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from forensix.forensics.findings import Finding, finding, place
from forensix.metadata.blocks import xmp
from forensix.metadata.facts import Fact, Facts
from forensix.metadata.image.trailers import CLIP

UNTYPED = "MPF picture"
"""How the names of pictures begin that an index lists as no preview."""

MAPS = ("depth map", "gain map", "tone map", "matte", "auxiliary picture")


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield what the file holds beside its picture: maps, and pictures that no viewer shows."""
    pictures = facts.records("heif.picture")
    maps = [(f, str(f.value["kind"]), _words(f)) for f in pictures if f.value["kind"] in MAPS]
    maps += [(f, "depth map", f.where) for f in facts.all("xmp.GDepth.Data")]
    if maps:
        counts = Counter(kind for _, kind, _ in maps)
        words = ", ".join(f"{n} {kind}{'s' if n > 1 else ''}" for kind, n in counts.items())
        yield finding(
            "benign",
            f"The file holds maps that belong to its picture ({words})",
            "Telephones write them for blurred backgrounds, bright screens and cut-out persons. A program that changes "
            "the picture may leave them as they were or leave them out.",
            "structure",
            "origin",
            facts=[f for f, _, _ in maps],
            values=[words for _, _, words in maps],
        )
    sharp = [f for f in facts.all("embedded.picture") if f.value["name"] == xmp.BEFORE_BLUR]
    if sharp:
        yield finding(
            "benign",
            "The file holds the picture as it was before its background was blurred",
            f"{place(sharp[0])}: telephones that compute the blur keep what the camera saw. It is compared with the "
            "picture as previews are.",
            "versions",
            "versions",
            facts=sharp,
        )
    listed = [f for f in facts.all("embedded.picture") if str(f.value["name"]).startswith(UNTYPED)]
    if listed:
        yield finding(
            "benign",
            f"The file holds further pictures beside the one that is shown ({len(listed)})",
            f"{', '.join(place(f) for f in listed[:6])}: the file's index lists them, and calls none a preview. "
            "Telephones store maps of light (HDR) and of depth so, and cameras what a second lens saw. What they show "
            "was not looked at.",
            "structure",
            "origin",
            facts=listed,
            values=[f"{f.where}, {f.value['size']} bytes" for f in listed],
        )
    clips = [*facts.records("heif.clip"), *(f for f in facts.records("file.trailer") if f.value["kind"] == CLIP)]
    if clips:
        places = ", ".join(f"{place(f)}, {f.value['size']} bytes" for f in clips)
        yield finding(
            "benign",
            "The file holds a video beside its picture (a motion photo)",
            f"{places}: telephones keep a few seconds around the moment of a photograph, often with sound. It shows "
            "what came before and after, and was not looked at.",
            "structure",
            "origin",
            facts=clips,
            values=[f"{f.value['size']} bytes" for f in clips],
        )
    hidden = [f for f in pictures if f.value["kind"] == "hidden picture"]
    if hidden:
        yield finding(
            "benign",
            f"The file holds a picture that no viewer shows ({len(hidden)})",
            "It is marked as hidden, and nothing in the file says what it is for. What it shows was not looked at: "
            "an earlier version can be kept so, and so can what a program builds other pictures from.",
            "structure",
            "integrity",
            facts=hidden,
            values=[_words(f) for f in hidden],
            remark="the file holds a picture that no viewer shows",
        )


def _words(fact: Fact) -> str:
    record: dict[str, Any] = fact.value
    size = " x ".join(map(str, record["size_px"])) if record["size_px"] else "of unknown size"
    return ", ".join([fact.where, size, *([record["name"]] if record.get("name") else [])])
