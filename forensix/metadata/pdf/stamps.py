"""The line that the filing systems of American courts (CM/ECF) stamp on each page of a document that is filed.

They write it with iText, as one line of text in a stream of its own behind the page's content; so it can be told from
other changes that this library makes.
"""

import re

import pikepdf

from forensix.metadata.pdf.streams import FAULTS, inflated

MOST_BYTES = 2048
"""Far more than a line takes."""
WITH_TEXT = {"q", "Q", "BT", "ET", "rg", "g", "Tf", "Td", "Tm", "Tj"}
"""Operators that draw nothing but a line of text in a colour."""
LINE = re.compile(
    r"(Appellate )?(Case|Appeal):? *[\d:]+-[\w-]+(?=.*\b(Doc|Document|DktEntry|Entry ID)\b)(?=.*\b(Page|Pg)s?:? *\d).*"
)


def of_court(page: pikepdf.Page) -> str | None:
    """Return the line that a court's filing system stamped last on a page, ``None`` where there is none."""
    parts = page.obj.get("/Contents")
    if not isinstance(parts, pikepdf.Array) or len(parts) < 2 or not isinstance(parts[-1], pikepdf.Stream):
        return None
    try:
        lines = _lines(parts[-1])
    except FAULTS:
        return None
    return lines[0] if len(lines) == 1 and LINE.fullmatch(lines[0]) else None


def _lines(stream: pikepdf.Stream) -> list[str]:
    """Return the lines of text that a stream draws; none where it is long, or draws anything else."""
    if len(inflated(stream, MOST_BYTES)) == MOST_BYTES:
        return []
    steps = pikepdf.parse_content_stream(stream)
    if not WITH_TEXT.issuperset(str(step.operator) for step in steps):
        return []
    lines = [bytes(step.operands[0]).decode("latin-1").strip() for step in steps if str(step.operator) == "Tj"]
    return [line for line in lines if line]
