"""Fonts of a PDF as far as they are needed to say which letters a string shows and how far each moves the next.

A font without widths of its own has those of the standard font that its name says (``standard_widths.csv``: thousandths
of an em by code of WinAnsiEncoding); what has none there counts as half an em. Without a table of characters a byte
counts as Latin-1, and of a composite font the predefined CMap says which letters there are (`cmaps`).

References
----------
ISO 32000-2:2020, 9.6 (simple fonts; 9.6.2.2: the standard 14), 9.7 (composite fonts; 9.7.4.3: vertical writing), 9.10
(extraction of text).
Widths: Adobe, "Font metrics for PDF Core 14 fonts".
"""

import csv
import re
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pikepdf

from forensix.metadata.pdf import cmaps
from forensix.metadata.pdf.cmaps import CMap

CODES = 5000
TABLE_BYTES = 1 << 17

FAMILIES = {"helvetica": "Helvetica", "arial": "Helvetica", "times": "Times", "courier": "Courier"}
COURIER_EM = 0.6

_SECTION = re.compile(rb"beginbf(char|range)(.*?)endbf(?:char|range)", re.DOTALL)
_HEX = re.compile(rb"<([0-9A-Fa-f\s]*)>")
_RANGE = re.compile(rb"<([0-9A-Fa-f]+)>\s*<([0-9A-Fa-f]+)>\s*(<[0-9A-Fa-f]+>|\[[^\]]*\])")


@dataclass(frozen=True)
class Font:
    """Widths in em and characters by code; codes are one byte or two.

    ``number`` is the font's object (0 where it has none); a font that ``is_drawn`` has glyphs of content, with their
    own colours. Where letters run down the page ``down_em`` says how far each moves the next, from 0 to minus 1 or so.
    """

    n_bytes: int = 1
    default_em: float = 0.5
    widths_em: dict[int, float] = field(default_factory=dict)
    characters: dict[int, str] = field(default_factory=dict)
    name: str = ""
    number: int = 0
    is_embedded: bool = False
    is_drawn: bool = False
    cmap: CMap | None = None
    down_em: float = 0.0

    def letters(self, raw: bytes) -> list[tuple[str, float, bool]]:
        """Return character, width in em and whether it is a space of one byte, of each code of a string."""
        if self.cmap is not None:
            found, at, rows = self.cmap.letters(raw), 0, list[tuple[str, float, bool]]()
            for letter, number, size in found:
                code, at = int.from_bytes(raw[at : at + size]), at + size
                width = self.widths_em.get(number, self.default_em)
                rows.append((self.characters.get(code, letter), width, size == 1 and code == 32))
            return rows
        codes = raw if self.n_bytes == 1 else [int.from_bytes(raw[i : i + 2]) for i in range(0, len(raw) - 1, 2)]
        plain = self.n_bytes == 1
        return [
            (
                self.characters.get(code, chr(code) if plain else "\ufffd"),
                self.widths_em.get(code, self.default_em),
                plain and code == 32,
            )
            for code in codes
        ]


def read(font: pikepdf.Dictionary) -> Font:
    """Return a font of a page's resources."""
    composite = font.get("/Subtype") == "/Type0"
    default, widths = _composite_widths(font) if composite else _simple_widths(font)
    return Font(
        2 if composite else 1,
        default,
        widths,
        _characters(font.get("/ToUnicode")),
        str(font.get("/BaseFont", "")).lstrip("/"),
        font.objgen[0],
        _is_embedded(font),
        font.get("/Subtype") == "/Type3",
        cmaps.named(str(font.get("/Encoding", "")).lstrip("/")) if composite else None,
        _down_em(font) if composite else 0.0,
    )


def _down_em(font: Any) -> float:
    """Return how far a letter of vertical writing moves the next one, in em; 0 where a font is written across."""
    table = font.get("/Encoding")
    down = int(table.get("/WMode", 0)) == 1 if isinstance(table, pikepdf.Stream) else str(table).endswith("V")
    below = font.get("/DescendantFonts")
    stated = below[0].get("/DW2") if isinstance(below, pikepdf.Array) and len(below) else None
    return (float(stated[1]) / 1000 if isinstance(stated, pikepdf.Array) else -1.0) if down else 0.0


