"""What a page of a PDF draws, in the order of drawing: letters with their places, filled boxes, pictures.

Forms that a page draws are followed, within bounds. Boxes are rectangles along the edges of the page, cut to the
upright box around a clip, and shadings fill that box. What is filled in another shape, and broad strokes, are kept with
their corners where words were drawn before. Patterns are left out, and so is whatever lets through what lies below it.
What a layer that is switched off holds is not drawn; its words are kept apart, as are those drawn without ink.

References
----------
ISO 32000-2:2020, 8 (graphics), 9 (text), annex A (operators).
"""

import math
from typing import Any

import pikepdf

from forensix.metadata.pdf import fonts, paint
from forensix.metadata.pdf.fonts import Font
from forensix.metadata.pdf.geometry import (
    BROAD_PT,
    EVERYWHERE,
    UNIT,
    Box,
    Matrix,
    Point,
    as_matrix,
    common,
    is_finite,
    moved,
    placed,
    product,
)  # fmt: skip
from forensix.metadata.pdf.marks import Budget, Drawing, Inked, Mark, TooLong
from forensix.metadata.pdf.paths import CONSTRUCTION, Part, Path, box_of, groups, is_upright, lines
from forensix.metadata.pdf.streams import FAULTS, inflated

CONTENT_BYTES = 1 << 20
OPERATORS = 60_000
BOXES, TEXTS = 3000, 6000
"""Boxes and pictures of a page that are looked at, and its strings that leave ink (dots to page numbers are many)."""

GROUNDS = 300
LETTERS = 30_000
PARTS, CORNERS = 100, 5000
"""Parts of one path, of an extent to cover words, that are looked at, the first ones, and corners of a shape."""

DEPTH = 5
TOUCHED_UP = "/TouchUp_TextEdit"
"""The mark that Acrobat puts beside words that somebody edited or added with its tools for text."""


