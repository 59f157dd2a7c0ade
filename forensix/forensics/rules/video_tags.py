"""Claims from what tags say in any document, video or recording: programs named, and the history that XMP keeps."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from forensix.forensics.findings import Finding, finding, literal, place
from forensix.forensics.generators import by_namesake
from forensix.forensics.software import SCANNER, Program, identify, names_none
from forensix.metadata.facts import Fact, Facts

WHAT: dict[str, str] = {
    "editor": "a program with which documents, pictures, sound or video are changed. Much is made with it in good "
    "faith; what was changed, if anything, the name does not say",
    "converter": "which rewrites, re-encodes or converts files. Websites, phones and office programs have this done "
    "to files every day, so it says that the file is not the first one, and nothing of its content",
    "messenger": "which re-encodes what it sends on and strips most of its metadata",
    "camera": "which writes a recording as it is made. A name is easily written and proves nothing by itself",
    "transfer": "which copies captures from a camera, sorts and captions them. A name is easily written and proves "
    "nothing by itself",
    "writer": "which makes files of its own. A name is easily written and proves nothing by itself",
    "screenshot": "which records what a screen shows. What the screen showed, it does not say",
}
CLAIMS: dict[str, str] = {
    "editor": "The file names the editing program {}",
    "editors": "The file names the editing programs {}",
    "converter": "The file was converted or rewritten by {}",
    "messenger": "The file was sent through {}",
    "camera": "The file names {} as what recorded it",
    "transfer": "The file was copied or captioned by {}",
    "writer": "The file was written by {}",
    "screenshot": "The file was recorded from a screen by {}",
}
OWN_CONVERTERS = re.compile(r"^(QuickTime\b|Google$)")
"""Converters that run inside phones and cameras as a recording is made."""

OWN_LIBRARIES = re.compile(r"\b(dji|insta360|parrot|yuneec|hover)\b", re.IGNORECASE)
"""Makers whose devices write with FFmpeg themselves."""

TRACKS = {
    "Apple": re.compile(r"Core Media (Video|Audio)$"),
    "Android": re.compile(r"(Video|Sound)Handle$"),
    "GoPro": re.compile(r"GoPro (AVC|H265|HEVC|AAC)\b"),
}
"""How devices name their tracks of pictures and of sound."""

BARE_VERSION = re.compile(r"\d+(\.\d+){1,3}")

NAMES = ("pdf.info.Producer", "pdf.info.Creator", "xmp.xmp.CreatorTool", "xmp.pdf.Producer")
"""What a document or a packet of XMP says that it was made with."""

SAVES = {"saved": "saving", "converted": "converting"}
"""Actions of XMP's editing history that write a file, with the words for them."""

LAYOUT, FROM_LAYOUT = "Adobe InDesign", re.compile(r"from application/x-indesign to application/pdf")
"""A layout program, and what the editing history says where it makes a PDF of its layout."""


def made_with(facts: Facts) -> list[Fact]:
    """Return the facts by which a document or a packet of XMP says what it was made with."""
    return [f for f in facts.items if f.key in NAMES]


def programs(facts: Iterable[Fact]) -> dict[Program, list[Fact]]:
    """Return the known programs that facts name, with the facts that name each.

    Text that joins several programs ("Lavf58.29.100; HandBrake") counts for the first that the table knows.
    """
    by_program: dict[Program, list[Fact]] = {}
    for fact in facts:
        for value in fact.value if isinstance(fact.value, list) else (fact.value,):
            program = identify(_with_system(fact.key, value)) if isinstance(value, str) else None
            if program:
                by_program.setdefault(program, []).append(fact)
    return by_program


def _with_system(key: str, value: str) -> str:
    """Return what a tag for programs says, with the system of a phone that writes its bare version there."""
    # Matroska writes its keys in capitals.
    if key.lower().endswith("android.version"):
        return f"Android {value}"
    return (
        f"iOS {value}" if key.lower().endswith("apple.quicktime.software") and BARE_VERSION.fullmatch(value) else value
    )


