"""How a picture was encoded: quantisation tables, progressive scans, and traces of an earlier compression."""

from typing import Any

from forensix.forensics.findings import Finding, finding, place
from forensix.metadata.facts import Fact, Facts

TWICE = 0.14
"""Files as cameras and photographers left them stay under 0.13; see benchmarks/results/forensic_pixels.md."""


def is_double(measured: dict[str, Any]) -> bool:
    """Tell whether a measurement of coefficients is claimed as double compression."""
    return bool(measured["score"] >= TWICE)


def rules(facts: Facts, shown: dict[str, Any], *, is_edited: bool) -> list[Finding]:
    """Return the claims on encoding."""
    return [*_tables(facts), *_size(facts, is_edited), *_double(facts, shown, is_edited)]


def _size(facts: Facts, is_edited: bool) -> list[Finding]:
    """Compare the size that EXIF states with that of the picture; cameras write both at once."""
    stated = [facts.fact(key) for key in ("exif.ExifImageWidth", "exif.ExifImageHeight")]
    size = facts.fact("image.size")
    if size is None or any(f is None or not isinstance(f.value, int) or f.value < 16 for f in stated):
        return []
    known = [f for f in stated if f is not None]
    there = [f.value for f in known]
    if sorted(there) == sorted(size.value):
        return []
    return [
        finding(
            "suspect" if is_edited else "benign",
            "The picture has another size than its EXIF says",
            f"{place(known[0])} says {there[0]} x {there[1]} pixels, the picture has {size.value[0]} x "
            f"{size.value[1]}: it was "
            "resized or cropped by a program that kept the camera's record."
            + ("" if is_edited else " Nothing else speaks of editing, and galleries and services resize too."),
            "encoding",
            "editing",
            facts=[*known, size],
            values=[f"{there[0]} x {there[1]}", f"{size.value[0]} x {size.value[1]}"],
            flags=["FILE_EDITED"] if is_edited else [],
        )
    ]


def _tables(facts: Facts) -> list[Finding]:
    maker, frame = facts.fact("jpeg.maker"), facts.fact("jpeg.frame")
    if maker is None or frame is None:
        return []
    value, how = maker.value, frame.value
    if value["maker"] == "standard":
        told = (
            f"the standard's example tables scaled to quality {value['quality']}, as most software and some cameras do"
        )
    else:
        told = f"tables of the writer's own (nearest to quality {value['nearest']}), as many cameras and Adobe do"
    process = f"{how['process']}, sampling {' '.join(how['sampling'])}"
    return [
        finding(
            "benign",
            "How the JPEG was compressed",
            f"{place(maker)}: {told}; {process}.",
            "encoding",
            "integrity",
            facts=[maker, frame],
            values=[told.partition(",")[0], process],
        )
    ]


def _double(facts: Facts, shown: dict[str, Any], is_edited: bool) -> list[Finding]:
    measured = shown.get("double")
    if not measured or not is_double(measured):
        return []
    fact = Fact("jpeg.double", measured, "DCT coefficients of the luminance")
    return [
        finding(
            "suspect",
            "The JPEG was compressed twice",
            f"The histograms of DCT coefficients have gaps at regular distances (median strength "
            f"{measured['score']:.2f} over "
            f"{measured['modes']} frequencies; single compression stays under {TWICE}). It was compressed before "
            f"with other "
            "tables and saved again"
            + (", which fits the editing named elsewhere." if is_edited else "; services and editors both do that."),
            "encoding",
            "editing",
            facts=[fact],
            values=[f"strength {measured['score']:.2f}"],
            flags=["FILE_EDITED"],
        )
    ]
