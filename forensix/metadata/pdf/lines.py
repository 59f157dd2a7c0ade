"""Amounts that stand in a line of their own font a little too large, too small, too high or too low.

Whoever types an amount over another in the document's font has to hit its size and its baseline. A difference that a
designer chose is large and occurs more than once; one that was missed is small and stands alone. So a number of three
digits or more is told whose size is off by up to 6 % where nearly all of the page in this font has one size, or whose
baseline is off by up to 0.6 pt against what stands close by. Spacing and stretching of letters are left alone: programs
that justify lines vary them from word to word.
"""

from collections import Counter
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

from forensix.metadata.pdf.marks import Drawing, Mark

LEAST_DIGITS, MOST_OTHERS, LONGEST = 3, 3, 30
"""Digits of an amount at least, letters beside them at most, and its characters."""
LEAST_OFF, MOST_OFF = 0.007, 0.06
MAIN_LETTERS, MAIN_SHARE = 60, 0.9
"""Letters of a page in one size of a font, and their share of all in this font, that make it the font's size."""
LEAST_SHIFT_PT, MOST_SHIFT_PT = 0.1, 0.6
SAME_LINE_PT = 2.0
MOST_ALIKE = 2
"""Amounts of a page that are off; more are how the page is made."""
AMOUNTS, MOST_IN_LINE = 200, 120
_HEIGHT_EM = 0.7


def uneven(drawing: Drawing) -> Iterator[dict[str, Any]]:
    """Yield ``words``, ``off`` (``size`` or ``baseline``), by how much, and the words ``beside`` of odd amounts."""
    fonts: dict[int, list[Mark]] = {}
    for mark in drawing.marks[: drawing.n_own]:
        if mark.font is not None and mark.font.number and mark.text.strip() and _is_level(mark):
            fonts.setdefault(mark.font.number, []).append(mark)
    for runs in fonts.values():
        amounts = list(islice((mark for mark in runs if _is_amount(mark.text)), AMOUNTS))
        main = _main_size(runs) if amounts else None
        lines = _lines(runs) if amounts else {}
        sized = [record for mark in amounts if main and (record := _size(mark, main, _near(mark, lines)))]
        shifted = [record for mark in amounts if (record := _shift(mark, _near(mark, lines)))]
        yield from sized if len(sized) <= MOST_ALIKE else ()
        yield from shifted if len(shifted) <= MOST_ALIKE else ()


def _is_level(mark: Mark) -> bool:
    return len({round(y, 2) for _, _, y in mark.letters}) == 1 and not (mark.font and mark.font.is_drawn)


def _is_amount(text: str) -> bool:
    digits = sum(c.isdigit() for c in text)
    return len(text) <= LONGEST and digits >= LEAST_DIGITS and sum(c.isalpha() for c in text) <= MOST_OTHERS


def _pt(mark: Mark) -> float:
    return (mark.box[3] - mark.box[1]) / _HEIGHT_EM


def _lines(runs: list[Mark]) -> dict[int, list[Mark]]:
    lines: dict[int, list[Mark]] = {}
    for run in runs:
        lines.setdefault(int(run.box[1] // SAME_LINE_PT), []).append(run)
    return lines


def _near(mark: Mark, lines: dict[int, list[Mark]]) -> list[Mark]:
    """Return what stands in the line of a mark; of an endless line its beginning."""
    at = int(mark.box[1] // SAME_LINE_PT)
    close = chain.from_iterable(lines.get(i, ()) for i in (at, at - 1, at + 1))
    return [run for run in islice(close, MOST_IN_LINE) if abs(run.box[1] - mark.box[1]) <= SAME_LINE_PT]


def _main_size(runs: list[Mark]) -> float | None:
    letters = Counter[float]()
    for run in runs:
        letters[round(_pt(run), 2)] += len(run.text)
    main, n = letters.most_common(1)[0]
    return main if main > 0 and n >= max(MAIN_LETTERS, MAIN_SHARE * letters.total()) else None


def _size(mark: Mark, main: float, runs: list[Mark]) -> dict[str, Any] | None:
    size = _pt(mark)
    if not LEAST_OFF < abs(size / main - 1) <= MOST_OFF:
        return None
    beside = [run for run in runs if abs(_pt(run) - main) < 0.01]
    return _record(mark, "size", f"{size:.2f} pt beside {main:.2f} pt", beside)


def _shift(mark: Mark, runs: list[Mark]) -> dict[str, Any] | None:
    size = _pt(mark)
    close = [
        run
        for run in runs
        if run is not mark
        and abs(_pt(run) - size) < 0.01
        and min(abs(run.box[2] - mark.box[0]), abs(mark.box[2] - run.box[0])) < size
        and sum(c.isalnum() for c in run.text) >= 2
    ]
    shifts = [abs(run.box[1] - mark.box[1]) for run in close]
    if not shifts or min(shifts) < LEAST_SHIFT_PT or max(shifts) > MOST_SHIFT_PT:
        return None
    return _record(mark, "baseline", f"off by {min(shifts):.2f} pt", close)


def _record(mark: Mark, off: str, by: str, beside: list[Mark]) -> dict[str, Any] | None:
    if not beside:
        return None
    words = " ".join(run.text.strip() for run in beside)
    box = [round(v, 1) for v in mark.box]
    return {"words": mark.text.strip(), "off": off, "by": by, "beside": words[:200], "box_pt": box}
