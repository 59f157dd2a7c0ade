"""Whose quantisation tables are these?

The standard prints two example tables (T.81, annex K),
and the Independent JPEG Group's library scales them by a quality
from 1 to 100; most software does the same. Adobe's programs and most cameras use tables of their own. Tables that no
quality reproduces are therefore not the library's; which maker they belong to is known only where it is learnt.
"""

from functools import lru_cache
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


def describe(tables: dict[int, list[int]]) -> dict[str, Any]:
    """Return ``maker`` (``standard`` or ``own``), ``quality`` where it is known and ``nearest`` otherwise."""
    luminance = tables.get(0) or next(iter(tables.values()))
    quality = quality_of(luminance, False)
    chroma = tables.get(1)
    matched = chroma is None or quality_of(chroma, True) is not None or quality_of(chroma, False) is not None
    if quality is not None and matched:
        return {"maker": "standard", "quality": quality, "tables": len(tables)}
    return {"maker": "own", "nearest": nearest(luminance), "tables": len(tables)}
