"""Claims on what players skip: a former index, data in boxes that mean nothing, and bytes that no track plays.

Recorders write an index while they record and leave it where the last one is written; programs that write tags do the
same. Neither is suspect by itself: a former index is where it names another device, date or place. Bytes of the
recording that no track plays are rare: of 88 videos of phones, cameras, dashcams and services one has any, and that is
the index which a phone wrote while it recorded. They are suspect where nothing else of the kind is known.
"""

import re
from collections.abc import Iterator

from forensix.forensics.findings import Finding, finding, place
from forensix.metadata.facts import Facts

ORIGIN = re.compile(
    r"(make|model|manufacturer|creationdate|location\S*|movie\.created|©mak|©mod|©xyz|©day)$", re.IGNORECASE
)
"""What programs leave as it is when they write tags: the device, the date and the place of a recording."""


SECTOR_BYTES = 4096
"""Up to so many bytes that no track plays may fill a block of a memory card."""


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield the claims on former indexes, on other data that players skip, and on what no track plays."""
    for fact in facts.all("container.former_index"):
        rows = fact.value["changed"]
        of_origin = any(ORIGIN.search(name) for name, *_ in rows)
        values = [f"{name}: {former!r}, now {now!r}" for name, former, now in rows]
        said = f" It says otherwise than the one that is played: {'; '.join(values[:6])}." if values else ""
        yield finding(
            "suspect" if of_origin else "benign",
            "A former index of the recording contradicts the one that is played"
            if of_origin
            else "The file keeps a former index of the recording",
            f"{place(fact)}: an index of {fact.value['size']} bytes stands where players skip it.{said} "
            + (
                "What a device says of itself, of date and place does not change while it records, so this was "
                "written anew afterwards."
                if of_origin
                else "Recorders leave one when they write the last, and so do programs that write tags."
            ),
            "versions",
            "editing" if of_origin else "versions",
            facts=[fact],
            values=values,
            flags=("FILE_EDITED",) if of_origin else (),
        )
    skipped = list(facts.all("container.skipped"))
    if skipped:
        places = [f"{f.value['size']} bytes in {place(f)} (first bytes {f.value['head']})" for f in skipped]
        yield finding(
            "benign",
            "Boxes that players skip hold data",
            f"{'; '.join(places[:6])}. Most boxes of free space hold zeros, or what stood there before; others hold "
            "what only their maker reads. Anything can be kept there unseen.",
            "structure",
            "integrity",
            facts=skipped[:20],
            values=places[:20],
        )
    unplayed = facts.fact("container.unplayed")
    if unplayed:
        value = unplayed.value
        places = [f"{size} bytes at byte {at} ({_what(kind, head)})" for kind, head, at, size in value["largest"]]
        is_known = value["unknown"] <= SECTOR_BYTES
        where = f"at {value['places']} {'place' if value['places'] == 1 else 'places'}"
        yield finding(
            "benign" if is_known else "suspect",
            f"{value['bytes']} bytes of the recording belong to no track",
            f"In the part of the file that holds the recording (mdat, {value['of']} bytes) {value['bytes']} bytes "
            f"{where} are no sample of any track: {'; '.join(places)}. No player shows them. "
            + (
                "Recorders fill up blocks of their memory, and let an index lie that they wrote while they recorded."
                if is_known
                else "Frames or a track that were taken out of the index alone leave this, and so does a file that was "
                "hidden there; a recorder may keep data of its own between the frames."
            ),
            "structure",
            "integrity" if is_known else "editing",
            facts=[unplayed],
            values=places,
        )


def _what(kind: str, head: str) -> str:
    if kind == "unknown":
        return f"first bytes {head}"
    return kind if kind == "filling" else f"a box {kind}"
