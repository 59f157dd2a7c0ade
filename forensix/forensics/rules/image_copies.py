"""Areas of a picture that occur twice: what is told of them, and when they are called copied.

Measured by :mod:`forensix.forensics.traces.copy_move`. Screens, drawings and print saved as JPEG repeat signs exactly,
and signs that lie a whole number of blocks apart are compressed alike down to the noise around them: where most of a
picture is even and its areas lie so, or straight beside each other as the parts of a figure do, no copy is claimed. Nor
is one where they lie a whole fraction of the picture's sides apart, as tiles do, or where they are black and white
alone, as the date is that a camera prints on a bar, and as the corners of a QR code are. Nor where they lie straight
above or beside each other in the picture of a thermal camera, which draws a scale and readings on it.
"""

from collections.abc import Iterator
from typing import Any

from forensix.forensics.findings import Finding, finding
from forensix.metadata.facts import Fact

COPIED_PX, COPIED_LARGE_PX = 300, 2500
COPIED_CORRELATION, COPIED_LARGE_CORRELATION = 0.975, 0.935
COPIED_ASIDE = 0.85
COPIED_OVERLAP = 0.25
MIN_GRAIN_CORRELATION, MIN_GRAIN_LEAD = 0.25, 2.0
IDENTICAL_CORRELATION = 0.955
EVEN_SHARE = 0.5
"""Share of blocks without structure from which a picture can be a screen, a drawing or print."""

STARK_SHARE = 0.75
"""Share of black and white in areas that can be print on a bar. Of bars by cameras it is 0.82 and more; of 36 squares
that were copied by whole blocks within photographs, and are found, at most 0.50."""

BLOCK_PX = 8
MAX_TILES = 8
"""Tiles along a side up to which a displacement is taken for theirs: with more, chance ones are as well."""

COPIES_CAPTION = (
    "Red: the one place, blue: the other. Look whether both hold the same grain and the same flaws: things made alike, "
    "windows or goods on a shelf, repeat without anybody having copied them. Copies that were turned, scaled or "
    "blurred are not found."
)


def is_repeated(measured: dict[str, Any]) -> bool:
    """Tell whether an area is said to occur twice: it is large or very alike, and no regular pattern."""
    area, alike = measured["area_px"], measured["alike"]
    enough = (area >= COPIED_PX and alike >= COPIED_CORRELATION) or (
        area >= COPIED_LARGE_PX and alike >= COPIED_LARGE_CORRELATION
    )
    return bool(enough and measured["aside"] <= COPIED_ASIDE and measured["overlap"] <= COPIED_OVERLAP)


def is_copied(measured: dict[str, Any]) -> bool:
    """Tell whether an area that occurs twice is claimed to be a copy: its grain occurs twice as well."""
    return is_repeated(measured) and _is_same(measured) and not (_is_drawn(measured) or _is_tiled(measured))


def _is_same(measured: dict[str, Any]) -> bool:
    grain = measured["grain"]
    shared = grain >= MIN_GRAIN_CORRELATION and grain >= MIN_GRAIN_LEAD * measured["grain_aside"]
    # Masonry and other things built alike come near; a copy is the same but for one compression.
    return bool(shared and measured["alike"] >= IDENTICAL_CORRELATION)


def _is_drawn(measured: dict[str, Any]) -> bool:
    """Tell whether areas can be signs that were drawn alike: on an even picture or a bar, and whole blocks apart, or
    straight beside each other on an even picture, as the parts of a figure are, or black and white and as far apart
    as the corners of a square."""
    on_grid = all(v % BLOCK_PX == 0 for v in measured["shift"])
    is_even, is_stark = measured["even"] >= EVEN_SHARE, _is_stark(measured)
    across, down = map(abs, measured["shift"])
    is_straight = 0 in (across, down)
    return bool(
        (is_straight and measured.get("thermal"))
        or (on_grid and (is_even or is_stark))
        or (is_even and is_straight)
        or (is_stark and (is_straight or across == down))
    )


def _is_tiled(measured: dict[str, Any]) -> bool:
    """Tell whether areas lie a whole fraction of the picture's width and height apart, which a turn may exchange."""
    shift = [abs(v) for v in measured["shift"]]
    return any(
        all(v == 0 or (side % v == 0 and 1 < side // v <= MAX_TILES) for v, side in zip(shift, sides, strict=True))
        for sides in (measured["size"], measured["size"][::-1])
    )


def _is_stark(measured: dict[str, Any]) -> bool:
    return bool(measured["stark"] >= STARK_SHARE)


def _why_drawn(measured: dict[str, Any]) -> str:
    """Return why areas of the same grain are not called a copy, to go on with after "but"."""
    if not _is_drawn(measured):
        return "they lie a whole fraction of the picture's sides apart, as the tiles of a pattern do"
    if measured.get("thermal") and 0 in measured["shift"]:
        return "they lie straight above or beside each other, as the numbers that a thermal camera draws at its scale"
    if any(v % BLOCK_PX for v in measured["shift"]):
        if _is_stark(measured):
            return "they are black and white alone and lie as the corners of a square do: those of a QR code are alike"
        return (
            "most of the picture is even, as screens, drawings and print are, and they lie straight beside or above "
            "each other, as the parts of a figure do"
        )
    what = (
        "they are black and white alone, as a date is that a camera prints on a bar"
        if _is_stark(measured)
        else "most of the picture is even, as screens, drawings and print are"
    )
    return (
        f"{what}, and they lie a whole number of JPEG blocks apart: signs that were drawn alike are then compressed "
        "alike"
    )


def claims(traces: dict[str, Any], *, is_thermal: bool = False) -> Iterator[Finding]:
    """Yield the claim on an area that occurs twice: suspect where it was copied, else benign."""
    measured = traces.get("copy_move")
    if not measured or not is_repeated(measured):
        return
    if is_thermal:
        measured = measured | {"thermal": True}
    dx, dy = measured["shift"]
    area_px = measured["area_px"] * measured["scale"] ** 2
    copied = is_copied(measured)
    words = (
        f"The grain between the edges comes again too (correlation {measured['grain']:.2f}), which things that are "
        "made alike seldom share. Copying within the picture leaves this; so do a pattern that a program drew, and "
        "goods with a grain of their own from one mould or print."
        if copied
        else f"The noise around them is the same too (correlation {measured['grain']:.2f}), but {_why_drawn(measured)}."
        if _is_same(measured)
        else f"Between the edges they differ (correlation of the grain {measured['grain']:.2f}), as words, windows or "
        "goods that are made alike do; a copy within the picture would take the grain along."
    )
    yield finding(
        "suspect" if copied else "benign",
        "An area of the picture occurs twice" if copied else "Two areas of the picture look alike",
        f"An area with {area_px} structured pixels comes again {abs(dx)} pixels to the "
        f"{'right' if dx >= 0 else 'left'} and {abs(dy)} pixels {'down' if dy >= 0 else 'up'} (correlation "
        f"{measured['alike']:.3f}; three pixels beside, at most {measured['aside']:.2f}). {words}",
        "pixels",
        "editing" if copied else "integrity",
        facts=[Fact("pixels.copies", {k: v for k, v in measured.items() if k != "map"}, "decoded picture")],
        values=[f"{area_px} pixels", f"displacement {dx}, {dy}"],
        pictures=[("Areas that occur twice" if copied else "Areas that look alike", measured["map"], COPIES_CAPTION)],
        flags=["FILE_EDITED"] if copied else [],
    )
