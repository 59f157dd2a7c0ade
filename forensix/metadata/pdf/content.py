"""What the drawing of a PDF's first pages shows: text drawn over, white boxes with other text on them, scanned pages.

Somebody who changes a printed amount without the means to change the text puts a white box over it and writes on top;
the old text stays underneath. Rectangles are compared with where text begins, so widths of letters are estimates;
rotated text and boxes drawn as free paths are not seen.
"""

import zlib
from dataclasses import dataclass, field
from typing import Any

import pikepdf

from forensix.metadata.facts import Fact, Problem

PAGES = 12
CONTENT_BYTES = 1 << 20
TOTAL_BYTES = 3 << 20
OPERATORS = 60_000
MARKS = 3000

Matrix = tuple[float, float, float, float, float, float]
UNIT: Matrix = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


FAULTS = (
    pikepdf.PdfError, pikepdf.DataDecodingError,
    ValueError, TypeError, RuntimeError, KeyError, AttributeError, OverflowError, IndexError,
    ArithmeticError,
)  # fmt: skip


@dataclass
class _Page:
    """Marks in the order of drawing: ``(kind, x0, y0, x1, y1, text or colour)`` in points."""

    marks: list[tuple[str, float, float, float, float, str]] = field(default_factory=list)
    n_text: int = 0
    n_hidden_text: int = 0
    image_share: float = 0.0


def facts(pdf: pikepdf.Pdf) -> tuple[list[Fact], list[Problem]]:
    """Return ``pdf.covered_text`` (one dict per box) and ``pdf.scan`` for the first pages."""
    items: list[Fact] = []
    problems: list[Problem] = []
    scanned = with_text = total = 0
    for number, page in enumerate(list(pdf.pages)[:PAGES] if len(pdf.pages) < 100_000 else (), 1):
        try:
            box = [float(v) for v in page.mediabox]
            content = _content(page.obj)
            total += len(content)
            if total > TOTAL_BYTES:
                break
            drawing = _draw(pdf, page.obj, content, (box[2] - box[0]) * (box[3] - box[1]))
        except (*FAULTS, zlib.error) as error:
            reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
            problems.append(Problem(f"the content of page {number} cannot be read: {reason}", f"page {number}"))
            continue
        visible = drawing.n_text - drawing.n_hidden_text
        scanned += drawing.image_share > 0.85 and visible == 0
        with_text += visible > 0
        items += [
            Fact("pdf.covered_text", {"page": number, **c}, f"content of page {number}") for c in _covered(drawing)
        ]
    if scanned:
        items.append(Fact("pdf.scan", scanned, "pages that one picture fills and that show no text of their own"))
    items.append(Fact("pdf.text_pages", with_text, "content of the first pages"))
    return items, problems


def _draw(pdf: pikepdf.Pdf, page: Any, content: bytes, area: float) -> _Page:
    drawing = _Page()
    instructions = pikepdf.parse_content_stream(pikepdf.Stream(pdf, content))
    state: dict[str, Any] = {"matrix": UNIT, "fill": "0", "size": 12.0, "mode": 0}
    stack: list[dict[str, Any]] = []
    text_matrix, line, leading = UNIT, UNIT, 0.0
    path: list[tuple[float, float, float, float]] = []
    for instruction in instructions[:OPERATORS]:
        if not isinstance(instruction, pikepdf.ContentStreamInstruction):
            continue
        operator, values = str(instruction.operator), list(instruction.operands)
        if operator == "q" and len(stack) < 200:
            stack.append(dict(state))
        elif operator == "Q" and stack:
            state = stack.pop()
        elif operator == "cm" and len(values) == 6:
            state["matrix"] = _product(_numbers(values), state["matrix"])
        elif operator in ("g", "rg", "k", "sc", "scn") and values:
            state["fill"] = _colour(operator, values)
        elif operator == "cs":
            state["fill"] = "0"
        elif operator == "re" and len(values) == 4:
            x, y, w, h = (float(v) for v in values)
            path.append(_box(state["matrix"], x, y, x + w, y + h))
        elif operator in ("f", "F", "f*", "b", "B", "b*", "B*"):
            for box in path[:50]:
                drawing.marks.append(("box", *box, state["fill"]))
            path = []
        elif operator in ("n", "s", "S"):
            path = []
        elif operator == "BT":
            text_matrix = line = UNIT
        elif operator == "Tf" and len(values) == 2:
            state["size"] = float(values[1])
        elif operator == "Tr" and values:
            state["mode"] = int(values[0])
        elif operator == "TL" and values:
            leading = float(values[0])
        elif operator in ("Td", "TD") and len(values) == 2:
            leading = -float(values[1]) if operator == "TD" else leading
            line = text_matrix = _product((1, 0, 0, 1, float(values[0]), float(values[1])), line)
        elif operator == "Tm" and len(values) == 6:
            line = text_matrix = _numbers(values)
        elif operator == "T*":
            line = text_matrix = _product((1, 0, 0, 1, 0, -leading), line)
        elif operator in ("Tj", "TJ", "'", '"') and values:
            if operator in ("'", '"'):
                line = text_matrix = _product((1, 0, 0, 1, 0, -leading), line)
            text, n = _string(values[-1])
            width = 0.5 * n * state["size"]
            drawing.n_text += n > 0
            drawing.n_hidden_text += n > 0 and state["mode"] == 3
            if n and state["mode"] != 3:
                where = _product(text_matrix, state["matrix"])
                drawing.marks.append(("text", *_box(where, 0, 0, width, 0.7 * state["size"]), text))
            text_matrix = _product((1, 0, 0, 1, width, 0), text_matrix)
        elif operator == "Do" and values and area > 0:
            item = page.get("/Resources", {}).get("/XObject", {}).get(values[0])
            if item is not None and item.get("/Subtype") == "/Image":
                x0, y0, x1, y1 = _box(state["matrix"], 0, 0, 1, 1)
                drawing.image_share = max(drawing.image_share, (x1 - x0) * (y1 - y0) / area)
        if len(drawing.marks) > MARKS:
            break
    return drawing


