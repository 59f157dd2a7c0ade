"""Seals that a signer draws on the page as well as in the field of the signature, so that every viewer shows them.

Platforms for electronic invoices sign so with iText: the version that brings the signature puts one stream before or
behind the page's content, and it draws a picture within the field. The field's own appearance lies over it and may show
anything, so the page shows no more than a signature may.

References
----------
ISO 32000-2:2020, 7.8.2 (content streams), 8.3.4 (transformation matrices), 8.8 (external objects).
"""

import re
from typing import Any

from forensix.metadata.pdf import syntax
from forensix.metadata.pdf.geometry import UNIT, Box, Matrix, as_matrix, placed, product
from forensix.metadata.pdf.objects import View, reached
from forensix.metadata.pdf.syntax import Ref, SyntaxFault

PARTS = 200
MOST_BYTES = 4096
"""More than drawing a few pictures takes."""
SAME_PT = 0.5
PICTURE_DEPTH = 3
BESIDE = ("Annots", "Contents", "Resources", "Tabs", "LastModified", "PieceInfo", "StructParents")
WITHOUT_DRAWING = ("BT", "ET", "Td", "Tm")
"""Operators that only say where words would stand."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)")


def drawn(view: View, before: View, page: Any, page_before: Any) -> set[int]:
    """Return the numbers of the objects that draw seals on a page, where that is all that a version changes of it."""
    if not isinstance(page, dict) or not isinstance(page_before, dict):
        return set()
    if any(page.get(key) != page_before.get(key) for key in {*page, *page_before} - {*BESIDE}):
        return set()
    added = _added_parts(view, page, page_before)
    pictures = _added_pictures(view, before, page, page_before)
    fields = _signature_fields(view, before, page)
    if added is None or pictures is None or not fields:
        return set()
    try:
        in_front, behind = (_content(view, parts) for parts in added)
        boxes = _boxes(in_front, behind, set(pictures))
    except (SyntaxFault, ValueError):
        return set()
    if not boxes or not all(any(_holds(field, box) for field in fields) for box in boxes):
        return set()
    listed = page.get("Contents")
    numbers = {ref.number for ref in (listed, *added[0], *added[1]) if isinstance(ref, Ref)}
    numbers.update(*(reached(view, ref, PICTURE_DEPTH) for ref in pictures.values()))
    # What was there before may be drawn elsewhere as well.
    return {number for number in numbers if number not in before.entries}


def _added_parts(view: View, page: dict[str, Any], page_before: dict[str, Any]) -> tuple[list[Ref], list[Ref]] | None:
    """Return the streams that stand before and behind the former content, ``None`` where that is not as it was."""
    here, there = (_parts(view, item.get("Contents")) for item in (page, page_before))
    for first in range(len(here) - len(there) + 1) if there else ():
        if here[first : first + len(there)] == there:
            return here[:first], here[first + len(there) :]
    return None


def _parts(view: View, contents: Any) -> list[Ref]:
    listed = view.array(contents)[:PARTS] or [contents]
    return [part for part in listed if isinstance(part, Ref)]


def _added_pictures(
    view: View, before: View, page: dict[str, Any], page_before: dict[str, Any]
) -> dict[str, Ref] | None:
    """Return the pictures that a page can draw and could not before, ``None`` where its means differ otherwise."""
    here, there = view.dictionary(page.get("Resources")), before.dictionary(page_before.get("Resources"))
    if any(here.get(key) != there.get(key) for key in {*here, *there} - {"XObject"}):
        return None
    now, was = view.dictionary(here.get("XObject")), before.dictionary(there.get("XObject"))
    added = {name: item for name, item in now.items() if name not in was}
    is_kept = all(now.get(name) == item for name, item in was.items())
    are_pictures = all(
        isinstance(item, Ref) and view.dictionary(item).get("Subtype") == "Image" for item in added.values()
    )
    return added if is_kept and are_pictures else None


def _signature_fields(view: View, before: View, page: dict[str, Any]) -> list[Box]:
    """Return where the fields of signatures lie that are new on a page."""
    boxes = []
    for item in view.array(page.get("Annots"))[:PARTS]:
        field = view.dictionary(item)
        corners = [v for v in view.array(field.get("Rect")) if isinstance(v, int | float)]
        is_new = isinstance(item, Ref) and item.number not in before.entries
        if is_new and field.get("FT") == "Sig" and field.get("V") and len(corners) == 4:
            x0, y0, x1, y1 = corners
            boxes.append((min(x0, x1), min(y0, y1), max(x0, x1), max(y0, y1)))
    return boxes


def _content(view: View, parts: list[Ref]) -> list[str]:
    """Return the words of what streams draw together."""
    words: list[str] = []
    for part in parts:
        raw = view.stream(part.number)
        if raw is None:
            raise SyntaxFault("content that cannot be read")
        words += syntax.decoded(view.dictionary(part), raw, MOST_BYTES).decode("latin-1").split()
    return words


def _boxes(in_front: list[str], behind: list[str], pictures: set[str]) -> list[Box]:
    """Return where pictures are drawn before and behind the former content, which is to be drawn as it was.

    Raises
    ------
    ValueError
        Something else is drawn, or the former content would be moved.
    """
    matrix: Matrix = UNIT
    kept: list[Matrix] = []
    boxes: list[Box] = []
    operands: list[str] = []
    for i, word in enumerate([*in_front, "", *behind]):
        if i == len(in_front):
            if matrix != UNIT or operands:
                raise ValueError("the former content is moved")
            # What comes behind is drawn where the page begins only if it first takes back what the content left.
            if behind and (not kept or behind[0] != "Q"):
                raise ValueError("what the former content left is not taken back")
        elif _NUMBER.fullmatch(word) or word.startswith("/"):
            operands.append(word)
            continue
        elif word == "q":
            kept.append(matrix)
        elif word == "Q" and kept:
            matrix = kept.pop()
        elif word == "cm":
            matrix = product(as_matrix(operands), matrix)
        elif word == "Do" and operands and operands[-1][1:] in pictures:
            boxes.append(placed(matrix, 0, 0, 1, 1))
        elif word not in WITHOUT_DRAWING:
            raise ValueError(f"the operator {word!r} may draw something else")
        operands = []
    return boxes


def _holds(field: Box, box: Box) -> bool:
    return (
        field[0] - SAME_PT <= box[0]
        and field[1] - SAME_PT <= box[1]
        and box[2] <= field[2] + SAME_PT
        and box[3] <= field[3] + SAME_PT
    )
