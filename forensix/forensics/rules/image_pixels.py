"""Claims on decoded pixels: previews that show something else, maps for the report, and what was not measured.

The measuring is done by :mod:`forensix.forensics.traces.pixels` in the child process. Error-level and copy-move maps
are pictures to look at; a claim is made of them only where its false-alarm rate on camera originals was measured.
"""

import tempfile
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from forensix.errors import BrokenMedia
from forensix.forensics.findings import Finding, finding
from forensix.forensics.rules import image_copies, image_parts, image_writer
from forensix.forensics.traces.preview_difference import EXIF_TURNS
from forensix.metadata.facts import Fact, Facts

if TYPE_CHECKING:
    from forensix.media import Media

MEASURE_S = 20.0
SPARE_BYTES = 1 << 20
SAME_PICTURE_CORRELATION = 0.75
OTHER_PICTURE_CORRELATION = 0.55
TURNED_CORRELATION = 0.8
PART_CHANGED = 20.0
"""Grey values by which a 64th of the picture is off its preview. Of the 250 previews in metadata-extractor-images and
exif-samples that show their picture as it lies only that of a damaged file reaches it; all but four of the others stay
below 12, those below 15. Of even patches in the mean colour of what they cover, a fifth of width and height, 45 % do,
of three tenths 81 %."""

MIN_SIDE_RATIO = 1.1
NOISE_EXCESS, NOISE_SHARE = 1.3, 0.3
PAIR_CAPTION = (
    "Left the picture, then its {name}, both turned as the orientation tag says; right the preview in grey, red where "
    "the picture differs. Thin red lines along edges are usual, because a preview is shrunk and compressed on its own; "
    "red areas are not."
)
NOISE_CAPTION = (
    "Red: more noise than the coarser detail and the brightness explain, blue: less, grey: not measured. Even areas of "
    "one kind should have one colour. Fine regular texture and print are red and what is out of focus is blue in "
    "untouched pictures too. No evidence by itself."
)
ELA_CAPTION = (
    "How much each place changes when the picture is saved once more, amplified. Compare like with like: an even area "
    "that is much brighter than other even areas may have another history. Edges, texture and strong colours are "
    "always bright, and a picture that was saved again as a whole shows nothing. No evidence by itself."
)
FLAT = 4.0
"""Previews with a smaller spread of grey values are too even to compare."""

ORIENTATIONS = {"turned left": (8,), "turned right": (6,), "upside down": (3,)}
"""Orientation tags that turn the stored picture the same way when it is shown."""


def measure(facts: Facts, media: "Media", *, draw: bool = True) -> dict[str, Any]:
    """Return the measurements on a picture; empty where the reader could not decode it.

    Where some or all could not be made, ``unmeasured`` says why. Maps and other pictures to look at are empty unless
    they are to ``draw``.
    """
    from forensix.media.sandbox import call

    if facts.get("image.size") is None:
        # The reader could not decode it; a process that finds the same costs a second.
        return {}
    why = ""
    # The coefficient reader is the one that hostile bytes bring down; the rest is then tried without it.
    for reads_coefficients in (facts.format == "jpeg", False):
        with tempfile.TemporaryDirectory(prefix="forensix-") as folder:
            try:
                values = call(
                    "forensix.forensics.traces.pixels:measure",
                    str(media.path),
                    facts.format,
                    facts.pictures,
                    folder if reads_coefficients else "",
                    draw,
                    timeout_s=MEASURE_S,
                    modules=("jpeglib",) if reads_coefficients else (),
                    file_bytes=media.size_bytes + SPARE_BYTES if reads_coefficients else 0,
                )
                return ({"unmeasured": why} if why else {}) | dict(values)
            except BrokenMedia as error:
                why = str(error)
    return {"unmeasured": why}