def _covered(drawing: _Page) -> list[dict[str, Any]]:
    """Find filled boxes that cover text drawn before them, with the text drawn on them afterwards."""
    covered = []
    texts = [(i, m) for i, m in enumerate(drawing.marks) if m[0] == "text"]
    for i, (kind, x0, y0, x1, y1, colour) in enumerate(drawing.marks):
        if kind != "box" or not (4 <= y1 - y0 <= 150 and x1 - x0 >= 4):
            continue
        inside = [
            (j, m) for j, m in texts if x0 - 1 <= m[1] <= x1 and y0 - 1 <= (m[2] + m[4]) / 2 <= y1 + 1 and m[1] + 1 < x1
        ]
        under, over = [m[5] for j, m in inside if j < i], [m[5] for j, m in inside if j > i]
        if not "".join(under).strip():
            continue
        covered.append(
            {
                "box_pt": [round(v, 1) for v in (x0, y0, x1, y1)],
                "white": colour == "white",
                "under": " ".join(under)[:200],
                "over": " ".join(over)[:200],
            }
        )
        if len(covered) >= 20:
            break
    return covered


def _content(page: Any) -> bytes:
    """Return a page's content, inflated within bounds."""
    contents = page.get("/Contents")
    streams = list(contents)[:200] if isinstance(contents, pikepdf.Array) else [contents]
    out = b""
    for stream in streams:
        if not isinstance(stream, pikepdf.Stream):
            continue
        filters = stream.get("/Filter")
        names = [str(f) for f in filters] if isinstance(filters, pikepdf.Array) else [str(filters)] if filters else []
        raw = stream.read_raw_bytes()
        if names == ["/FlateDecode"] and "/DecodeParms" not in stream:
            raw = zlib.decompressobj().decompress(raw, CONTENT_BYTES)
        elif names:
            if len(raw) > 1 << 16:
                continue
            raw = stream.read_bytes()
        out += raw[: max(0, CONTENT_BYTES - len(out))] + b"\n"
    return out


def _string(value: Any) -> tuple[str, int]:
    """Return the text of a string or of an array of strings, as far as its bytes are letters, and its length."""
    parts = (
        [bytes(p) for p in value if isinstance(p, pikepdf.String)]
        if isinstance(value, pikepdf.Array)
        else [bytes(value)]
    )
    raw = b"".join(parts)
    return raw.decode("latin-1"), len(raw)


def _colour(operator: str, values: list[Any]) -> str:
    try:
        numbers = [float(v) for v in values]
    except (TypeError, ValueError):
        return "pattern"
    light = all(v >= 0.98 for v in numbers)
    if operator == "k" or (operator in ("sc", "scn") and len(numbers) == 4):
        light = all(v <= 0.02 for v in numbers)
    return "white" if light else " ".join(f"{v:g}" for v in numbers)


def _numbers(values: list[Any]) -> Matrix:
    a, b, c, d, e, f = (float(v) for v in values)
    return a, b, c, d, e, f


def _product(m: Matrix, n: Matrix) -> Matrix:
    return (
        m[0] * n[0] + m[1] * n[2],
        m[0] * n[1] + m[1] * n[3],
        m[2] * n[0] + m[3] * n[2],
        m[2] * n[1] + m[3] * n[3],
        m[4] * n[0] + m[5] * n[2] + n[4],
        m[4] * n[1] + m[5] * n[3] + n[5],
    )


def _box(m: Matrix, x0: float, y0: float, x1: float, y1: float) -> tuple[float, float, float, float]:
    xs = [m[0] * x + m[2] * y + m[4] for x in (x0, x1) for y in (y0, y1)]
    ys = [m[1] * x + m[3] * y + m[5] for x in (x0, x1) for y in (y0, y1)]
    return min(xs), min(ys), max(xs), max(ys)
