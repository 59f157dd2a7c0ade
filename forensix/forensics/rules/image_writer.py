"""Did the camera that is named write the file? How the file is built is compared with how cameras build theirs.

Cameras begin a JPEG with EXIF, compress with tables of their own and the standard's Huffman codes, and add a maker's
note; libraries begin with JFIF, scale the standard's tables and shorten the codes. None of it alone is proof: some
phones use the library, and some cameras of drones begin with JFIF. So two marks are wanted before it is said that
another program saved the file, and that alone is benign, since every gallery and service does it. It is suspect where
something else speaks of a change, and neither a program that is named nor a plain reduction in size explains it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from forensix.forensics import software
from forensix.forensics.findings import Finding, device_name, finding, place
from forensix.forensics.rules import ai_marks
from forensix.metadata.facts import Fact, Facts

NOTES = ("canon", "nikon", "olympus", "om digital", "panasonic", "pentax", "fujifilm", "sony", "apple", "eastman kodak")
"""Makers whose cameras write a maker's note into every file, by how their name begins."""

STATED = (
    ("exif.ExifImageWidth", "exif.ExifImageHeight"),
    ("exif.interop.RelatedImageWidth", "exif.interop.RelatedImageLength"),
    ("exif.ImageWidth", "exif.ImageLength"),
)
"""Where EXIF states the size of the picture."""

PANORAMA = 2
"""Longer pictures are joined from several, and have any size."""

CAPTION = ("0x0404", "0x0425", "0x040A", "0x040B", "0x040F", "0x0424", "0x0422")
"""Photoshop resources that captioning programs and agencies write: IPTC, its digest, copyright, URL, XMP, EXIF."""

IPTC = ("0x0404", "0x0425")
"""Of these, IPTC's block and its digest."""

DATES = ("DateCreated", "TimeCreated", "DigitalCreationDate", "DigitalCreationTime", "digest", "digest_now")
"""What IPTC's block holds where no person wrote it: its digest, and the dates of EXIF, which Apple's systems repeat
there in every picture that they save (https://github.com/RhetTbull/osxphotos/issues/247)."""


@dataclass(frozen=True)
class Sign:
    """One mark, in words that continue "Because ...", with the facts that show it."""

    text: str
    facts: tuple[Fact, ...]


def is_camera(facts: Facts) -> bool:
    """Tell whether a camera or phone is named as what took the picture.

    Generators put their recipes there, and scanners, whose programs write files as they like, their names.
    """
    named = all(str(facts.get(key) or "").strip(" \0") for key in ("exif.Make", "exif.Model"))
    programs = software.named(facts.all("exif.Software"))
    is_scanner = any(program.name == software.SCANNER for _, program in programs)
    return named and not is_scanner and not ai_marks.generator_marks(facts)


def is_thermal(facts: Facts) -> bool:
    """Tell whether the file holds FLIR's own segment of temperatures, which only its cameras and programs write."""
    return any(f.value == "APP1 FLIR" for f in facts.all("jpeg.app"))


def is_converted(facts: Facts) -> bool:
    """Tell whether the JPEG is as Apple's systems make one of the HEIC that its telephones keep, which is coded twice.

    A telephone that writes JPEG itself begins with EXIF; what its systems write begins with JFIF.
    """
    return str(facts.get("exif.Make") or "").strip().lower() == "apple" and _begins_with_jfif(facts)


def _begins_with_jfif(facts: Facts) -> bool:
    jfif, block = facts.fact("jpeg.jfif"), facts.fact("exif.block")
    return jfif is not None and block is not None and (jfif.offset or 0) < (block.offset or 0)


def encoder(facts: Facts) -> list[Sign]:
    """Return the marks of a program that is no camera's in how the file is built; below two they say nothing."""
    if facts.format != "jpeg" or not is_camera(facts):
        return []
    signs = []
    # FLIR's thermal cameras use the library and begin with JFIF.
    is_library = is_thermal(facts)
    if not is_library and _begins_with_jfif(facts):
        both = tuple(facts.firsts(("jpeg.jfif", "exif.block")))
        signs.append(Sign("the file begins with JFIF, where cameras begin with EXIF", both))
    tables = facts.fact("jpeg.maker")
    if not is_library and tables is not None and tables.value["maker"] == "standard":
        text = f"the quantisation tables are those of the usual library at quality {tables.value['quality']}"
        signs.append(Sign(text, (tables,)))
    codes, frame = facts.fact("jpeg.huffman"), facts.fact("jpeg.frame")
    if frame is not None and "progressive" in frame.value["process"]:
        signs.append(Sign("it is progressive, which no camera writes", (frame,)))
    elif codes is not None and codes.value == "own":
        signs.append(Sign("its Huffman codes were shortened for this picture", (codes,)))
    make = facts.fact("exif.Make")
    if make is not None and str(make.value).strip().lower().startswith(NOTES) and facts.fact("exif.MakerNote") is None:
        signs.append(Sign(f"the maker's note that {str(make.value).strip()} writes is gone", (make,)))
    return signs


