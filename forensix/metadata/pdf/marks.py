"""What was read of a page's drawing, and what may still be read of its document."""

import math
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from forensix.metadata.pdf.fonts import Font
from forensix.metadata.pdf.geometry import Box, Point
from forensix.metadata.pdf.layers import Layers
from forensix.metadata.pdf.masks import Masks

TOTAL_BYTES = 12 << 20
FONTS = 60
LOOKED_AT = 1_000_000
"""Letters of a page that are looked at when boxes are searched."""
LEAST_SLANT = 0.2
"""Tangent of the angle to the edges of a page from which on words are slanted."""
LEAST_LETTERS = 2
"""Letters or digits that something has to cover."""
CELL_PT, FAR_PT = 32.0, 1e6


LEFTWARD = ("R", "AL")
"""Classes of the letters of Hebrew, Arabic and others that run to the left."""


def as_read(text: str) -> str:
    """Return letters that stand from left to right in the order of reading, where some of them run to the left.

    >>> as_read("120 \u05dd\u05d5\u05dc\u05e9") == "\u05e9\u05dc\u05d5\u05dd 120", as_read("total 120")
    (True, 'total 120')
    """
    if not any(unicodedata.bidirectional(letter[:1]) in LEFTWARD for letter in text):
        return text
    runs = [
        (across, "".join(run)) for across, run in groupby(text, lambda c: c in ".,:/-" or (c.isascii() and c.isalnum()))
    ]
    return "".join(run if across else run[::-1] for across, run in runs[::-1])


class TooLong(Exception):
    """The pages hold more content than is read."""


@dataclass(frozen=True)
class Mark:
    """One thing drawn: ``kind`` is ``box``, ``image`` or ``text``; boxes in points, lower left and upper right."""

    kind: str
    box: Box
    colour: str = ""
    """Of a box and of text: ``white``, ``pattern`` or its components."""
    opaque: bool = True
    letters: tuple[tuple[str, float, float], ...] = ()
    """Of text: each character with its middle, in points."""
    font: Font | None = None
    unseen: str = ""
    """Of text that leaves no ink: ``without ink``, ``transparent``, or ``layer`` and the layer's name."""
    shape: tuple[tuple[Point, ...], ...] = ()
    """Of a box that is no rectangle along the edges of the page: the corners of its parts, in points."""
    even_odd: bool = False
    """The rule by which a shape is filled."""

    @property
    def text(self) -> str:
        """Return the letters, as they are read; those that run left are drawn from either end."""
        text = "".join(letter for letter, _, _ in self.letters)
        return as_read(text) if len(self.letters) > 1 and self.letters[0][1] < self.letters[-1][1] else text

    @property
    def is_slanted(self) -> bool:
        """Say whether words run neither along a page nor up it, as watermarks do that lie below what is printed."""
        (_, left, below), (_, right, above) = self.letters[0], self.letters[-1]
        across, up = abs(right - left), abs(above - below)
        return min(across, up) > LEAST_SLANT * max(across, up)


@dataclass
class Drawing:
    """Marks in the order of drawing; words that leave no ink; boxes around whatever is painted in a colour.

    What is painted through a soft mask is in ``masked`` as well.
    """

    marks: list[Mark] = field(default_factory=list)
    unseen: list[Mark] = field(default_factory=list)
    grounds: list[Box] = field(default_factory=list)
    masked: list[Box] = field(default_factory=list)
    outlines: list[Box] = field(default_factory=list)
    """Around each line, curve or area that is painted and is no rectangle: letters are drawn so as well."""
    n_own: int = 0
    """How many of the marks, the first ones, are the page's and no form field's."""
    forms: list[list[Mark]] = field(default_factory=list)
    """The words of each form field, in the order in which they were given."""
    empty: list[Mark] = field(default_factory=list)
    """What form fields without words draw: their grounds and pictures."""
    n_text: int = 0
    n_hidden_text: int = 0
    n_touched_up: int = 0
    """Marks that Acrobat left where words were edited."""


class Inked:
    """Where letters were drawn so far."""

    def __init__(self) -> None:
        self.cells: set[tuple[int, int]] = set()

    def add(self, mark: Mark) -> None:
        """Add the letters of a mark."""
        self.cells.update((int(x // CELL_PT), int(y // CELL_PT)) for _, x, y in mark.letters)

    def near(self, box: Box) -> bool:
        """Say whether letters may stand in a box."""
        columns, rows = _cells(box)
        if len(columns) * len(rows) > len(self.cells):
            return any(column in columns and row in rows for column, row in self.cells)
        return any((column, row) in self.cells for column in columns for row in rows)


def _cells(box: Box) -> tuple[range, range]:
    """Return the columns and the rows of cells that a box touches."""
    left, below, right, above = (int(min(max(v, -FAR_PT), FAR_PT) // CELL_PT) for v in box)
    return range(left, right + 1), range(below, above + 1)


class Letters:
    """The letters of a page by where they stand, for those of a box; ``is_cut`` says that too many were asked for.

    Words that are slanted are left out.
    """

    def __init__(self, marks: Iterable[Mark]) -> None:
        self.left, self.is_cut = LOOKED_AT, False
        self.cells: dict[tuple[int, int], list[tuple[Any, ...]]] = {}
        for i, mark in enumerate(marks):
            is_level = mark.kind == "text" and bool(mark.letters) and not mark.is_slanted
            for k, (letter, x, y) in enumerate(mark.letters if is_level else ()):
                self.cells.setdefault((int(x // CELL_PT), int(y // CELL_PT)), []).append((i, k, letter, x, y))

    def inside(
        self,
        box: Box,
        first: int = 0,
        last: float = math.inf,
        where: Callable[[float, float], bool] | None = None,
    ) -> list[tuple[int, str]]:
        """Return the number of each mark with letters whose middle lies in a box, with these, in order of drawing.

        Marks before ``first`` and from ``last`` on are left out; where too much was asked for all are. Where ``where``
        is given, only letters at such points count, and of those only several in a row: an edge runs over one.
        """
        x0, y0, x1, y1 = box
        columns, rows = _cells(box)
        self.left -= min(len(columns) * len(rows), len(self.cells))
        if len(columns) * len(rows) > len(self.cells):
            near = [self.cells[at] for at in self.cells if at[0] in columns and at[1] in rows]
        else:
            near = [self.cells[at] for column in columns for row in rows if (at := (column, row)) in self.cells]
        near = [letters[bisect_left(letters, (first,)) : bisect_left(letters, (last,))] for letters in near]
        self.left -= sum(map(len, near))
        if self.left < 0:
            self.is_cut = True
            return []
        found = sorted(
            letter for letters in near for letter in letters if x0 <= letter[3] <= x1 and y0 <= letter[4] <= y1
        )
        if where is not None:
            runs = [list(run) for is_there, run in groupby(found, lambda one: where(*one[3:])) if is_there]
            found = [one for run in runs if sum(one[2].isalnum() for one in run) >= LEAST_LETTERS for one in run]
        return [(i, "".join(one[2] for one in part)) for i, part in groupby(found, lambda one: one[0])]


@dataclass
class Budget:
    """What may still be read of a document, the fonts and masks that were, and which of its layers are off."""

    n_bytes: int = TOTAL_BYTES
    n_fonts: int = FONTS
    fonts: dict[tuple[int, int], Font] = field(default_factory=dict)
    layers: Layers = field(default_factory=Layers)
    masks: Masks = field(default_factory=Masks)