class Reader:
    """Runs content streams; the budget of operators and letters is one page's."""

    def __init__(self, pdf: pikepdf.Pdf, budget: Budget) -> None:
        self.pdf, self.budget, self.drawing = pdf, budget, Drawing()
        self.n_operators, self.n_letters, self.n_boxes, self.n_texts = OPERATORS, LETTERS, BOXES, TEXTS
        self.layers: list[str] = []
        self.inked = Inked()
        self.is_cut = False

    def inflated(self, streams: list[Any]) -> bytes:
        """Return streams as one content, inflated within bounds."""
        out = b""
        for stream in streams:
            if not isinstance(stream, pikepdf.Stream):
                continue
            raw = inflated(stream, CONTENT_BYTES)
            room = max(0, CONTENT_BYTES - len(out))
            self.is_cut |= len(raw) >= room
            out += raw[:room] + b"\n"
        self.budget.n_bytes -= len(out)
        if self.budget.n_bytes < 0:
            raise TooLong
        return out

    def run(self, content: bytes, resources: Any, state: dict[str, Any], depth: int) -> None:
        """Add the marks of a content stream that begins in a graphics state, which is left as it is."""
        state = dict(state)
        stack: list[dict[str, Any]] = []
        text_matrix, line, leading = UNIT, UNIT, 0.0
        path, clips, outer = Path(), False, len(self.layers)
        for instruction in pikepdf.parse_content_stream(pikepdf.Stream(self.pdf, content)):
            self.n_operators -= 1
            if self.n_operators < 0:
                break
            if not isinstance(instruction, pikepdf.ContentStreamInstruction):
                self._picture(state, is_mask=instruction.iimage.image_mask)
                continue
            operator, values = str(instruction.operator), list(instruction.operands)
            if operator == "q":
                stack.append(dict(state))
            elif operator == "Q" and stack:
                state = stack.pop()
            elif operator == "cm" and len(values) == 6:
                state["matrix"] = product(as_matrix(values), state["matrix"])
            elif operator == "gs" and values:
                state["graphics"] = paint.held(state["graphics"], paint.entry(resources, "/ExtGState", values[0]))
                state["clear"] = state["group clear"] or paint.lets_through(state["graphics"])
                state["alpha"] = state["group alpha"] * paint.opacity(state["graphics"])
                state["masked"] = state["group masked"] or paint.is_masked(state["graphics"])
            elif operator in paint.COLOURS and values:
                paint.take(state, operator, values, resources)
            elif operator == "w" and values:
                state["width"] = float(values[0])
            elif operator in CONSTRUCTION:
                path.take(operator, values, state["matrix"])
            elif operator in ("W", "W*"):
                clips = True
            elif operator in ("f", "F", "f*", "b", "B", "b*", "B*", "n", "s", "S"):
                if operator[0] in "bs":
                    path.close()
                around = box_of(*path.parts) if path.parts else None
                if operator != "n":
                    self._outline(path.parts, state, state["fill" if operator[0] in "fF" else "stroke"])
                if operator[0] in "fFbB":
                    self._fill(path.areas(), state, state["fill"], even_odd=operator.endswith("*"))
                    self._ground(around, state, state["fill"])
                elif operator != "n":
                    self._stroke(path.parts, state)
                if clips and around:
                    state["clip"] = common(state["clip"], around)
                path, clips = Path(), False
            elif operator == "sh":
                self._ground(state["clip"], state)
                self._add("box", state["clip"], "shading", state)
            elif operator in ("BDC", "BMC"):
                marked = values[1] if operator == "BDC" and len(values) == 2 and str(values[0]) == "/OC" else None
                self.layers.append(self.budget.layers.hidden(paint.entry(resources, "/Properties", marked)))
            elif operator == "MP" and values and str(values[0]) == TOUCHED_UP:
                self.drawing.n_touched_up += 1
            elif operator == "EMC" and len(self.layers) > outer:
                self.layers.pop()
            elif operator == "BT":
                text_matrix = line = UNIT
            elif operator == "Tf" and len(values) == 2:
                state["size"] = float(values[1])
                state["font"] = self._font(paint.entry(resources, "/Font", values[0]))
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
                shift = self._text(values[-1], state, text_matrix)
                # Until the state is left, what is painted is cut to the shape of these words.
                state["in words"] = state["in words"] or state["mode"] >= 4
                text_matrix = product((1, 0, 0, 1, *shift), text_matrix)
            elif operator == "Do" and values:
                self._object(paint.entry(resources, "/XObject", values[0]), resources, state, depth)

        del self.layers[outer:]

    def _outline(self, parts: list[Part], state: dict[str, Any], colour: str) -> None:
        """Keep where something is drawn that may be a letter."""
        if colour != "white" and state["alpha"] > paint.CLEAR and not self._layer():
            self.drawing.outlines += [box_of(part) for part in parts if len(part) > 1 and not is_upright(part)]

    def _fill(self, parts: list[Part], state: dict[str, Any], filled: str, *, even_odd: bool) -> None:
        """Add what is painted in a path."""
        broad = [part for part in parts if _is_broad(cut := common(state["clip"], box_of(part)))
                 and (is_upright(part) or self.inked.near(cut))]  # fmt: skip
        if not state["clear"] and not self._layer():
            self.is_cut |= any(self.inked.near(common(state["clip"], box_of(part))) for part in broad[PARTS:])
        for group in groups(broad[:PARTS]):
            self._area(group, state, filled, even_odd=even_odd)

    def _stroke(self, parts: list[Part], state: dict[str, Any]) -> None:
        """Add what broad strokes paint."""
        m = state["matrix"]
        broad = state["width"] * math.sqrt(abs(m[0] * m[3] - m[1] * m[2]))
        for part in parts if broad >= BROAD_PT else ():
            if strokes := lines(part, broad):
                self._area(strokes, state, state["stroke"], even_odd=False)
            for line in strokes:
                self._ground(box_of(line), state, state["stroke"])

    def _area(self, parts: list[Part], state: dict[str, Any], filled: str, *, even_odd: bool) -> None:
        """Add a rectangle as a box, and anything else as a shape where words stand already."""
        box = box_of(*parts)
        if len(parts) == 1 and is_upright(parts[0]):
            self._add("box", box, filled, state)
        elif self.inked.near(common(state["clip"], box)):
            if sum(map(len, parts)) > CORNERS:
                self.is_cut = True
            else:
                self._add("box", box, filled, state, tuple(map(tuple, parts)), even_odd=even_odd)

    def _add(
        self,
        kind: str,
        box: Box,
        filled: str,
        state: dict[str, Any],
        shape: tuple[tuple[Point, ...], ...] = (),
        *,
        even_odd: bool = False,
    ) -> None:
        """Add a box that can cover a line of text, or a picture."""
        opaque = not state["clear"] and filled != "pattern" and not state["in words"]
        cut = common(state["clip"], box)
        if self._layer() or not is_finite(cut) or not _is_broad(cut, BROAD_PT if kind == "box" else 0.0):
            return
        if shape and not opaque:
            return
        self.n_boxes -= 1
        if self.n_boxes >= 0:
            self.drawing.marks.append(Mark(kind, cut, filled, opaque, shape=shape, even_odd=even_odd))

    def _picture(self, state: dict[str, Any], *, is_mask: bool) -> None:
        box = placed(state["matrix"], 0, 0, 1, 1)
        self._ground(box, state)
        self._add("image", box, "pattern" if is_mask else "", state)

    def _ground(self, path: Box | None, state: dict[str, Any], filled: str = "pattern") -> None:
        if path is None or filled == "white" or self._layer():
            return
        for boxes in (self.drawing.grounds, self.drawing.masked) if state["masked"] else (self.drawing.grounds,):
            # Where too much is painted to look at all of it, all of the page counts as painted.
            if len(boxes) >= GROUNDS:
                boxes[:] = [EVERYWHERE]
            boxes.append(path)

    def _layer(self) -> str:
        """Return the name of the layer that hides what is drawn now; empty where none does."""
        return next((name for name in self.layers if name), "")

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

    def _text(self, value: Any, state: dict[str, Any], text_matrix: Matrix) -> Point:
        """Add a string, or an array of strings and shifts; return how far it moves the next one, across and up."""
        where, size, at = product(text_matrix, state["matrix"]), state["size"], 0.0
        down, letters = state["font"].down_em * size, list[tuple[str, float, float]]()
        scale = 1.0 if down else state["scale"]
        for part in value if isinstance(value, pikepdf.Array) else [value]:
            if not isinstance(part, pikepdf.String):
                at -= float(part) / 1000 * size * scale
                continue
            for letter, width_em, is_space in state["font"].letters(bytes(part)):
                width = down or width_em * size
                middle = (0.0, at + width / 2) if down else (at + width / 2, 0.3 * size)
                letters.append((letter, *moved(where, *middle)))
                at += (width + state["spacing"] + (state["words"] if is_space else 0.0)) * scale
        layer = self._layer()
        unseen = f"layer {layer}" if layer else {3: "without ink"}.get(state["mode"], "")
        if not unseen and state["mode"] == 0 and state["alpha"] <= paint.CLEAR:
            unseen = "transparent"
        self.drawing.n_text += bool(letters)
        self.drawing.n_hidden_text += bool(letters) and bool(unseen)
        self.n_letters -= len(letters)
        self.n_texts -= bool(letters) and not unseen
        # Letters that run down stand with their middle on the line.
        box = placed(where, -size / 2, 0, size / 2, at) if down else placed(where, 0, 0, at, 0.7 * size)
        if letters and min(self.n_letters, self.n_texts) >= 0 and is_finite(box):
            filled = state["fill"] if state["mode"] == 0 and not state["font"].is_drawn else "pattern"
            mark = Mark("text", box, filled, letters=tuple(letters), font=state["font"], unseen=unseen)
            (self.drawing.unseen if unseen else self.drawing.marks).append(mark)
            if not unseen:
                self.inked.add(mark)
        return (0.0, at) if down else (at, 0.0)

    def _object(self, item: Any, resources: Any, state: dict[str, Any], depth: int) -> None:
        if not isinstance(item, pikepdf.Stream):
            return
        if item.get("/Subtype") == "/Image":
            if not self.budget.layers.hidden(item.get("/OC")):
                self._picture(state, is_mask=bool(item.get("/ImageMask", False)) or self._is_seen_through(item, state))
        elif item.get("/Subtype") == "/Form" and depth < DEPTH:
            own = item.get("/Matrix")
            matrix = product(as_matrix(list(own)), state["matrix"]) if own is not None else state["matrix"]
            inner = paint.within(state, item, matrix)
            if "/Group" in item:
                inner |= {"graphics": {}, **{f"group {key}": state[key] for key in ("clear", "alpha", "masked")}}
            below = item.get("/Resources") or resources
            self.layers.append(self.budget.layers.hidden(item.get("/OC")))
            self.run(self.inflated([item]), below, inner, depth + 1)
            self.layers.pop()

    def _is_seen_through(self, picture: pikepdf.Stream, state: dict[str, Any]) -> bool:
        """Say whether a picture shows what lies below; one whose mask is not read counts so."""
        if "/SMask" not in picture and "/Mask" not in picture:
            return False
        lets_through = self.budget.masks.lets_through(picture)
        if lets_through is None and not self._layer():
            self.is_cut |= self.inked.near(common(state["clip"], placed(state["matrix"], 0, 0, 1, 1)))
        return lets_through is not False


def _is_broad(box: Box, least: float = BROAD_PT) -> bool:
    """Say whether a box is of an extent in both directions."""
    side = min(box[2] - box[0], box[3] - box[1])
    return side > 0 and side >= least
