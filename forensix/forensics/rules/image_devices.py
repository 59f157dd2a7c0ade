"""Cameras that a picture names, beside each other and beside its dates.

A camera writes one name, a maker's note of its own, and no date before it was made. Two names, the note or the lens of
another maker, and a telephone that is younger than every date say that a record was put into another file or written
in. Telephones take the time from their network; other cameras forget theirs, so only telephones are held to it.

References
----------
ExifTool, Image::ExifTool::Canon, CanonImageType; Image::ExifTool::MakerNotes, Image::ExifTool::Pentax (Samsung's GX
cameras are Pentax's).
"""

import re
from collections.abc import Iterator
from dataclasses import replace

from forensix.forensics.findings import Finding, finding, place
from forensix.forensics.rules import dates, device_years
from forensix.metadata.facts import Fact, Facts

APPLE_LENS = re.compile(r"(iPhone|iPad)\b")
APPLE = "Apple iOS"
PENTAX = ("pentax", "asahi", "ricoh", "samsung")
SAME_MAKER = {
    "AOC": PENTAX,
    APPLE: ("apple",),
    "Canon": ("canon",),
    "FUJIFILM": ("fuji", "general"),
    "Nikon": ("nikon",),
    "OLYMPUS": ("olympus", "om digital"),
    "Panasonic": ("panasonic", "leica"),
    "PENTAX": PENTAX,
    "SONY": ("sony", "hasselblad"),
}
"""How the names begin of those whose cameras write such a note."""

CANON_NOTE = re.compile(
    r"(?:IMG:(?=EOS|PowerShot|DIGITAL IX)(?P<short>.+?) JPEG|(?P<whole>Canon (?:EOS|PowerShot|IX).+))$"
)
"""How a note of Canon names the camera, in the image type (tag 6); others of its image types name none."""

DATES = (
    "exif.DateTimeOriginal",
    "exif.CreateDate",
    "exif.ModifyDate",
    "xmp.xmp.CreateDate",
    "xmp.xmp.ModifyDate",
    "xmp.xmp.MetadataDate",
    "xmp.photoshop.DateCreated",
)


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield the claims on devices that contradict each other or the dates."""
    yield from _two_cameras(facts)
    yield from _too_young(facts)


def _two_cameras(facts: Facts) -> Iterator[Finding]:
    models = [f for f in facts.items if f.key == "exif.Model" and str(f.value).strip()]
    makes = [f for f in facts.items if f.key == "exif.Make" and str(f.value).strip()]
    lenses = [f for f in facts.items if f.key == "exif.LensModel" and APPLE_LENS.match(str(f.value))]
    notes = [f for f in facts.items if f.key == "exif.note_of"]
    types = [f for f in _of_canon(facts) if models and not _same(f, models[0])]
    others = [f for f in facts.items if f.key == "xmp.tiff.Model" and models and not _same(f, models[0])]
    maker = str(makes[0].value).strip().lower() if makes else ""
    named: list[Fact] = []
    if len({str(f.value).strip().lower() for f in models}) > 1:
        named, why = models, "Cameras write one block of EXIF with one name"
    elif lenses and maker and not maker.startswith("apple"):
        named, why = [*makes[:1], *models[:1], *lenses[:1]], "No other maker's camera has the lens of an iPhone or iPad"
    elif notes and maker and not maker.startswith(SAME_MAKER[notes[0].value]):
        named = [*makes[:1], *models[:1], *notes[:1]]
        if notes[0].value == APPLE:
            yield _saved_by_apple(named)
            return
        why = "The maker's note is written as another maker's is"
    elif types:
        named, why = [models[0], types[0]], "Canon's cameras write their own name into their note"
    elif others:
        yield finding(
            "benign",
            "XMP names another camera than EXIF does",
            f"{_said([models[0], others[0]])}. Programs copy the name from EXIF into XMP as it stands, but some "
            "drones write a name of their own there; so does whoever puts one picture's record into another file.",
            "device",
            "integrity",
            facts=[models[0], others[0]],
        )
    if named:
        yield finding(
            "suspect",
            "The file names two cameras",
            f"{_said(named[:4])}. {why}: the record of one picture was put into the file of another, or a name was "
            "written in.",
            "device",
            "editing",
            facts=named[:4],
            flags=["METADATA_ERROR"],
        )


def _of_canon(facts: Facts) -> Iterator[Fact]:
    for fact in facts.items:
        if fact.key == "makernote.ImageType" and (match := CANON_NOTE.match(str(fact.value).strip())):
            yield replace(fact, value=match["short"] or match["whole"])


def _saved_by_apple(named: list[Fact]) -> Finding:
    return finding(
        "benign",
        "The file of a camera carries Apple's note",
        f"{_said(named)}. Apps on iPhones and iPads can leave this note when they save the picture of another "
        "camera; it is also there where the name of the camera was written in. Ask for the camera's own file.",
        "device",
        "integrity",
        facts=named,
    )


def _said(named: list[Fact]) -> str:
    return "; ".join(f"{place(f)} says {str(f.value).strip()!r}" for f in named)


def _same(first: Fact, second: Fact) -> bool:
    """Say whether one name of a model is the other, or a part of it."""
    a, b = ("".join(c for c in str(f.value).lower() if c.isalnum()) for f in (first, second))
    return not a or a in b or b in a


def _too_young(facts: Facts) -> Iterator[Finding]:
    model = facts.fact("exif.Model")
    year = device_years.year(str(model.value)) if model is not None else None
    if model is not None and year is not None:
        stated = (dates.parse(f) for key in DATES for f in facts.all(key))
        yield from device_years.too_young(model, year, (m for m in stated if m is not None), "picture")