def unmeasured(traces: dict[str, Any]) -> Iterator[Finding]:
    """Yield the claim that traces in the pixels were not looked for, or not for all of them, where that is so."""
    why = traces.get("unmeasured")
    if not why:
        return
    some = set(traces) > {"unmeasured"}
    what = "Some traces of editing in the pixels" if some else "Traces of editing in the pixels"
    yield finding(
        "benign",
        f"{what} were not looked for",
        f"The reason: {why}. Parts that were pasted, copied or painted can be there without being told. "
        "Very large or intricate pictures and slow machines are the usual reasons.",
        "pixels",
        "integrity",
        facts=[Fact("pixels.unmeasured", why, "decoded picture")],
        remark=f"{what[0].lower()}{what[1:]} were not looked for",
    )


def thumbnails(facts: Facts, traces: dict[str, Any]) -> Iterator[Finding]:
    """Yield the claims on embedded previews: what shows the picture, and what shows another."""
    alike, other = [], []
    places = {f.value["name"]: f for f in facts.items if f.key == "embedded.picture"}
    orientation = facts.get("exif.Orientation")
    # Thermal cameras draw scales and marks into the picture, in other colours than those of its coarse preview.
    is_thermal = image_writer.is_thermal(facts)
    for row in traces.get("thumbnails", []):
        fact = places.get(row["name"])
        # Those that are no preview by their type are told in `image_parts`.
        if fact is None or row["spread"] < FLAT or row["name"].startswith(image_parts.UNTYPED):
            continue
        pictures = [("Picture and preview", row["pair"], PAIR_CAPTION.format(name=row["name"]))]
        values = [f"likeness {row['likeness']:.2f}"]
        is_turned = row["turned_likeness"] >= TURNED_CORRELATION and row["turned_likeness"] > row["likeness"] + 0.15
        likeness, changed = (row[f"turned_{key}" if is_turned else key] for key in ("likeness", "most_changed"))
        is_part = likeness >= OTHER_PICTURE_CORRELATION and changed >= PART_CHANGED
        # Of other embedded pictures some are maps of light or depth, which follow the picture and are none.
        is_thumbnail = row["name"].endswith("thumbnail")
        if is_part and is_thumbnail and not is_thermal and (is_turned or not _is_other_shape(facts, row)):
            where = f", turned ({row['turn']})" if is_turned else ""
            yield finding(
                "suspect",
                "A part of the picture is not as its preview shows it",
                f"{fact.where} at byte {fact.offset}: the rest fits (correlation {likeness:.2f}{where}), and where "
                f"they differ most they are {changed:.0f} of 255 grey values apart. Painting, pasting "
                "and removing leave this where a program keeps the old preview; so do damage to the file and a "
                "date that a camera prints into the picture alone.",
                "versions",
                "editing",
                facts=[fact],
                values=values,
                pictures=pictures,
                flags=["FILE_EDITED"],
            )
            continue
        # A HEIF picture is turned by a property, which some programs leave out of its thumbnail's.
        if row["likeness"] >= SAME_PICTURE_CORRELATION or (is_turned and facts.format == "heif"):
            alike.append((fact, values[0], pictures[0]))
            continue
        if is_turned:
            explained = orientation in ORIENTATIONS.get(row["turn"], ())
            # Viewers turn a picture by quarters and leave its preview; a mirror image is more than that, and a tag that
            # turns the picture otherwise.
            usual = explained or (row["turn"] in ORIENTATIONS and orientation not in EXIF_TURNS)
            yield finding(
                "benign" if usual else "suspect",
                "The picture was turned after its preview was made",
                f"{fact.where} at byte {fact.offset}: the preview shows the picture {row['turn']} (correlation "
                f"{row['turned_likeness']:.2f}, {row['likeness']:.2f} without turning)."
                + (
                    " The orientation tag says the same."
                    if explained
                    else " A program turned the picture and left the preview, as viewers and file managers do."
                    if usual
                    else " A program turned the picture and left the preview."
                ),
                "versions",
                "editing",
                facts=[fact],
                values=[*values, row["turn"]],
                pictures=pictures,
                flags=[] if usual else ["FILE_EDITED"],
            )
        elif not is_thermal and (row["likeness"] < OTHER_PICTURE_CORRELATION or _is_other_shape(facts, row)):
            words = f"{fact.where} at byte {fact.offset} ({row['size'][0]} x {row['size'][1]}): {row['likeness']:.2f}"
            other.append((fact, values[0], pictures[0], words))
    if other:
        several = len(other) > 1
        yield finding(
            "suspect",
            f"{len(other)} embedded previews show another picture"
            if several
            else "An embedded preview shows another picture",
            f"Correlation with the picture: {'; '.join(words for *_, words in other)}. Previews of the same "
            f"picture give more than {SAME_PICTURE_CORRELATION}. A program changed, cropped or replaced the "
            f"picture and left the {'previews' if several else 'preview'} of an earlier version.",
            "versions",
            "editing",
            facts=[fact for fact, *_ in other],
            values=[value for _, value, *_ in other],
            pictures=[pair for _, _, pair, _ in other],
            flags=["FILE_EDITED"],
        )
    if alike:
        yield finding(
            "benign",
            "The embedded preview shows this picture" if len(alike) == 1 else "The embedded previews show this picture",
            "It was made from the picture as it is, or from one so like it that the difference cannot be told at "
            "this size.",
            "versions",
            "versions",
            facts=[fact for fact, _, _ in alike],
            values=[value for _, value, _ in alike],
            pictures=[pair for _, _, pair in alike],
        )