def is_resaved(facts: Facts) -> bool:
    """Tell whether the file is built as another program builds it, though a camera is named."""
    signs = marks(facts)
    return len(signs) > 1 and any(sign.facts[0].key != "exif.Make" for sign in signs)


def marks(facts: Facts) -> list[Sign]:
    """Return the marks of another program in how the file is built and in the picture's size."""
    other = size(facts) if is_camera(facts) and facts.format == "jpeg" else None
    return [*encoder(facts), *([Sign(other.text, other.facts)] if other is not None else [])]


@dataclass(frozen=True)
class Size:
    """A size that is not the camera's: the facts that say so, in words, and whether the shape was changed too."""

    text: str
    facts: tuple[Fact, ...]
    is_cropped: bool


def size(facts: Facts) -> Size | None:
    """Return what speaks against the picture's size being one that its camera wrote, ``None`` where nothing does.

    No list of the sizes of all models exists that could be asked, so the file is asked: cameras write the size up to
    three times into EXIF, and programs that save again update one of them at most. Where all agree, a side of an odd
    number of pixels remains, which cameras do not write, since they keep colour at half the size.
    """
    there = facts.fact("image.size")
    if there is None:
        return None
    width, height = there.value
    for keys in STATED if facts.format == "jpeg" else STATED[:1]:
        stated = facts.firsts(keys)
        if len(stated) < 2 or any(not isinstance(f.value, int) or f.value < 16 for f in stated):
            continue
        wide, high = (f.value for f in stated)
        if sorted((wide, high)) == sorted((width, height)):
            continue
        long, short = max(wide, high), min(wide, high)
        # Reduced sizes are rounded to whole pixels, and often to even ones.
        is_cropped = abs(max(width, height) * short - min(width, height) * long) > 2 * long
        text = f"EXIF states {wide} x {high} pixels, the picture has {width} x {height}"
        return Size(text, (*stated, there), is_cropped)
    is_camera_jpeg = facts.format == "jpeg" and is_camera(facts)
    if is_camera_jpeg and (width % 2 or height % 2) and max(width, height) <= PANORAMA * min(width, height):
        text = f"the picture has {width} x {height} pixels, and cameras write even numbers"
        return Size(text, (facts.fact("jpeg.frame") or there,), False)
    return None


def captions(facts: Facts) -> list[Fact]:
    """Return the Photoshop resources, where they hold a caption and nothing else."""
    resources = [f for f in facts.items if f.key == "photoshop.resource"]
    return resources if all(f.value["id"] in CAPTION for f in resources) else []


def rules(facts: Facts, others: list[Sign], *, program: str) -> Iterator[Finding]:
    """Yield the claim that another program saved a camera's file.

    ``others`` are signs of a change from elsewhere (dates, previews, a second compression); ``program`` is the name of
    an editor or converter that the file names, which explains all of this.
    """
    if not is_resaved(facts):
        return
    signs = marks(facts)
    changed = list(others)
    other_size = size(facts)
    if other_size is not None and other_size.is_cropped:
        changed.append(signs[-1])
    caption = captions(facts)
    if caption:
        signs.append(Sign("a program wrote a caption block, as cameras do not", tuple(caption[:3])))
        dates_only = all(f.value["id"] in IPTC for f in caption) and all(
            f.key.removeprefix("iptc.") in DATES for f in facts.all("iptc")
        )
        if other_size is None and not dates_only:
            changed.append(signs[-1])
    signs += others
    is_suspect = bool(changed) and not program
    make = facts.fact("exif.Make")
    named = device_name(facts.get("exif.Make"), facts.get("exif.Model"))
    rest = "; ".join(f"{sign.text} ({place(sign.facts[0])})" for sign in signs)
    explained = (
        f"{program}, which the file names, explains this."
        if program
        else "Galleries, services and photo programs save pictures like this without changing what they show."
        if not is_suspect
        else "A program that kept the camera's record saved it. Ordinary use does that too, but then the record does "
        "not vouch for what the picture shows: ask for the camera's own file."
    )
    yield finding(
        "suspect" if is_suspect else "benign",
        "A camera is named, but another program saved the file",
        f"The file names {named}. {len(signs)} marks are not those of a camera's file: {rest}. {explained}",
        "encoding",
        "editing" if is_suspect else "origin",
        facts=[*([make] if make is not None else []), *(fact for sign in signs for fact in sign.facts)],
        values=[named, *(sign.text for sign in signs)],
        flags=["FILE_EDITED"] if is_suspect else [],
    )
