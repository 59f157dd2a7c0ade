"""Whose quantisation tables are these?

The standard prints two example tables (T.81, annex K), and the Independent JPEG Group's library scales them by a
quality from 1 to 100; most software does the same. Adobe's programs and most cameras use tables of their own. Tables
that no quality reproduces are therefore not the library's; whose they are is known only where it was learnt.

``jpeg_makers.csv`` holds what was learnt: ``benchmarks/forensic_tables.py`` writes it from files that prove their
encoder otherwise, and its table says from how many. A maker's tables are no proof of its program: whoever knows the
tables can write them, and tables that are not in the list belong to nobody known.
"""

import csv
import hashlib
import struct
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

LUMINANCE = (
    16, 11, 10, 16, 24, 40, 51, 61, 12, 12, 14, 19, 26, 58, 60, 55, 14, 13, 16, 24, 40, 57, 69, 56, 14, 17, 22, 29,
    51, 87, 80, 62,
    18, 22, 37, 56, 68, 109, 103, 77, 24, 35, 55, 64, 81, 104, 113, 92, 49, 64, 78, 87, 103, 121, 120, 101, 72, 92,
    95, 98, 112, 100, 103, 99,
)  # fmt: skip
CHROMINANCE = (
    17, 18, 24, 47, 99, 99, 99, 99, 18, 21, 26, 66, 99, 99, 99, 99, 24, 26, 56, 99, 99, 99, 99, 99, 47, 66, 99, 99,
    99, 99, 99, 99,
) + (99,) * 32  # fmt: skip


HUFFMAN = {
    (0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0),
    (0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0),
    (0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 125),
    (0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 119),
}
"""How many codes of each length the standard's example Huffman tables have (T.81, K.3); cameras write these tables."""


def huffman_counts(body: bytes) -> list[tuple[int, ...]]:
    """Return how many codes of each length from 1 to 16 the tables of a DHT segment have."""
    counts, i = [], 0
    while i + 17 <= len(body):
        counts.append(tuple(body[i + 1 : i + 17]))
        i += 17 + sum(counts[-1])
    return counts


@lru_cache(maxsize=256)
def standard(quality: int, chroma: bool) -> tuple[int, ...]:
    """Return the standard's table scaled to a quality from 1 to 100, in natural order, as the IJG library does.

    >>> standard(50, False)[:3]
    (16, 11, 10)
    """
    scale = 5000 // quality if quality < 50 else 200 - 2 * quality
    return tuple(min(255, max(1, (v * scale + 50) // 100)) for v in (CHROMINANCE if chroma else LUMINANCE))


def quality_of(table: list[int], chroma: bool) -> int | None:
    """Return the quality whose standard table this is exactly, or ``None``."""
    return next((q for q in range(100, 0, -1) if standard(q, chroma) == tuple(table)), None)


def nearest(table: list[int]) -> int:
    """Return the quality whose luminance table is nearest in the sum of its steps."""
    total = sum(table)
    return min(range(1, 101), key=lambda q: abs(sum(standard(q, False)) - total))


@dataclass(frozen=True)
class Maker:
    """Who writes certain tables, as learnt from ``files`` files; ``whole`` where luminance and chroma both match."""

    name: str
    files: int
    whole: bool


def fingerprint(tables: dict[int, list[int]]) -> tuple[str, str]:
    """Return short hashes of a set of tables and of its luminance table, 16 hexadecimal digits each.

    A set is its different tables in the order of their numbers, since some writers store the chroma table twice.

    >>> fingerprint({0: [1] * 64, 1: [2] * 64}) == fingerprint({0: [1] * 64, 1: [2] * 64, 2: [2] * 64})
    True
    """
    different = dict.fromkeys(tuple(tables[number]) for number in sorted(tables))
    packed = [struct.pack(">64H", *table) for table in different]
    whole, luminance = (hashlib.sha256(raw).hexdigest()[:16] for raw in (b"".join(packed), packed[0]))
    return whole, luminance


def known(tables: dict[int, list[int]]) -> Maker | None:
    """Return whose tables these are, by the whole set or else by the luminance table, or ``None``."""
    whole, luminance = fingerprint(tables)
    sets, single = _learnt()
    if whole in sets:
        return Maker(*sets[whole], whole=True)
    return Maker(*single[luminance], whole=False) if luminance in single else None


@lru_cache(maxsize=1)
def _learnt() -> tuple[dict[str, tuple[str, int]], dict[str, tuple[str, int]]]:
    """Return maker and number of files by the hash of a set, and by that of a luminance table."""
    sets: dict[str, tuple[str, int]] = {}
    single: dict[str, tuple[str, int]] = {}
    with Path(__file__).with_name("jpeg_makers.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            files = int(row["files"])
            sets[row["tables"]] = (row["maker"], files)
            single[row["luminance"]] = (row["maker"], single.get(row["luminance"], ("", 0))[1] + files)
    return sets, single


def describe(tables: dict[int, list[int]]) -> dict[str, Any]:
    """Return ``maker`` (``standard`` or ``own``), ``quality`` where it is known and ``nearest`` otherwise.

    Tables of a known maker's own have ``by``, ``files`` and ``whole`` too, as :class:`Maker` has them.
    """
    luminance = tables.get(0) or next(iter(tables.values()))
    quality = quality_of(luminance, False)
    chroma = tables.get(1)
    matched = chroma is None or quality_of(chroma, True) is not None or quality_of(chroma, False) is not None
    if quality is not None and matched:
        return {"maker": "standard", "quality": quality, "tables": len(tables)}
    tables_of = {"maker": "own", "nearest": nearest(luminance), "tables": len(tables)}
    maker = known(tables)
    return tables_of if maker is None else {**tables_of, "by": maker.name, "files": maker.files, "whole": maker.whole}