def _is_other_shape(facts: Facts, row: dict[str, Any]) -> bool:
    """Tell whether a preview lies where the picture stands, or the other way round, which no bar or crop explains."""
    size = facts.get("image.size")
    wide = [w / h for w, h in (row["size"], size)] if size else [1.0, 1.0]
    return min(wide) * MIN_SIDE_RATIO < 1 < max(wide) / MIN_SIDE_RATIO


def is_noisy(measured: dict[str, Any]) -> bool:
    """Tell whether an area is claimed to hold more noise than the rest explains: by far, and in a part only."""
    return bool(measured["excess"] >= NOISE_EXCESS and 0 < measured["share"] <= NOISE_SHARE)


def uneven_noise(traces: dict[str, Any]) -> Iterator[Finding]:
    """Yield the map of uneven noise as benign: noise that was added is found, pasted areas are not."""
    measured = traces.get("noise")
    if not measured or not is_noisy(measured):
        return
    x, y, width, height = measured["box"]
    yield finding(
        "benign",
        "An area of the picture holds more noise than the rest",
        f"Around {x}, {y} ({width} x {height} pixels) the finest detail is {2 ** measured['excess']:.1f} times as "
        "strong as the coarser detail, the brightness and the rest of the picture explain. Noise that was added "
        "to an area does this, and so can fine regular texture: look at the map.",
        "pixels",
        "integrity",
        facts=[Fact("pixels.noise", {k: v for k, v in measured.items() if k != "map"}, "decoded picture")],
        values=[f"excess {measured['excess']:.2f}", f"at {x}, {y}"],
        pictures=[("Uneven noise", measured["map"], NOISE_CAPTION)],
    )


def maps(facts: Facts, traces: dict[str, Any]) -> Iterator[Finding]:
    """Yield the maps for the report, as benign: they are for a person to read."""
    if _is_photograph(facts):
        yield from image_copies.claims(traces, is_thermal=image_writer.is_thermal(facts))
    yield from uneven_noise(traces)
    if "ela" in traces:
        yield finding(
            "benign",
            "An error-level map of the picture is attached",
            "It shows how much each place changes when the picture is saved once more. Areas of another history "
            "may stand out in it; edges and texture always do. It is to look at and no evidence by itself.",
            "pixels",
            "integrity",
            facts=[Fact("pixels.ela", "saved once more at quality 90", "decoded picture")],
            pictures=[("Error level", traces["ela"], ELA_CAPTION)],
        )


def _is_photograph(facts: Facts) -> bool:
    """Tell pictures of cameras and lossy pictures from drawings and icons, whose areas repeat exactly."""
    return facts.format in ("jpeg", "heif") or facts.fact("device.model") is not None
