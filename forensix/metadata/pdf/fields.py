"""Form fields whose stored value is not what they show, and whether two texts of one field say the same.

A text field keeps its words twice: as a value, which programs and some viewers read, and as a drawing, which is what
is seen and printed. A program that fills in both leaves them alike. Numbers are compared as numbers; of other words
only letters and digits are, and a drawing that shows a part of the value is taken for a long text. Fields that a script
formats, and passwords, are left out, and so are documents that ask viewers to draw all fields anew. A box keeps its
tick twice as well; only one that shows a tick and stores none is told, for libraries forget to draw what they store.

References
----------
ISO 32000-2:2020, 12.7.4.3 (variable text), 12.7.5.2.3 (check boxes), 12.7.5.3 (text fields).
"""

import re
import unicodedata
from typing import Any

import pikepdf

from forensix.metadata.pdf.marks import Mark

PARENTS = 8
PASSWORD, RADIO, PUSH = 1 << 13, 1 << 15, 1 << 16
LENGTH = 200
LONGEST_NUMBER = 30

_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:T[\d:.Z+-]*)?$")
_TIME = re.compile(r"\d\d:\d\d(:\d\d)?")
_NUMBER = re.compile(r"[^\d.,]{0,5}([\d.,]*\d[\d.,]*)[^\d.,]{0,5}$")


def contradiction(field: pikepdf.Dictionary, drawn: list[Mark]) -> dict[str, Any] | None:
    """Return ``field``, ``value`` and ``shown`` of a field that stores other words, or another tick, than it draws."""
    try:
        flags = int(_own_or_inherited(field, "/Ff") or 0)
    except (TypeError, ValueError):  # flags that are no number set none
        flags = 0
    if str(_own_or_inherited(field, "/FT")) == "/Btn":
        state = str(field.get("/AS", "/Off"))
        if flags & (RADIO | PUSH) or str(_own_or_inherited(field, "/V")) != "/Off" or state == "/Off":
            return None
        return _record(field, "Off", state.removeprefix("/"))
    if flags & PASSWORD:
        return None
    if any(_own_or_inherited(field, key) is not None for key in ("/AA", "/RV")):
        return None
    stored, shown = text_value(field), " ".join(mark.text.strip() for mark in drawn)
    if not all(_is_legible(mark) for mark in drawn) or not differ(stored, shown):
        return None
    return _record(field, stored, shown)


def _record(field: pikepdf.Dictionary, stored: str, shown: str) -> dict[str, Any]:
    return {
        "field": str(_own_or_inherited(field, "/T") or "")[:LENGTH],
        "value": stored[:LENGTH],
        "shown": shown[:LENGTH],
        "object": field.objgen[0],
    }


def text_value(field: pikepdf.Dictionary) -> str:
    """Return the stored words of a text field; empty for every other field."""
    value = _own_or_inherited(field, "/V")
    return str(value) if isinstance(value, pikepdf.String) and str(_own_or_inherited(field, "/FT")) == "/Tx" else ""


def differ(stored: str, shown: str) -> bool:
    """Say whether two texts of a field contradict each other; an empty one contradicts none.

    ``stored`` may be bare, as programs keep numbers and dates, and ``shown`` written as people do.

    >>> differ("9400", "2,400.00"), differ("1200.00000000", "$1,200.00"), differ("9000", "19,000.00")
    (True, False, True)
    >>> differ("2026-05-01", "01.05.26"), differ("2026-05-01", "May 7, 2026"), differ("a long text", "a long")
    (False, True, False)
    """
    first, second = _letters(stored), _letters(shown)
    if not first or not second or first == second or stored.strip() in shown.split() or _TIME.match(stored.strip()):
        return False
    date = _DATE.match(stored.strip())
    if date and not _DATE.match(shown.strip()):
        year, _, day = map(int, date.groups())
        numbers = {int(digits) for digits in re.findall(r"\d{1,4}", shown)}
        return day not in numbers or not numbers & {year, year % 100}
    numbers_stored, numbers_shown = _numbers(stored), _numbers(shown)
    if numbers_stored and numbers_shown:
        scale = 100 if "%" in shown else 1
        return not numbers_shown & {n * k for n in numbers_stored for k in (1, scale)}
    return first not in second and second not in first


def _numbers(text: str) -> set[float]:
    """Return what a text may mean as one number: a lone point or comma may part thousands or begin decimals."""
    match = _NUMBER.match("".join(text[: 4 * LONGEST_NUMBER].split()).replace("'", ""))
    if match is None or len(text) > 2 * LONGEST_NUMBER:
        return set()
    marks = [c for c in match[1] if c in ".,"]
    whole = re.sub(r"[.,]", "", match[1])
    if not marks:
        return {float(whole)}
    head, _, tail = match[1].rpartition(marks[-1])
    decimal = float(f"{re.sub(r'[.,]', '', head) or 0}.{tail or 0}")
    if len(set(marks)) == 2:
        return {decimal}
    return {float(whole)} if len(marks) > 1 else {decimal, float(whole)}


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
