"""Words of a page that nobody sees, and words whose font is not that of the line they stand in.

Words are unseen that are drawn without ink or fully transparent where no picture lies, in white where nothing of
another colour is painted, too small to read, beside the page, or in a layer that is off. Scanning programs lay what
they read without ink over the picture of a page, and programs that draw letters as lines or areas (KiCad all of them,
Skia in browsers those that are outlined or made bold) write them once more, without ink or transparent, so that they
are found: neither is told. Words that are unseen by their colour in the place of others were replaced by these,
however few they are.

A line is what shares a baseline. A few words of it stand in another font if nearly all of the page is set in the font
beside them and theirs is a second copy of it, or one that is not embedded where the others are. Fonts that another
style needs (bold, italic, symbols) have other names and are left alone.
"""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from forensix.metadata.pdf.fonts import Font
from forensix.metadata.pdf.geometry import Box, common
from forensix.metadata.pdf.marks import Drawing, Letters, Mark

LEAST_LETTERS, LEAST_IN_LAYER = 12, 2
"""Letters and digits of a page that have to be unseen for one reason, and in a layer that is off."""
TINY_PT = 0.8
LONGEST = 1000
"""Characters of unseen words that are repeated for each reason of a page."""
LEAST_REPLACED, LEAST_DIGITS = 2, 3
"""Letters and digits of unseen words that others replace, and digits of those without ink."""

SAME_PLACE_PT = 2.0
"""How far apart a letter may stand that is drawn twice, once to be seen: shadows are moved a little."""

SAME_LINE_PT = 0.6
MOST_LETTERS = 40
"""Letters of a page in a font that only stands in for another."""
MOST_RUNS = 4
MOST_BESIDE = 20
_TAG = re.compile(r"^[A-Z]{6}\+")


def unseen(drawing: Drawing, page: Box) -> Iterator[dict[str, Any]]:
    """Yield ``why`` and ``text`` of the words of a page that leave nothing to see, one for each reason.

    Words whose outline or shadow is seen are drawn twice, and are left out.
    """
    found: dict[str, list[Mark]] = {}
    hidden = list(_found(drawing, page))
    seen = _letters_seen(drawing, hidden) if hidden else set()
    for mark, why in hidden:
        if not _is_seen(mark, seen):
            found.setdefault(why, []).append(mark)
    for why, marks in found.items():
        text = " ".join(m.text for m in marks)
        least = LEAST_IN_LAYER if why.startswith("layer ") else LEAST_LETTERS
        if sum(letter.isalnum() for letter in text) >= least:
            box = [min(m.box[i] for m in marks) for i in (0, 1)] + [max(m.box[i] for m in marks) for i in (2, 3)]
            yield {"why": why, "text": text[:LONGEST], "box_pt": [round(v, 1) for v in box]}


def _letters_seen(drawing: Drawing, hidden: list[tuple[Mark, str]]) -> set[tuple[str, int, int]]:
    """Return the letters of a page that are seen, each with the cell of a grid that it stands in."""
    left_out = {id(mark) for mark, _ in hidden}
    return {cell for mark in drawing.marks if id(mark) not in left_out for cell in _cells(mark)}


def _is_seen(mark: Mark, seen: set[tuple[str, int, int]]) -> bool:
    """Say whether each letter of a string stands in the same place once more, to be seen."""
    near = (-1, 0, 1)
    return all(any((letter, x + i, y + j) in seen for i in near for j in near) for letter, x, y in _cells(mark))


def _cells(mark: Mark) -> list[tuple[str, int, int]]:
    return [
        (letter, round(x / SAME_PLACE_PT), round(y / SAME_PLACE_PT))
        for letter, x, y in mark.letters
        if not letter.isspace()
    ]


def replaced(drawing: Drawing, letters: Letters, page: Box) -> Iterator[dict[str, Any]]:
    """Yield ``why``, ``under`` and ``over`` of words that are hidden in a place where others are seen.

    ``letters`` are those of all marks.
    """
    for mark, why in _found(drawing, page):
        # Forms lay names of fields without ink below what is filled in; those are no numbers.
        if why not in ("transparent", "white") and not (why == "without ink" and _n_digits(mark.text) >= LEAST_DIGITS):
            continue
        over = "".join(text for i, text in letters.inside(mark.box) if drawing.marks[i].colour != "white")
        under, shown = (_letters(text) for text in (mark.text, over))
        if len(under) >= LEAST_REPLACED and len(shown) >= LEAST_REPLACED and under not in shown and shown not in under:
            yield {"why": why, "under": mark.text[:200], "over": over[:200], "box_pt": [round(v, 1) for v in mark.box]}


def _n_digits(text: str) -> int:
    return sum(letter.isdigit() for letter in text)


def _letters(text: str) -> str:
    return "".join(letter for letter in text if letter.isalnum())


