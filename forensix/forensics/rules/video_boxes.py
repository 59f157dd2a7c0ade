"""Claims on what players skip: a former index that is kept in the file, and data in boxes that mean nothing.

Recorders write an index while they record and leave it where the last one is written; programs that write tags do the
same. Neither is suspect by itself: a former index is where it names another device, date or place.
"""

import re
from collections.abc import Iterator

from forensix.forensics.findings import Finding, finding, place
from forensix.metadata.facts import Facts

ORIGIN = re.compile(
    r"(make|model|manufacturer|creationdate|location\S*|movie\.created|©mak|©mod|©xyz|©day)$", re.IGNORECASE
)
"""What programs leave as it is when they write tags: the device, the date and the place of a recording."""


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield the claims on former indexes, and one on other data that players skip."""
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
