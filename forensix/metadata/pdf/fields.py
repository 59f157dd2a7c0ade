"""Form fields whose stored value is not what they show.

A text field keeps its words twice: as a value, which programs and some viewers read, and as a drawing, which is what
is seen and printed. A program that fills in both leaves them alike. Only letters and digits are compared, and a drawing
that shows a part of the value is taken for a long text; fields that a script formats, and passwords, are left out, and
so are documents that ask viewers to draw all fields anew.

References
----------
ISO 32000-2:2020, 12.7.4.3 (variable text), 12.7.5.3 (text fields).
"""

import unicodedata
from typing import Any

import pikepdf

from forensix.metadata.pdf.marks import Mark

PARENTS = 8
PASSWORD = 1 << 13
LENGTH = 200


def contradiction(field: pikepdf.Dictionary, drawn: list[Mark]) -> dict[str, Any] | None:
    """Return ``field``, ``value`` and ``shown`` of a text field that stores other words than it draws."""
    if str(_own_or_inherited(field, "/FT")) != "/Tx" or int(_own_or_inherited(field, "/Ff") or 0) & PASSWORD:
        return None
    if any(_own_or_inherited(field, key) is not None for key in ("/AA", "/RV")):
        return None
    value = _own_or_inherited(field, "/V")
    if not isinstance(value, pikepdf.String) or not all(_is_legible(mark) for mark in drawn):
        return None
    stored, shown = str(value), " ".join(mark.text.strip() for mark in drawn)
    first, second = _letters(stored), _letters(shown)
    if not first or not second or first in second or second in first:
        return None
    return {
        "field": str(_own_or_inherited(field, "/T") or "")[:LENGTH],
        "value": stored[:LENGTH],
        "shown": shown[:LENGTH],
        "object": field.objgen[0],
    }


def are_drawn_anew(pdf: pikepdf.Pdf) -> bool:
    """Say whether a document asks viewers to draw all fields from their values."""
    form = pdf.Root.get("/AcroForm")
    return isinstance(form, pikepdf.Dictionary) and bool(form.get("/NeedAppearances", False))


def _own_or_inherited(field: Any, key: str) -> Any:
    for _ in range(PARENTS):
        if not isinstance(field, pikepdf.Dictionary):
            return None
        if key in field:
            return field[key]
        field = field.get("/Parent")
    return None


def _is_legible(mark: Mark) -> bool:
    """Say whether the letters of a drawing are known: a subset without a table may use any code for any of them."""
    font = mark.font
    return "\ufffd" not in mark.text and font is not None and (bool(font.characters) or not font.is_embedded)


def _letters(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c.isalnum())