def software(
    facts: Iterable[Fact], *, screen_type: bool = True, beside: dict[str, list[Fact]] | None = None
) -> Iterator[Finding]:
    """Yield one claim for each program that the facts name, and one for names that the table does not know.

    ``beside`` holds, by a program's name, other facts that it leaves; they are told with it where it is named.

    Generators of artificial content are left to the rule that tells of them in every medium.
    """
    named_facts = [f for f in facts if not names_none(f.value)]
    by_program = programs(named_facts)
    for program, named_by in by_program.items():
        category, named = program.category, [*named_by, *(beside or {}).get(program.name, [])]
        if category == "generator":
            continue
        screen = category == "screenshot"
        flags: dict[str, tuple[Any, ...]] = {
            "editor": ("SUSPECT_SOFTWARE", "FILE_EDITED"),
            "converter": ("SUSPECT_SOFTWARE_",),
            "screenshot": ("SCREENSHOT_SOFTWARE",),
        }
        source = {"editor": "software", "converter": "software", "writer": "software", "screenshot": "screenshot"}
        source["camera"] = source[SCANNER] = "physical"
        origin = source.get(program.name, source.get(category))
        yield finding(
            "suspect" if category in ("editor", "screenshot") else "benign",
            CLAIMS[category].format(program.name),
            f"{_places(named)} {program.name}, {WHAT[category]}.",
            "screenshot" if screen and screen_type else "software",
            "editing" if category in ("editor", "converter") else "origin",
            facts=named,
            flags=flags.get(category, ()),
            details=(("source", origin),) if origin else (),
        )
    known = {id(f) for named in by_program.values() for f in named}
    other = [f for f in named_facts if id(f) not in known and not by_namesake(f.value)]
    if other:
        names = list(dict.fromkeys(literal(f.value)[:80] for f in other))
        yield finding(
            "benign",
            "The file names a program that is not known here",
            f"{place(other[0])} says {names[0]!r}, which is not in the table of known programs, so what it does with "
            "files cannot be told.",
            "software",
            "origin",
            facts=other[:20],
        )


def _places(facts: list[Fact]) -> str:
    """Say where a program is named, as the beginning of a sentence."""
    places = list(dict.fromkeys(place(f) for f in facts[:6]))
    return f"{'; '.join(places)} {'names' if len(places) == 1 else 'name'}"


def against_device(facts: Facts, rewritten: Iterable[Fact]) -> Iterator[Finding]:
    """Yield a claim where a camera or phone is named beside a converter that runs in none."""
    device = facts.firsts(("device.make", "device.model"))
    by_program = {
        program: named
        for program, named in programs(rewritten).items()
        if program.category == "converter" and not OWN_CONVERTERS.match(program.name)
    }
    device_name = " ".join(dict.fromkeys(str(f.value) for f in device))
    if not device or not by_program or OWN_LIBRARIES.search(device_name):
        return
    names = ", ".join(program.name for program in by_program)
    named = [f for group in by_program.values() for f in group]
    yield finding(
        "suspect",
        f"The file names {device_name} as its device, but {names} wrote it",
        f"{place(device[0])} names the device, {place(named[0])} the program. Cameras and phones do not write with it, "
        "so this is not the file as it was recorded; the name of the device was carried over or written in. Sharing "
        "and trimming apps do this too.",
        "software",
        "editing",
        facts=[*device, *named],
        flags=("FILE_EDITED",),
    )


def two_devices(facts: Facts) -> Iterator[Finding]:
    """Yield a claim where tracks bear the names that two devices give: what records names all of its tracks."""
    handlers = list(facts.all("container.handler"))
    by_device = {name: [f for f in handlers if names.match(str(f.value).strip())] for name, names in TRACKS.items()}
    named = [(device, tracks[0]) for device, tracks in by_device.items() if tracks]
    if len(named) > 1:
        said = "; ".join(f"{place(fact)} says {str(fact.value).strip()!r}, as {device}'s do" for device, fact in named)
        yield finding(
            "suspect",
            "The tracks come from two devices",
            f"{said}. What records a video names all of its tracks in its own way, so they were put together later: "
            "the sound was exchanged, say. Sound that was recorded apart on purpose leaves this too.",
            "device",
            "editing",
            facts=[fact for _, fact in named],
            flags=("FILE_EDITED",),
        )


