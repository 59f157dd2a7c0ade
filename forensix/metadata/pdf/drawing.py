"""What a page of a PDF draws, in the order of drawing: letters with their places, filled boxes, pictures.

Forms that a page draws are followed, within bounds. Boxes are rectangles and broad straight strokes; free paths, clips
and shadings are left out, and so is whatever lets through what lies below it.

References
----------
ISO 32000-2:2020, 8 (graphics), 9 (text), annex A (operators).
"""

import math
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import pikepdf

from forensix.metadata.pdf import fonts
from forensix.metadata.pdf.fonts import Font
from forensix.metadata.pdf.geometry import UNIT, Box, Matrix, as_matrix, moved, placed, product, rectangles, strokes

CONTENT_BYTES = 1 << 20
TOTAL_BYTES = 3 << 20
OPERATORS = 60_000
MARKS = 3000
LETTERS = 30_000
DEPTH = 5
FONTS = 60
FAULTS = (
    pikepdf.PdfError, pikepdf.DataDecodingError, zlib.error,
    ValueError, TypeError, RuntimeError, KeyError, AttributeError, OverflowError, IndexError,
    ArithmeticError,
)  # fmt: skip


class TooLong(Exception):
    """The pages hold more content than is read."""


@dataclass(frozen=True)
class Mark:
    """One thing drawn: ``kind`` is ``box``, ``image`` or ``text``; boxes in points, lower left and upper right."""

    kind: str
    box: Box
    colour: str = ""
    """Of a box: ``white``, or its components."""
    opaque: bool = True
    letters: tuple[tuple[str, float, float], ...] = ()
    """Of text: each character with its middle, in points."""


@dataclass
class Drawing:
    """Marks in the order of drawing."""

    marks: list[Mark] = field(default_factory=list)
    n_text: int = 0
    n_hidden_text: int = 0


@dataclass
class Budget:
    """What may still be read of a document, and the fonts that were."""

    n_bytes: int = TOTAL_BYTES
    n_fonts: int = FONTS
    fonts: dict[tuple[int, int], Font] = field(default_factory=dict)


def draw(
    pdf: pikepdf.Pdf, page: pikepdf.Page, budget: Budget, forms: Iterable[tuple[pikepdf.Stream, Matrix]] = ()
) -> Drawing:
    """Return what a page draws, and then what ``forms`` with words in them do, each where its matrix puts it.

    Raises
    ------
    TooLong
        The budget is spent.
    """
    reader = _Reader(pdf, budget)
    contents = page.obj.get("/Contents")
    streams = list(contents)[:200] if isinstance(contents, pikepdf.Array) else [contents]
    reader.run(reader.inflated(streams), page.obj.get("/Resources") or page.resources, UNIT, 0)
    for form, matrix in forms:
        n_marks = len(reader.drawing.marks)
        reader.run(reader.inflated([form]), form.get("/Resources"), matrix, 1)
        # Empty fields lie over lines and hints of printed forms.
        if all(mark.kind != "text" for mark in reader.drawing.marks[n_marks:]):
            del reader.drawing.marks[n_marks:]
    return reader.drawing


