"""What a picture tells of its own history: XMP's record of saves, Photoshop's blocks, a caption's digest."""

from typing import Any

from forensix.forensics.findings import Finding, finding, place
from forensix.forensics.rules import image_writer
from forensix.metadata.facts import Fact, Facts

SAVES = ("saved", "converted")


def versions(facts: Facts) -> list[Finding]:
    """Return the claims on the editing history and on the document that the picture came from."""
    found = []
    for history in (f for f in facts.items if f.key == "xmp.history"):
        steps = [row for row in history.value if row.get("action")]
        saves = [row for row in steps if row.get("action") in SAVES]
        values = [_step(row) for row in steps]
        if len(saves) > 1:
            found.append(
                finding(
                    "suspect",
                    "The editing history names several versions",
                    f"{place(history)} lists {len(steps)} steps, of which {len(saves)} saved or converted the file: "
                    f"{'; '.join(values[:6])}. The editing program wrote this record as it worked: the "
                    "picture was opened and saved. What was changed is not told; developing a raw photograph leaves "
                    "this too.",
                    "versions",
                    "versions",
                    facts=[history],
                    values=values,
                    flags=["FILE_EDITED"],
                )
            )
        elif steps:
            found.append(
                finding(
                    "benign",
                    "An editing history is kept",
                    f"{place(history)}: {'; '.join(values[:6])}. One save is what any export leaves.",
                    "versions",
                    "versions",
                    facts=[history],
                    values=values,
                )
            )
    derived = facts.fact("xmp.derived_from")
    if derived is not None:
        values = [f"{key}: {value}" for key, value in derived.value.items()]
        found.append(
            finding(
                "suspect",
                "The picture was derived from another",
                f"{place(derived)}: xmpMM:DerivedFrom names the document that this one was made from "
                f"({', '.join(values[:3])}). An export of a raw photograph names its original in this way, and "
                "so does a montage: ask for the document that is named.",
                "versions",
                "versions",
                facts=[derived],
                values=values,
                flags=["FILE_EDITED"],
            )
        )
    return found


def _step(row: dict[str, Any]) -> str:
    parts = [str(row[k]) for k in ("when", "action", "softwareAgent", "changed", "parameters") if row.get(k)]
    return " ".join(parts)


def photoshop(facts: Facts) -> list[Finding]:
    """Return what Photoshop's own blocks tell where no tag names an Adobe program."""
    resources = [f for f in facts.items if f.key == "photoshop.resource"]
    own = [f for f in resources if f.value["id"] not in image_writer.CAPTION]
    ducky = facts.fact("jpeg.ducky")
    signs = own + ([ducky] if ducky is not None else [])
    if signs:
        names = [_resource(f) for f in signs]
        return [
            finding(
                "suspect",
                "Photoshop left its marks without its name",
                f"{place(signs[0])}: {', '.join(names[:6])}. Adobe's programs write these blocks when they save, and "
                "no tag names the program. Saving for the web leaves a file so; what was changed, if anything, is not "
                "said.",
                "software",
                "editing",
                facts=signs,
                values=names,
                flags=["SUSPECT_SOFTWARE", "FILE_EDITED"],
                details=[("source", "software")],
            )
        ]
    if resources:
        names = [_resource(f) for f in resources]
        return [
            finding(
                "benign",
                "A program has written a caption block",
                f"{place(resources[0])}: {', '.join(names[:6])}. Agencies, cataloguing programs and operating systems "
                "write such a block beside a picture that they leave as it is; cameras write none.",
                "software",
                "origin",
                facts=resources,
                values=names,
            )
        ]
    return []


def _resource(fact: Fact) -> str:
    return f"{fact.value['id']} {fact.value['name']}" if isinstance(fact.value, dict) else "Ducky"


def digest(facts: Facts) -> list[Finding]:
    """Return the claim that the caption is not the one whose digest is kept."""
    stored, now = facts.fact("iptc.digest"), facts.fact("iptc.digest_now")
    if stored is None or now is None or stored.value == now.value or not str(stored.value).strip("0"):
        return []
    return [
        finding(
            "suspect",
            "The caption was changed by another program",
            f"{place(stored)}: the stored digest of the IPTC block is {stored.value}, that of the block as it stands "
            f"{now.value}. A program other than the one that wrote the digest changed the caption afterwards; "
            "cataloguing does that, and the picture itself is not concerned.",
            "metadata",
            "editing",
            facts=[stored, now],
            flags=["METADATA_ERROR"],
        )
    ]