def _found(drawing: Drawing, page: Box) -> Iterator[tuple[Mark, str]]:
    """Yield the words that are not seen, each with the reason."""
    pictures = [mark.box for mark in drawing.marks if mark.kind == "image"]
    # Browsers fill words with several colours through a mask, and write them once more, transparent.
    grounds = _corners(drawing.grounds)
    hiding = {"without ink": grounds, "transparent": _corners(pictures + drawing.masked)}
    outlines = _corners(drawing.outlines if drawing.unseen else [])
    for mark in drawing.unseen:
        if not (mark.unseen in hiding and (_on(mark, hiding[mark.unseen]) or _is_drawn(mark, outlines))):
            yield mark, mark.unseen
    for mark in drawing.marks:
        if mark.kind == "text" and (why := _why(mark, grounds, page)):
            yield mark, why


def _why(mark: Mark, grounds: npt.NDArray[np.float64], page: Box) -> str:
    if not _share(mark.box, page):
        return "beside the page"
    width, height = mark.box[2] - mark.box[0], mark.box[3] - mark.box[1]
    if mark.font is not None and not mark.font.is_drawn and 0 < min(width, height) < 0.7 * TINY_PT:
        return "tiny"
    return "white" if mark.colour == "white" and not _on(mark, grounds) else ""


def _corners(boxes: list[Box]) -> npt.NDArray[np.float64]:
    return np.array(boxes, float).reshape(-1, 4).T


def _on(mark: Mark, corners: npt.NDArray[np.float64]) -> bool:
    """Say whether a mark shares a point with one of the boxes, shape (4, n)."""
    x0, y0, x1, y1 = corners
    left, below, right, above = mark.box
    return bool(((x0 <= right) & (x1 >= left) & (y0 <= above) & (y1 >= below)).any())


def _is_drawn(mark: Mark, corners: npt.NDArray[np.float64]) -> bool:
    """Say whether most letters of a string stand where lines or areas of a letter's size are drawn, shape (4, n)."""
    letters = [(x, y) for letter, x, y in mark.letters if not letter.isspace()]
    sides = mark.box[2] - mark.box[0], mark.box[3] - mark.box[1]
    high = min(sides) if len(mark.letters) > 1 else max(sides)
    x0, y0, x1, y1 = corners
    small = (np.maximum(x1 - x0, y1 - y0) <= 2 * high) & (x1 >= mark.box[0] - high) & (x0 <= mark.box[2] + high)
    x0, y0, x1, y1 = corners[:, small & (y1 >= mark.box[1] - high) & (y0 <= mark.box[3] + high)]
    near = 0.3 * high
    drawn = sum(
        bool(((x0 <= x + near) & (x1 >= x - near) & (y0 <= y + near) & (y1 >= y - near)).any()) for x, y in letters
    )
    return 2 * drawn >= len(letters)


def _share(first: Box, second: Box) -> bool:
    x0, y0, x1, y1 = common(first, second)
    return x0 <= x1 and y0 <= y1


def other_fonts(drawing: Drawing) -> Iterator[dict[str, Any]]:
    """Yield ``words`` of a line in a font that stands in for the one ``beside`` them, with the words of that one."""
    runs = [
        (mark, mark.font, text)
        for mark in drawing.marks[: drawing.n_own]
        if mark.font is not None and mark.font.number and (text := mark.text.strip())
    ]
    fonts = {font.number: font for _, font, _ in runs}
    letters: Counter[int] = Counter()
    used: dict[int, set[str]] = {}
    for _, font, text in runs:
        letters[font.number] += len(text)
        used.setdefault(font.number, set()).update(text)
    n_runs = Counter(font.number for _, font, _ in runs)
    for mark, font, text in runs:
        if letters[font.number] > MOST_LETTERS or n_runs[font.number] > MOST_RUNS:
            continue
        kinds = {
            number: kind
            for number, other in fonts.items()
            if letters[number] > letters[font.number] and (kind := _stands_in(font, other, text, used[number]))
        }
        line = (
            (other, words)
            for at, other, words in runs
            if other.number in kinds and abs(at.box[1] - mark.box[1]) <= SAME_LINE_PT
        )
        beside = list(islice(line, MOST_BESIDE)) if kinds else []
        if beside:
            other = beside[0][0]
            yield {
                "words": text[:200],
                "font": font.name,
                "object": font.number,
                "kind": kinds[other.number],
                "beside": " ".join(words for _, words in beside)[:200],
                "beside_font": other.name,
                "beside_object": other.number,
                "box_pt": [round(v, 1) for v in mark.box],
            }


def _stands_in(font: Font, other: Font, text: str, used: set[str]) -> str:
    """Say how a font stands in for another: ``copy`` of it, or ``not embedded``; empty where it does not.

    What makes a document puts a letter into one copy only, so the same letter in two copies is what tells.
    """
    if font.is_drawn or other.is_drawn or not any(letter.isalnum() for letter in text):
        return ""
    if _TAG.sub("", font.name) == _TAG.sub("", other.name):
        shared = {letter for letter in text if letter.isalnum()} & used
        return "copy" if shared and font.is_embedded and other.is_embedded else ""
    return "not embedded" if other.is_embedded and not font.is_embedded else ""