def _is_embedded(font: Any) -> bool:
    below = font.get("/DescendantFonts")
    inner: Any = below[0] if isinstance(below, pikepdf.Array) and len(below) else font
    described = inner.get("/FontDescriptor")
    files = ("/FontFile", "/FontFile2", "/FontFile3")
    return isinstance(described, pikepdf.Dictionary) and any(key in described for key in files)


def _simple_widths(font: Any) -> tuple[float, dict[int, float]]:
    first, widths = font.get("/FirstChar", 0), font.get("/Widths")
    unit = 0.001
    if font.get("/Subtype") == "/Type3" and isinstance(font.get("/FontMatrix"), pikepdf.Array):
        unit = abs(float(font.FontMatrix[0]))
    if not isinstance(widths, pikepdf.Array):
        return standard_widths(str(font.get("/BaseFont", "")).lstrip("/"))
    return 0.5, {int(first) + i: float(width) * unit for i, width in enumerate(list(widths)[:256])}


def standard_widths(name: str) -> tuple[float, dict[int, float]]:
    """Return the width of other codes, and the widths by code, in em, of the standard font that a name means.

    >>> standard_widths("Helvetica")[1][ord("i")], standard_widths("TimesNewRomanPS-BoldMT")[1][ord("M")]
    (0.222, 0.944)
    >>> standard_widths("Garamond")
    (0.5, {})
    """
    plain = re.sub(r"^[A-Z]{6}\+", "", name).lower()
    family = next((known for begins, known in FAMILIES.items() if plain.startswith(begins)), "")
    if family == "Courier":
        return COURIER_EM, {}
    bold = "Bold" if "bold" in plain else ""
    # Slanted letters of Helvetica are as broad as upright ones.
    italic = "Italic" if family == "Times" and re.search("italic|oblique", plain) else ""
    style = bold + italic or ("Roman" if family == "Times" else "")
    return 0.5, _STANDARD.get(f"{family}-{style}".rstrip("-"), {})


def _standard() -> dict[str, dict[int, float]]:
    with Path(__file__).with_name("standard_widths.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    names = [name for name in rows[0] if name != "code"]
    return {name: {int(row["code"]): int(row[name]) / 1000 for row in rows} for name in names}


_STANDARD = _standard()


def _composite_widths(font: Any) -> tuple[float, dict[int, float]]:
    below = font.get("/DescendantFonts")
    inner: Any = below[0] if isinstance(below, pikepdf.Array) and len(below) else {}
    stated = inner.get("/W")
    rows = [stated[i] for i in range(min(len(stated), CODES))] if isinstance(stated, pikepdf.Array) else []
    widths: dict[int, float] = {}
    i = 0
    while i + 1 < len(rows) and len(widths) < CODES:
        first, second = int(rows[i]), rows[i + 1]
        if isinstance(second, pikepdf.Array):
            widths.update((first + k, float(second[k]) / 1000) for k in range(min(len(second), CODES)))
            i += 2
        else:
            if i + 2 >= len(rows):
                break
            widths.update(dict.fromkeys(range(first, min(int(second), first + CODES) + 1), float(rows[i + 2]) / 1000))
            i += 3
    return float(inner.get("/DW", 1000)) / 1000, widths


def _characters(table: Any) -> dict[int, str]:
    """Return the characters that a /ToUnicode table names."""
    if not isinstance(table, pikepdf.Stream) or "/DecodeParms" in table:
        return {}
    raw = table.read_raw_bytes()
    if table.get("/Filter") is not None:
        if str(table.get("/Filter")) != "/FlateDecode":
            return {}
        raw = zlib.decompressobj().decompress(raw, TABLE_BYTES)
    characters: dict[int, str] = {}
    for kind, body in _SECTION.findall(raw[:TABLE_BYTES]):
        if kind == b"char":
            codes = _HEX.findall(body)
            characters.update((int(code, 16), _text(text)) for code, text in zip(codes[::2], codes[1::2], strict=False))
            continue
        for first, last, to in _RANGE.findall(body):
            low, high = int(first, 16), int(last, 16)
            names = [_text(text) for text in _HEX.findall(to)]
            for k in range(min(high - low + 1, CODES - len(characters))):
                if to.startswith(b"["):
                    characters[low + k] = names[k] if k < len(names) else ""
                elif names and names[0]:
                    characters[low + k] = names[0][:-1] + chr(min(ord(names[0][-1]) + k, 0x10FFFF))
    return characters


def _text(digits: bytes) -> str:
    return bytes.fromhex(b"".join(digits.split()).decode()).decode("utf-16-be", "replace")
