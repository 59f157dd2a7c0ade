"""Claims from what tags say in any document, video or recording: programs named, and the history that XMP keeps."""

from collections.abc import Iterable, Iterator
from typing import Any

from forensix.forensics.findings import Finding, finding, place
from forensix.forensics.software import Program, identify
from forensix.metadata.facts import Fact, Facts

EDITED: dict[str, str] = {
    "editor": "with which documents, pictures, sound or video are changed. Much is made with it in good faith; what "
    "was "
    "changed, if anything, it does not say",
    "converter": "which rewrites, re-encodes or converts files that exist, so this is probably not the file as it was "
    "first "
    "recorded or saved",
    "messenger": "which re-encodes what it sends on and strips most of what it said of itself",
    "camera": "which writes a recording as it is made",
    "transfer": "which copies captures from a camera",
    "writer": "which makes files of its own",
    "screenshot": "which records what a screen shows",
}
CLAIMS: dict[str, str] = {
    "editor": "Written by the editing program {}",
    "converter": "Processed by {}",
    "messenger": "Sent through {}",
    "camera": "Recorded by {}",
    "transfer": "Copied by {}",
    "writer": "Written by {}",
    "screenshot": "Recorded from a screen by {}",
}
SAVES = ("saved", "converted")


def programs(facts: Iterable[Fact]) -> dict[Program, list[Fact]]:
    """Return the known programs that facts name, with the facts that name each.

    Text that joins several programs ("Lavf58.29.100; HandBrake") counts for the first that the table knows.
    """
    found: dict[Program, list[Fact]] = {}
    for fact in facts:
        for value in fact.value if isinstance(fact.value, list) else (fact.value,):
            program = identify(value) if isinstance(value, str) else None
            if program:
                found.setdefault(program, []).append(fact)
    return found


def software(facts: Iterable[Fact], *, screen_type: bool = True) -> Iterator[Finding]:
    """Yield one claim for each program that the facts name, and one for names that the table does not know.

    Generators of artificial content are left to the rule that tells of them in every medium.
    """
    named_facts = [f for f in facts if str(f.value).strip()]
    by_program = programs(named_facts)
    for program, found in by_program.items():
        category = program.category
        if category == "generator":
            continue
        screen = category == "screenshot"
        flags: dict[str, tuple[Any, ...]] = {
            "editor": ("SUSPECT_SOFTWARE", "FILE_EDITED"),
            "converter": ("SUSPECT_SOFTWARE_",),
            "screenshot": ("SCREENSHOT_SOFTWARE",),
        }
        source = {"editor": "software", "converter": "software", "writer": "software", "screenshot": "screenshot"}
        source["camera"] = "physical"
        yield finding(
            "suspect" if category in ("editor", "converter", "screenshot") else "benign",
            CLAIMS[category].format(program.name),
            f"The file names {program.name}, {EDITED[category]} "
            f"({', '.join(dict.fromkeys(place(f) for f in found[:6]))}).",
            "screenshot" if screen and screen_type else "software",
            "editing" if category in ("editor", "converter") else "origin",
            facts=found,
            flags=flags.get(category, ()),
            details=(("source", source[category]),) if category in source else (),
        )
    known = {id(f) for found in by_program.values() for f in found}
    other = [f for f in named_facts if id(f) not in known]
    if other:
        yield finding(
            "benign",
            "The program that wrote the file is named",
            "It is not in the table of known programs: " + "; ".join(dict.fromkeys(place(f) for f in other[:8])) + ".",
            "software",
            "origin",
            facts=other[:20],
        )


def history(facts: Facts) -> Iterator[Finding]:
    """Yield the claims that follow from the editing history in XMP."""
    for fact in (f for f in facts.items if f.key == "xmp.history" and isinstance(f.value, list)):
        steps = [row for row in fact.value if isinstance(row, dict) and row.get("action")]
        saves = [row for row in steps if row.get("action") in SAVES]
        agents = {
            str(row["softwareAgent"]): identify(row["softwareAgent"]) for row in steps if row.get("softwareAgent")
        }
        editors = [a for a, p in agents.items() if p and p.category in ("editor", "converter")]
        shown = [" ".join(str(row[k]) for k in ("when", "action", "softwareAgent") if row.get(k)) for row in steps]
        if steps:
            yield finding(
                "suspect" if len(saves) > 1 else "benign",
                f"The editing history tells of {len(saves)} saves" if saves else "An editing history is kept",
                f"{place(fact)}: {'; '.join(shown[:6])}.",
                "versions",
                "versions",
                facts=[fact],
                values=shown,
                flags=("FILE_EDITED",) if len(saves) > 1 else (),
            )
        if editors:
            yield finding(
                "suspect",
                "The editing history names an editing program",
                f"{place(fact)} names {', '.join(editors[:5])}.",
                "software",
                "editing",
                facts=[fact],
                values=editors,
                flags=("SUSPECT_SOFTWARE", "FILE_EDITED"),
                details=(("source", "software"),),
            )
    derived = facts.fact("xmp.derived_from")
    if derived is not None and isinstance(derived.value, dict):
        shown = [f"{key}: {value}" for key, value in derived.value.items()]
        yield finding(
            "suspect",
            "It was derived from another file",
            f"{place(derived)}: XMP names the file that this one was made from ({', '.join(shown[:3])}).",
            "versions",
            "versions",
            facts=[derived],
            values=shown,
            flags=("FILE_EDITED",),
        )