def saves(steps: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the entries of an editing history that tell of a file being written, none of one made fit to be archived.

    pdfToolbox writes ``converted to PDF/A-2b``.
    """
    written = (row for row in steps if str(row.get("action")) in SAVES)
    return [row for row in written if not str(row.get("parameters")).startswith("converted to PDF/A")]


def is_at_once(saved: list[dict[str, Any]]) -> bool:
    """Say whether several entries were written at one moment."""
    return len(saved) > 1 and bool(saved[0].get("when")) and len({str(row.get("when")) for row in saved}) == 1


def entries(saved: list[dict[str, Any]]) -> str:
    """Count entries in words.

    >>> entries([{"action": "saved", "when": "2024-01-02"}] * 3)
    '3 entries of saving, all at one moment'
    """
    kinds = " and ".join(word for action, word in SAVES.items() if any(row["action"] == action for row in saved))
    moment = ", all at one moment" if is_at_once(saved) else ""
    return f"{len(saved)} {'entry' if len(saved) == 1 else 'entries'} of {kinds}{moment}"


def since_export(steps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the entries of an editing history from the one on by which a layout was made a PDF: all where none is."""
    exports = [i for i, row in enumerate(steps) if FROM_LAYOUT.search(str(row.get("parameters")))]
    return steps[exports[-1] :] if exports else steps


def is_exported(facts: Facts) -> bool:
    """Say whether a document names a layout program as what made it, or tells that it was exported from a layout."""
    rows = [row for fact in facts.all("xmp.history") if isinstance(fact.value, list) for row in fact.value]
    return any(program.name == LAYOUT for program in programs(made_with(facts))) or any(
        isinstance(row, dict) and FROM_LAYOUT.search(str(row.get("parameters"))) for row in rows
    )


def history(facts: Facts) -> Iterator[Finding]:
    """Yield the claims that follow from the editing history in XMP."""
    # One cause is told once: an editor that the file names as what made it is told of by itself.
    by_name = {program.name for program in programs(made_with(facts))}
    for fact in (f for f in facts.items if f.key == "xmp.history" and isinstance(f.value, list)):
        steps = [row for row in fact.value if isinstance(row, dict) and row.get("action")]
        # Programs write two entries for one save, one for the content and one for what is said of it.
        # What a layout was saved before is no save of the document that was made of it.
        saved = saves(since_export(steps))
        n = len({(str(row.get("when")), str(row.get("softwareAgent"))) for row in saved})
        agents = {
            str(row["softwareAgent"]): identify(row["softwareAgent"]) for row in steps if row.get("softwareAgent")
        }
        editors = [a for a, p in agents.items() if p and p.category == "editor" and p.name not in by_name]
        told = (" ".join(str(row[k]) for k in ("when", "action", "softwareAgent") if row.get(k)) for row in steps)
        lines = list(dict.fromkeys(told))
        if steps:
            yield finding(
                "suspect" if n > 1 else "benign",
                f"The editing history holds {entries(saved)}" if saved else "The file keeps an editing history",
                f"{place(fact)}: {'; '.join(lines[:6])}. Programs write it by themselves; it may be incomplete.",
                "versions",
                "versions",
                facts=[fact],
                values=lines,
                flags=("FILE_EDITED",) if n > 1 else (),
            )
        if editors:
            yield finding(
                "suspect",
                "The editing history names an editing program",
                f"{place(fact)} names {', '.join(editors[:5])}. Much is made with such programs in good faith; what "
                "was changed, if anything, the history does not say.",
                "software",
                "editing",
                facts=[fact],
                values=editors,
                flags=("SUSPECT_SOFTWARE", "FILE_EDITED"),
                details=(("source", "software"),),
            )
    derived = facts.fact("xmp.derived_from")
    if derived is not None and isinstance(derived.value, dict):
        lines = [f"{key}: {value}" for key, value in derived.value.items()]
        exported = is_exported(facts)
        yield finding(
            "benign" if exported else "suspect",
            "The document was exported from a layout" if exported else "The file was derived from another file",
            f"{place(derived)}: XMP names the file that this one was made from ({', '.join(lines[:3])}). "
            + (
                f"{LAYOUT}, which the document names, writes its layout there whenever it makes a PDF."
                if exported
                else "Exporting from an editing program leaves this behind, whatever was changed."
            ),
            "versions",
            "versions",
            facts=[derived],
            values=lines,
            flags=() if exported else ("FILE_EDITED",),
        )
