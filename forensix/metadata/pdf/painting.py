"""What a drawing of a PDF leaves to be seen of what lies below it, painted on a sheet of pixels.

Fills follow the rule of their path, strokes are as broad as they are stated, and layers of paint add up. Pictures,
patterns and soft masks count as opaque all over, and dashes as whole lines: a drawing hides at most what is told here.
Colours count where paint multiplies: light ones let words through, dark ones do not.

References
----------
ISO 32000-2:2020, 8.5.3 (painting and the nonzero winding rule), 11.3.5 (blend modes).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pikepdf

from forensix.metadata.pdf import paint
from forensix.metadata.pdf.geometry import BROAD_PT, UNIT, Box, Matrix, Point, as_matrix, moved, product
from forensix.metadata.pdf.paths import CONSTRUCTION, Part, Path, lines
from forensix.metadata.pdf.streams import inflated

PIXELS = 250_000
PIXELS_PER_PT = 2.0
LEAST_PIXELS = 500
"""What a path and each of its edges count as at least."""
SEEN = 0.15
"""Share of what lies below that is left where it counts as hidden."""

CONTENT_BYTES = 1 << 20
DEPTH = 8
FAR = 1e6
_KEEPING = (
    "/ColorDodge", "/Overlay", "/SoftLight", "/Difference", "/Exclusion", "/Hue", "/Saturation", "/Color",
)  # fmt: skip
_DARKENING = ("/Multiply", "/Darken", "/ColorBurn")
DARK = 0.35

Painted = npt.NDArray[np.bool_]


@dataclass
class Effort:
    """What may still be done for the drawings of a document: operators, bytes, pixels that are painted."""

    n_operators: int = 200_000
    n_bytes: int = 4 << 20
    n_pixels: int = 200_000_000


class Sheet:
    """A box of a page on which a drawing is painted; ``white_only`` leaves out what is painted in other colours."""

    def __init__(self, pdf: pikepdf.Pdf, effort: Effort, box: Box, *, white_only: bool = False) -> None:
        self.pdf, self.effort, self.box, self.white_only = pdf, effort, box, white_only
        width, height = max(box[2] - box[0], 1e-3), max(box[3] - box[1], 1e-3)
        self.scale = min(PIXELS_PER_PT, math.sqrt(PIXELS / (width * height)))
        self.shape = min(math.ceil(height * self.scale), PIXELS), min(math.ceil(width * self.scale), PIXELS)
        self.seen = np.ones(self.shape, np.float32)
        self.n_text_bytes = 0
        self.is_unread = False
        """Whether something of the drawing was left out."""

    def form(self, stream: pikepdf.Stream, matrix: Matrix, state: dict[str, Any], depth: int, resources: Any) -> None:
        """Paint a form that a matrix places, cut to its box; ``resources`` are those of what draws it."""
        if depth > DEPTH:
            self.is_unread = True
            return
        left, below, right, above = (float(v) for v in stream.BBox)
        corners = [(left, below), (right, below), (right, above), (left, above)]
        state = state | {"matrix": matrix}
        state["cut"] = state["cut"] & self._filled([[moved(matrix, *corner) for corner in corners]])
        if "/Group" in stream:
            blend = str(state["graphics"].get("/BM", ""))
            state["darkens"] = state["darkens"] or blend in _DARKENING
            state["outer"] *= 0.0 if blend in _KEEPING else paint.opacity(state["graphics"])
            state["graphics"] = {}
        content = inflated(stream, CONTENT_BYTES)
        self.is_unread |= len(content) >= CONTENT_BYTES or (not content and len(stream.read_raw_bytes()) > 0)
        self.run(content, stream.get("/Resources") or resources, state, depth)

    def start(self, unit: float = 1.0) -> dict[str, Any]:
        """Return the state in which a drawing begins whose coordinates are of ``unit`` points."""
        return paint.START | {
            "matrix": (unit, 0.0, 0.0, unit, 0.0, 0.0),
            "cut": np.ones(self.shape, bool),
            "outer": 1.0,
            "darkens": False,
        }

    def run(self, content: bytes, resources: Any, state: dict[str, Any], depth: int = 0) -> None:
        """Paint a content stream."""
        self.effort.n_bytes -= len(content)
        state, stack = dict(state), list[dict[str, Any]]()
        path, clip = Path(), ""
        for instruction in pikepdf.parse_content_stream(pikepdf.Stream(self.pdf, content)):
            self.effort.n_operators -= 1
            if min(self.effort.n_operators, self.effort.n_bytes, self.effort.n_pixels) < 0:
                self.is_unread = True
                return
            if not isinstance(instruction, pikepdf.ContentStreamInstruction):
                self._square(state)
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
            elif operator in paint.COLOURS and values:
                paint.take(state, operator, values, resources)
            elif operator == "w" and values:
                state["width"] = float(values[0])
            elif operator in CONSTRUCTION:
                path.take(operator, values, state["matrix"])
            elif operator in ("W", "W*"):
                clip = operator
            elif operator in ("f", "F", "f*", "b", "B", "b*", "B*", "n", "s", "S"):
                if operator[0] in "bs":
                    path.close()
                self._paint(path.parts, operator, state)
                if clip:
                    state["cut"] = state["cut"] & self._filled(path.parts, even_odd=clip == "W*")
                path, clip = Path(), ""
            elif operator == "sh":
                self._lay(state["cut"], state, "pattern", "/ca")
            elif operator == "Tr" and values:
                state["mode"] = int(values[0])
            elif operator in ("Tj", "TJ", "'", '"') and values and state["mode"] not in (3, 7):
                strings = values[-1] if isinstance(values[-1], pikepdf.Array) else [values[-1]]
                self.n_text_bytes += sum(len(bytes(part)) for part in strings if isinstance(part, pikepdf.String))
            elif operator == "Do" and values:
                self._object(paint.entry(resources, "/XObject", values[0]), resources, state, depth)

    def cover(self, parts: Iterable[Sequence[Point]], *, even_odd: bool) -> None:
        """Paint a path of the page, in points, so that nothing is seen below it."""
        self.seen[self._filled([list(part) for part in parts], even_odd=even_odd)] = 0.0

    def hidden(self) -> Painted:
        """Return where squares of `BROAD_PT` begin of which nothing is seen, bool; empty where the sheet is smaller."""
        side = self.side
        if min(self.shape) < side:
            return np.zeros((0, 0), bool)
        sums = np.pad((self.seen <= SEEN).cumsum(0, dtype=np.int32).cumsum(1, dtype=np.int32), ((1, 0), (1, 0)))
        squares = sums[side:, side:] - sums[:-side, side:] - sums[side:, :-side] + sums[:-side, :-side]
        return np.asarray(squares == side * side)

    @property
    def side(self) -> int:
        """How many pixels `BROAD_PT` are."""
        return max(2, round(BROAD_PT * self.scale))

    def reaches(self, hidden: Painted, box: Box) -> bool:
        """Say whether hidden space, as `hidden` returns it, lies over some of a box, or over a point."""
        x0, y0, x1, y1 = (
            round((v - self.box[i % 2]) * self.scale - 0.5) if math.isfinite(v) else int(math.copysign(FAR, v))
            for i, v in enumerate(box)
        )
        rows = slice(max(0, y0 - self.side + 1), max(0, y1 + 1))
        columns = slice(max(0, x0 - self.side + 1), max(0, x1 + 1))
        return bool(hidden[rows, columns].any())

    def _object(self, item: Any, resources: Any, state: dict[str, Any], depth: int) -> None:
        if not isinstance(item, pikepdf.Stream):
            return
        if item.get("/Subtype") == "/Image":
            self._square(state)
        elif item.get("/Subtype") == "/Form":
            own = as_matrix(list(item.get("/Matrix", pikepdf.Array(UNIT))))
            self.form(item, product(own, state["matrix"]), state, depth + 1, resources)

    def _square(self, state: dict[str, Any]) -> None:
        """Paint a picture: the unit square."""
        square = [moved(state["matrix"], *corner) for corner in ((0, 0), (1, 0), (1, 1), (0, 1))]
        self._lay(self._filled([square]), state, "pattern", "/ca")

    def _paint(self, parts: list[Part], operator: str, state: dict[str, Any]) -> None:
        if operator[0] in "fFbB":
            self._lay(self._filled(parts, even_odd=operator.endswith("*")), state, state["fill"], "/ca")
        if operator[0] in "bBsS":
            m = state["matrix"]
            broad = state["width"] * math.sqrt(abs(m[0] * m[3] - m[1] * m[2]))
            strokes = [line for part in parts for line in lines(part, broad, jut=broad / 2)]
            self._lay(self._filled(strokes), state, state["stroke"], "/CA")

    def _lay(self, where: Painted, state: dict[str, Any], colour: str, key: str) -> None:
        opacity = state["outer"] * _opacity(state["graphics"], colour, key, darkens=state["darkens"])
        if colour == "white" or not self.white_only:
            self.seen[where & state["cut"]] *= max(0.0, 1 - opacity)

    def _placed(self, part: Part) -> Part:
        """Return corners of a path in pixels."""
        (x0, y0), scale = self.box[:2], self.scale
        return [(min(max((x - x0) * scale, -FAR), FAR), min(max((y - y0) * scale, -FAR), FAR)) for x, y in part]

    def _filled(self, path: list[Part], *, even_odd: bool = False) -> Painted:
        """Return which pixels lie in a path, bool; parts are closed by a line."""
        parts = [self._placed(part) for part in path]
        height, width = self.shape
        inside = np.zeros(self.shape, bool)
        xs, ys = [x for part in parts for x, _ in part], [y for part in parts for _, y in part]
        left, right = (min(max(math.floor(x), 0), width) for x in (min(xs, default=0), max(xs, default=0) + 1))
        low, high = (min(max(math.floor(y), 0), height) for y in (min(ys, default=0), max(ys, default=0) + 1))
        turns = np.zeros((high - low, right - left + 1), np.int32)
        self.effort.n_pixels -= turns.size + self.seen.size // 32 + LEAST_PIXELS * (1 + len(xs))
        for (xa, ya), (xb, yb) in (edge for part in parts for edge in pairwise([*part, part[0]])):
            # Rows whose middle the edge crosses; from there to the right it changes how often the path turns.
            first, last = (min(max(math.ceil(y - 0.5), low), high) for y in sorted((ya, yb)))
            if first < last and self.effort.n_pixels > 0:
                rows = np.arange(first, last)
                at = xa + (rows + 0.5 - ya) * (xb - xa) / (yb - ya)
                columns = np.clip(np.ceil(at - 0.5), left, right).astype(np.int64) - left
                turns[rows - low, columns] += 1 if even_odd or yb > ya else -1
        turns = turns[:, :-1].cumsum(1)
        inside[low:high, left:right] = turns % 2 == 1 if even_odd else turns != 0
        return inside


def stated(kind: str, item: pikepdf.Dictionary) -> bytes:
    """Return a drawing of a comment that has none, in the coordinates of its page, by what it states of itself."""
    x0, y0, x1, y1 = (float(v) for v in item.Rect)
    if float(item.get("/CA", 1)) < 1 - SEEN:
        return b""
    border, style = item.get("/Border"), item.get("/BS")
    width = float(border[2]) if isinstance(border, pikepdf.Array) and len(border) > 2 else 1.0
    width = float(style.get("/W", width)) if isinstance(style, pikepdf.Dictionary) else width
    ground = item.get("/C" if kind == "/FreeText" else "/IC")
    is_filled = kind in ("/FreeText", "/Square", "/Circle", "/Polygon") and bool(len(ground or ()))
    lines: list[list[float]] = []
    if kind in ("/FreeText", "/Square"):
        lines = [[x0, y0, x1, y0, x1, y1, x0, y1, x0, y0]]
    elif kind == "/Circle":
        turns = [2 * math.pi * i / 48 for i in range(49)]
        lines = [[v for t in turns for v in _on_ellipse(t, (x0, y0, x1, y1))]]
    elif kind in ("/Polygon", "/PolyLine", "/Line"):
        lines = [[float(v) for v in item.get("/L" if kind == "/Line" else "/Vertices", ())]]
    elif kind == "/Ink":
        lines = [[float(v) for v in line] for line in item.get("/InkList", ())]
    content = [f"{_colour(ground)} {width:g} w"]
    for line in lines:
        corners = zip(line[::2], line[1::2], strict=False)
        content += [f"{x:.3f} {y:.3f} {'l' if i else 'm'}" for i, (x, y) in enumerate(corners)]
    content.append({True: "B", False: "S"}[is_filled] if kind != "/Polygon" else "b" if is_filled else "s")
    return "\n".join(content).encode()


def _on_ellipse(turn: float, box: Box) -> Point:
    x0, y0, x1, y1 = box
    return (x0 + x1 + (x1 - x0) * math.cos(turn)) / 2, (y0 + y1 + (y1 - y0) * math.sin(turn)) / 2


def _colour(values: Any) -> str:
    numbers = [f"{float(v):g}" for v in values or ()]
    operator = {1: "g", 3: "rg", 4: "k"}.get(len(numbers), "")
    return " ".join([*numbers, operator]) if operator else ""


def _opacity(graphics: dict[str, Any], colour: str, key: str, *, darkens: bool) -> float:
    """Return how much paint hides of what lies below, from 0 to 1; of blend modes the first counts that is stated."""
    blend = graphics.get("/BM", "/Normal")
    blend = str(blend[0] if isinstance(blend, pikepdf.Array) and len(blend) else blend)
    if blend in _KEEPING or ((darkens or blend in _DARKENING) and not _is_dark(colour)):
        return 0.0
    return float(graphics.get(key, 1))


def _is_dark(colour: str) -> bool:
    """Say whether words are lost under a colour that multiplies; of inks and patterns it is not known."""
    numbers = [] if colour in ("white", "pattern") else [float(v) for v in colour.split()]
    return len(numbers) in (1, 3) and max(numbers) < DARK
