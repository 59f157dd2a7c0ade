"""What a picture tells of its own history: XMP's record of saves, Photoshop's blocks, a caption's digest."""

from collections.abc import Iterator
from typing import Any

from forensix.forensics.findings import Finding, finding, place
from forensix.forensics.rules import image_writer, video_tags
from forensix.metadata.facts import Fact, Facts

RETOUCHED = ("xmp.crs.RetouchAreas", "xmp.crs.RetouchInfo")
"""Places that Camera Raw and Lightroom covered with others, as they keep them now and as they kept them before 2012."""
IN_PARTS = (
    "xmp.crs.MaskGroupBasedCorrections",
    "xmp.crs.GradientBasedCorrections",
    "xmp.crs.CircularGradientBasedCorrections",
    "xmp.crs.PaintBasedCorrections",
)
RESOLUTION = "0x03ED"


def versions(facts: Facts) -> Iterator[Finding]:
    """Yield the claims on the editing history and on the document that the picture came from."""
    for history in (f for f in facts.items if f.key == "xmp.history"):
        steps = [row for row in history.value if row.get("action")]
        saved = video_tags.saves(steps)
        at_once = video_tags.is_at_once(saved)
        values = [_step(row) for row in steps]
        if len(saved) > 1:
            yield finding(
                "suspect",
                f"The editing history holds {video_tags.entries(saved)}",
                f"{place(history)} lists {len(steps)} steps: {'; '.join(values[:6])}. The editing program wrote "
                f"them as it worked{', all in one second, as it does for a file that it opened' if at_once else ''}"
                ". Developing a raw photograph leaves such a record as well as any change of the "
                "content; what was changed, it does not say.",
                "versions",
                "versions",
                facts=[history],
                values=values,
                flags=["FILE_EDITED"],
            )
        elif steps:
            yield finding(
                "benign",
                "The file keeps an editing history",
                f"{place(history)}: {'; '.join(values[:6])}. Any export leaves one save.",
                "versions",
                "versions",
                facts=[history],
                values=values,
            )
    derived = facts.fact("xmp.derived_from")
    if derived is not None:
        values = [f"{key}: {value}" for key, value in derived.value.items()]
        yield finding(
            "suspect",
            "The file says that it was made from another document",
            f"{place(derived)} names that document ({', '.join(values[:3])}). An export of a raw photograph names "
            "its original in this way, and so does a montage: ask for the document that is named.",
            "versions",
            "versions",
            facts=[derived],
            values=values,
            flags=["FILE_EDITED"],
        )


def development(facts: Facts) -> Iterator[Finding]:
    """Yield what the settings of Camera Raw and Lightroom say of places that were covered, altered or cut off."""
    areas = next((f for f in facts.firsts(RETOUCHED) if f.value), None)
    if areas is not None:
        n = len(areas.value) if isinstance(areas.value, list) else 1
        yield finding(
            "suspect",
            f"The file says that {'a place was' if n == 1 else f'{n} places were'} retouched",
            f"{place(areas)}: the settings of Camera Raw or Lightroom list each place that was covered with "
            "another part of the picture. Specks of dust are removed so, and so are things and people; the "
            "settings say where the places lie.",
            "pixels",
            "editing",
            facts=[areas],
            values=[_area(v) for v in (areas.value if isinstance(areas.value, list) else [areas.value])],
            flags=["FILE_EDITED"],
        )
    parts = [f for f in facts.firsts(IN_PARTS) if f.value]
    cut = facts.fact("xmp.crs.HasCrop")
    is_cut = cut is not None and str(cut.value).strip().lower() == "true"
    for rows, claim, words in (
        (parts, "Parts of the picture were developed apart from the rest", "brighten, darken or sharpen chosen places"),
        (
            [cut] if cut is not None and is_cut else [],
            "The picture was cut to a part of what was taken",
            "name the part",
        ),
    ):
        if rows:
            yield finding(
                "benign",
                claim,
                f"{place(rows[0])}: the settings of Camera Raw or Lightroom {words}. Photographers do so every day.",
                "pixels",
                "editing",
                facts=[*rows, *(_edges(facts) if rows[0] is cut else [])],
                values=[_setting(f) for f in (*rows, *(_edges(facts) if rows[0] is cut else []))],
            )


def _area(value: Any) -> str:
    if not isinstance(value, dict):
        return str(value)
    return ", ".join(f"{key.partition('.')[2]} {v}" for key, v in value.items())


def _setting(fact: Fact) -> str:
    name = fact.key.rpartition(".")[2]
    return f"{name}: {len(fact.value)}" if isinstance(fact.value, list) else f"{name} {str(fact.value)[:80]}"


def _edges(facts: Facts) -> list[Fact]:
    return facts.firsts(f"xmp.crs.Crop{side}" for side in ("Left", "Top", "Right", "Bottom", "Angle"))


def _changed(changed: str) -> str:
    """Say what a step of XMP's history changed, which it names as parts of a path are: a slash is everything."""
    return f"({'everything' if changed == '/' else changed} changed)" if changed else ""


def _step(row: dict[str, Any]) -> str:
    told = {**row, "changed": _changed(str(row.get("changed") or ""))}
    parts = [str(told[k]) for k in ("when", "action", "softwareAgent", "changed", "parameters") if told.get(k)]
    return " ".join(parts)


def photoshop(facts: Facts) -> Iterator[Finding]:
    """Yield what Photoshop's own blocks tell where no tag names an Adobe program."""
    resources = [f for f in facts.items if f.key == "photoshop.resource"]
    own = [f for f in resources if f.value["id"] not in image_writer.CAPTION]
    ducky = facts.fact("jpeg.ducky")
    signs = own + ([ducky] if ducky is not None else [])
    # Many programs state the resolution in a block of this kind, and nothing else.
    if signs and not (ducky is None and {f.value["id"] for f in own} == {RESOLUTION}):
        names = [_resource(f) for f in signs]
        yield finding(
            "suspect",
            "The file holds blocks that Adobe's programs write, and names none of them",
            f"{place(signs[0])}: {', '.join(names[:6])}. Adobe's programs write these blocks when they save; "
            "saving for the web leaves them without the name. What was changed, if anything, they do not say.",
            "software",
            "editing",
            facts=signs,
            values=names,
            flags=["SUSPECT_SOFTWARE", "FILE_EDITED"],
            details=[("source", "software")],
        )
    elif resources:
        names = [_resource(f) for f in resources]
        yield finding(
            "benign",
            f"A program has added a block for {'the resolution' if own else 'captions'}",
            f"{place(resources[0])}: {', '.join(names[:6])}. Cameras write none; agencies, cataloguing programs "
            "and operating systems add one to pictures that they leave as they are.",
            "software",
            "origin",
            facts=resources,
            values=names,
        )


def _resource(fact: Fact) -> str:
    return f"{fact.value['id']} {fact.value['name']}" if isinstance(fact.value, dict) else "Ducky"


def digest(facts: Facts) -> Iterator[Finding]:
    """Yield the claim that the caption is not the one whose digest is kept."""
    stored, now = facts.fact("iptc.digest"), facts.fact("iptc.digest_now")
    if stored is None or now is None or stored.value == now.value or not str(stored.value).strip("0"):
        return
    yield finding(
        "benign",
        "The caption was changed after its digest was written",
        f"{place(stored)}: the stored digest of the IPTC block is {stored.value}, that of the block as it stands "
        f"{now.value}. Cataloguing does that; it concerns the caption and not the picture.",
        "metadata",
        "editing",
        facts=[stored, now],
    )