class _Reader:
    """Runs content streams; the budget of operators and letters is one page's."""

    def __init__(self, pdf: pikepdf.Pdf, budget: Budget) -> None:
        self.pdf, self.budget, self.drawing = pdf, budget, Drawing()
        self.n_operators, self.n_letters = OPERATORS, LETTERS

    def inflated(self, streams: list[Any]) -> bytes:
        """Return streams as one content, inflated within bounds."""
        out = b""
        for stream in streams:
            if not isinstance(stream, pikepdf.Stream):
                continue
            filters = stream.get("/Filter")
            names = (
                [str(f) for f in filters] if isinstance(filters, pikepdf.Array) else [str(filters)] if filters else []
            )
            raw = stream.read_raw_bytes()
            if names == ["/FlateDecode"] and "/DecodeParms" not in stream:
                raw = zlib.decompressobj().decompress(raw, CONTENT_BYTES)
            elif names:
                if len(raw) > 1 << 16:
                    continue
                raw = stream.read_bytes()
            out += raw[: max(0, CONTENT_BYTES - len(out))] + b"\n"
        self.budget.n_bytes -= len(out)
        if self.budget.n_bytes < 0:
            raise TooLong
        return out

    def run(self, content: bytes, resources: Any, matrix: Matrix, depth: int, *, clear: bool = False) -> None:
        """Add the marks of a content stream."""
        state: dict[str, Any] = {
            "matrix": matrix, "fill": "0", "stroke": "0", "width": 1.0, "clear": clear, "font": Font(), "size": 12.0,
            "mode": 0, "spacing": 0.0, "words": 0.0, "scale": 1.0,
        }  # fmt: skip
        stack: list[dict[str, Any]] = []
        text_matrix, line, leading = UNIT, UNIT, 0.0
        boxes: list[Box] = []
        points: list[tuple[float, float]] = []
        for instruction in pikepdf.parse_content_stream(pikepdf.Stream(self.pdf, content)):
            self.n_operators -= 1
            if self.n_operators < 0 or len(self.drawing.marks) > MARKS:
                return
            if not isinstance(instruction, pikepdf.ContentStreamInstruction):
                continue
            operator, values = str(instruction.operator), list(instruction.operands)
            if operator == "q" and len(stack) < 200:
                stack.append(dict(state))
            elif operator == "Q" and stack:
                state = stack.pop()
            elif operator == "cm" and len(values) == 6:
                state["matrix"] = product(as_matrix(values), state["matrix"])
            elif operator == "gs" and values:
                state["clear"] = clear or _lets_through(_entry(resources, "/ExtGState", values[0]))
            elif operator in ("g", "rg", "k", "sc", "scn") and values:
                state["fill"] = colour(operator, values)
            elif operator in ("G", "RG", "K", "SC", "SCN") and values:
                state["stroke"] = colour(operator.lower(), values)
            elif operator in ("cs", "CS"):
                state["fill" if operator == "cs" else "stroke"] = "0"
            elif operator == "w" and values:
                state["width"] = float(values[0])
            elif operator == "re" and len(values) == 4:
                x, y, w, h = (float(v) for v in values)
                boxes.append(placed(state["matrix"], x, y, x + w, y + h))
            elif operator in ("m", "l") and len(values) == 2:
                points.append((float(values[0]), float(values[1])))
            elif operator in ("c", "v", "y"):
                points.append((math.nan, math.nan))
            elif operator in ("f", "F", "f*", "b", "B", "b*", "B*", "n", "s", "S"):
                if operator not in ("n", "s", "S"):
                    boxes += rectangles(points, state["matrix"])
                    self._add("box", boxes[:50], state["fill"], state)
                elif operator != "n":
                    self._add("box", strokes(points, state["width"], state["matrix"]), state["stroke"], state)
                boxes, points = [], []
            elif operator == "BT":
                text_matrix = line = UNIT
            elif operator == "Tf" and len(values) == 2:
                state["size"] = float(values[1])
                state["font"] = self._font(_entry(resources, "/Font", values[0]))
            elif operator in ("Tr", "Tc", "Tw", "Tz", "TL") and values:
                number = float(values[0])
                if operator == "TL":
                    leading = number
                else:
                    name = {"Tr": "mode", "Tc": "spacing", "Tw": "words", "Tz": "scale"}[operator]
                    state[name] = number / 100 if operator == "Tz" else number
            elif operator in ("Td", "TD") and len(values) == 2:
                leading = -float(values[1]) if operator == "TD" else leading
                line = text_matrix = product((1, 0, 0, 1, float(values[0]), float(values[1])), line)
            elif operator == "Tm" and len(values) == 6:
                line = text_matrix = as_matrix(values)
            elif operator == "T*":
                line = text_matrix = product((1, 0, 0, 1, 0, -leading), line)
            elif operator in ("Tj", "TJ", "'", '"') and values:
                if operator in ("'", '"'):
                    line = text_matrix = product((1, 0, 0, 1, 0, -leading), line)
                width = self._text(values[-1], state, text_matrix)
                text_matrix = product((1, 0, 0, 1, width, 0), text_matrix)
            elif operator == "Do" and values:
                self._object(_entry(resources, "/XObject", values[0]), resources, state, depth)

    def _add(self, kind: str, boxes: list[Box], filled: str, state: dict[str, Any]) -> None:
        opaque = not state["clear"] and filled != "pattern"
        self.drawing.marks += [Mark(kind, box, filled, opaque) for box in boxes]

    def _font(self, item: Any) -> Font:
        """Return a font; what is read over and over, because it has no number, counts each time."""
        if not isinstance(item, pikepdf.Dictionary):
            return Font()
        if item.objgen[0] and item.objgen in self.budget.fonts:
            return self.budget.fonts[item.objgen]
        self.budget.n_fonts -= 1
        if self.budget.n_fonts < 0:
            return Font()
        try:
            font = fonts.read(item)
        except FAULTS:
            font = Font()
        self.budget.fonts[item.objgen] = font
        return font

    def _text(self, value: Any, state: dict[str, Any], text_matrix: Matrix) -> float:
        """Add a string, or an array of strings and shifts; return how far it moves the next one."""
        where, size, at = product(text_matrix, state["matrix"]), state["size"], 0.0
        letters: list[tuple[str, float, float]] = []
        for part in value if isinstance(value, pikepdf.Array) else [value]:
            if not isinstance(part, pikepdf.String):
                at -= float(part) / 1000 * size * state["scale"]
                continue
            for letter, width_em, is_space in state["font"].letters(bytes(part)):
                width = width_em * size
                letters.append((letter, *moved(where, at + width / 2, 0.3 * size)))
                at += (width + state["spacing"] + (state["words"] if is_space else 0.0)) * state["scale"]
        hidden = state["mode"] == 3
        self.drawing.n_text += bool(letters)
        self.drawing.n_hidden_text += bool(letters) and hidden
        self.n_letters -= len(letters)
        if letters and not hidden and self.n_letters >= 0:
            box = placed(where, 0, 0, at, 0.7 * size)
            self.drawing.marks.append(Mark("text", box, letters=tuple(letters)))
        return at

    def _object(self, item: Any, resources: Any, state: dict[str, Any], depth: int) -> None:
        if not isinstance(item, pikepdf.Stream):
            return
        if item.get("/Subtype") == "/Image":
            masked = "/SMask" in item or "/Mask" in item or bool(item.get("/ImageMask", False))
            box = placed(state["matrix"], 0, 0, 1, 1)
            self.drawing.marks.append(Mark("image", box, opaque=not masked and not state["clear"]))
        elif item.get("/Subtype") == "/Form" and depth < DEPTH:
            own = item.get("/Matrix")
            inner = product(as_matrix(list(own)), state["matrix"]) if own is not None else state["matrix"]
            below = item.get("/Resources") or resources
            self.run(self.inflated([item]), below, inner, depth + 1, clear=state["clear"])


def _entry(resources: Any, kind: str, name: Any) -> Any:
    table = resources.get(kind) if isinstance(resources, pikepdf.Dictionary) else None
    return table.get(name) if isinstance(table, pikepdf.Dictionary) else None


def _lets_through(graphics: Any) -> bool:
    """Say whether a graphics state shows what lies below: a highlighter's does."""
    if not isinstance(graphics, pikepdf.Dictionary):
        return False
    blend, mask = graphics.get("/BM", "/Normal"), graphics.get("/SMask", "/None")
    alpha = min(float(graphics.get("/ca", 1)), float(graphics.get("/CA", 1)))
    return alpha < 0.9 or str(blend) not in ("/Normal", "/Compatible") or str(mask) != "/None"


def colour(operator: str, values: list[Any]) -> str:
    """Return ``white``, ``pattern`` or the components of a colour that an operator sets."""
    try:
        numbers = [float(v) for v in values]
    except (TypeError, ValueError):
        return "pattern"
    light = all(v >= 0.98 for v in numbers)
    if operator == "k" or (operator in ("sc", "scn") and len(numbers) == 4):
        light = all(v <= 0.02 for v in numbers)
    return "white" if light else " ".join(f"{v:g}" for v in numbers)
