"""Rules that hold for any medium: generators and credentials, name against content, structure, position, device."""

import re
from collections.abc import Iterator

from forensix.forensics.findings import Finding, device_name, finding, place
from forensix.forensics.rules import ai_marks, authors, credentials, platforms, provenance, source_types
from forensix.metadata.facts import Fact, Facts, Problem
from forensix.metadata.image import trailers

HARMLESS_TRAILERS = ("a JPEG", "a Samsung trailer", "Samsung trailer", trailers.REST)
RECORDS = tuple(name for _, name in trailers.RECORDS)

EXTENSIONS = {
    "image": ("jpg", "jpeg", "jpe", "jfif", "png", "webp", "gif", "tif", "tiff", "heic", "heif", "avif", "bmp"),
    "audio": ("wav", "mp3", "flac", "ogg", "oga", "opus", "m4a", "aac", "wma"),
    "video": ("mp4", "m4v", "mov", "mkv", "webm", "avi", "3gp", "3g2", "mpg", "mpeg"),
}
"""Endings that say what kind of media a file is."""
SCREEN_DEVICES = re.compile(
    r"\b(play ?station|ps[345]|xbox|nintendo|steam ?deck|nvidia|rockstar|second life|vrchat)\b", re.IGNORECASE
)
"""Consoles and games that put their name where a camera puts its own."""

SECTORS_BYTES = (512, 1024, 2048, 4096)
"""Sizes of sectors and clusters of cards, which cameras fill to their end."""

SIGNATURE_BYTES = 4
"""The shortest beginning by which a file is known."""

DJI_BYTES = 4096
"""What DJI's thermal cameras leave behind the last picture of a file's index is shorter."""

MANY_ZEROS = 0.5
"""Share of zeros from which they are told."""


def rules(facts: Facts) -> Iterator[Finding]:
    """Yield the claims that need no knowledge of the medium."""
    yield from provenance.rules(facts)
    yield from source_types.rules(facts)
    yield from credentials.rules(facts)
    yield from platforms.rules(facts)
    yield from _name(facts)
    yield from _structure(facts)
    yield from _trailer(facts)
    yield from _location(facts)
    yield from _device(facts)
    yield from authors.rules(facts)


def _name(facts: Facts) -> Iterator[Finding]:
    unrecognised = facts.fact("file.unrecognised")
    if unrecognised is not None:
        yield _unrecognised(unrecognised)
        return
    fits, extension = facts.fact("file.extension_fits"), facts.get("file.extension")
    if fits is None or fits.value is not False:
        return
    head = str(facts.get("file.head"))[:23]
    # Services and browsers rename files; a name of another kind of media hides what a file is.
    is_same_kind = str(extension).lower() in EXTENSIONS.get(facts.kind, ())
    yield finding(
        "benign" if is_same_kind else "suspect",
        "The file's name does not match its content",
        f"The name ends in .{extension}, the first bytes ({head}) are those of {facts.format}. Services, browsers "
        "and people rename files; so do people who want to hide what a file is.",
        "format",
        "integrity",
        facts=[fits],
        values=[f".{extension}", facts.format],
        flags=[] if is_same_kind else ["METADATA_ERROR"],
    )


def _unrecognised(fact: Fact) -> Finding:
    """Say that a file holds no beginning of what its name says, and what its bytes are."""
    value = fact.value
    size = "1 byte" if value["size"] == 1 else f"{value['size']} bytes"
    words = [f"its first bytes are {value['head']}"]
    if value["start"]:
        words.append(f"they could be {value['start']}")
    if value["zeros"] == 1:
        words = [f"its {size} are all zeros" if value["size"] > 1 else "its only byte is a zero"]
    elif value["distinct"] == 1 and value["size"] > 1:
        words = [f"its {size} are all the same ({value['head'][:2]})"]
    elif value["zeros"] >= MANY_ZEROS:
        words.append(f"{100 * value['zeros']:.0f} % of its {size} are zeros")
    else:
        words.append(f"it has {size}")
    marks = [f"{what} at byte {at}" for at, what in value["inside"][:6]]
    inside = f" Marks of known formats stand inside: {'; '.join(marks)}." if marks else ""
    return finding(
        "suspect",
        f"The file does not begin as the {value['format']} that its name says",
        f"It does not begin as a file of any known format: {'; '.join(words)}.{inside} Files that were overwritten, "
        "recovered from a damaged disk, encrypted or named wrongly look like this.",
        "format",
        "integrity",
        facts=[fact],
        values=[value["head"], size, *marks],
        flags=["METADATA_ERROR"],
    )


def _structure(facts: Facts) -> Iterator[Finding]:
    grave = [p for p in facts.problems if p.grave]
    unread = [p for p in facts.problems if p.unread]
    minor = [p for p in facts.problems if not p.grave and not p.unread]
    if unread:
        yield finding(
            "benign",
            "A part of the file was not read",
            f"{_said(unread)}. The claims rest on what was read. Locked documents, unknown codecs, very large or "
            "intricate files and slow machines are the usual reasons.",
            "structure",
            "integrity",
            facts=[Fact("problem", p.message, p.where, p.offset) for p in unread],
            values=[p.message for p in unread],
            remark="a part of the file was not read",
        )
    if grave:
        yield finding(
            "suspect",
            "The file is malformed: its end is missing" if facts.is_cut else "The file is malformed",
            f"Its structure breaks the rules of the format in {len(grave)} "
            f"{'place' if len(grave) == 1 else 'places'}: {_said(grave)}. "
            + (
                "A download, a copy or a recording that is not finished, or broke off, looks like this: fetch the file "
                "anew. A faulty program or tampering can be behind it as well."
                if facts.is_cut
                else "Damage in transfer, a faulty program or tampering can be behind it."
            ),
            "structure",
            "integrity",
            facts=[Fact("problem", p.message, p.where, p.offset) for p in grave],
            values=[p.message for p in grave[:12]],
            flags=["METADATA_ERROR"],
        )
    if minor:
        yield finding(
            "benign",
            "The file has small structural faults",
            f"{_said(minor)}. Devices and programs are known to leave such faults in files that nobody changed.",
            "structure",
            "integrity",
            facts=[Fact("problem", p.message, p.where, p.offset) for p in minor],
            values=[p.message for p in minor[:12]],
        )


def _said(problems: list[Problem]) -> str:
    sentences = [
        f"{p.where}{'' if p.offset is None or 'at byte' in p.where else f' at byte {p.offset}'}: "
        f"{p.message.rstrip('.')}"
        for p in problems[:5]
    ]
    more = f"; and {len(problems) - 5} more" if len(problems) > 5 else ""
    return "; ".join(sentences) + more


def _trailer(facts: Facts) -> Iterator[Finding]:
    trailer = facts.fact("file.trailer")
    if trailer is None or trailer.value["kind"] == trailers.CLIP:
        return
    value = trailer.value
    # Where a shorter file was written over a longer one, or padded, zeros come first; web programs send line breaks.
    head = bytes.fromhex(value["head"].replace(" ", ""))
    filled = set(head) in ({0x00}, {0xFF}) or not head.strip()
    remains = head.startswith(bytes(16)) or (value["size"] <= len(head) and filled)
    unknown = value["kind"] == "data of no known kind"
    holds_picture = value["kind"].startswith("data with a JPEG")
    own = facts.fact("device.make") is not None and (
        holds_picture or (unknown and (_is_cameras(trailer) or _is_dji(facts, trailer)))
    )
    # No file begins in so few bytes. WeChat on a Mac leaves a number of eight, without the MD5 that others add to it.
    is_number = value["size"] == 8 and head.endswith(bytes(4))
    scant = unknown and (value["size"] < SIGNATURE_BYTES or is_number)
    record, sealed = value["kind"] in RECORDS, value["kind"] == trailers.DIGEST
    harmless = value["kind"] in HARMLESS_TRAILERS or own or record or sealed or scant or (remains and unknown)
    yield finding(
        "benign" if harmless else "suspect",
        "Data stands after the end of the content",
        f"{place(trailer)}: {value['size']} {'byte follows' if value['size'] == 1 else 'bytes follow'} where the "
        f"format says that the content ends: {value['kind']} (first bytes {value['head']})."
        + (
            ""
            if not harmless
            else " They end as such a record does: how a photograph was taken, captioned or developed is kept so."
            if record
            else " Messengers append this to the pictures that they save, and the MD5 is right: the picture is as it "
            "was then."
            if sealed
            else " A program wrote the picture over a longer one, and left the rest of that."
            if value["kind"] == trailers.REST
            else " They are padding, or begin with zeros as the remains of a longer file do."
            if remains
            else " They are too few to hold anything; some early cameras and messengers leave such bytes."
            if scant
            else " Cameras leave such data: it fills the last sectors of their card, begins with its own size, or, "
            "with DJI's, follows the last picture of the index."
            if own and unknown
            else " Phones and cameras append previews and pictures of a second lens this way."
        ),
        "structure",
        "integrity",
        facts=[trailer],
        values=[f"{value['size']} bytes", value["kind"]],
    )


def _is_cameras(trailer: Fact) -> bool:
    """Tell whether data after the end is as cameras leave it: up to the end of a sector, or beginning with its size."""
    size, head = int(trailer.value["size"]), bytes.fromhex(trailer.value["head"].replace(" ", ""))[:4]
    return fills_sector(trailer) or (
        len(head) == 4 and size in (int.from_bytes(head, "big"), int.from_bytes(head, "little"))
    )


def fills_sector(trailer: Fact) -> bool:
    """Tell whether data after the end is shorter than a sector and reaches to the end of one."""
    size = int(trailer.value["size"])
    return any(size < sector and ((trailer.offset or 0) + size) % sector == 0 for sector in SECTORS_BYTES)


def _is_dji(facts: Facts, trailer: Fact) -> bool:
    make = str(facts.get("exif.Make") or "").strip(" \0")
    return make == "DJI" and facts.fact("jpeg.mpf") is not None and int(trailer.value["size"]) < DJI_BYTES


def _location(facts: Facts) -> Iterator[Finding]:
    latitude, longitude = facts.fact("gps.latitude"), facts.fact("gps.longitude")
    if latitude is None or longitude is None:
        block = facts.fact("exif.GPSInfo")
        if block is None:
            return
        fields = list(facts.all("exif.gps"))[:10]
        held = [f for f in fields if not _is_blank(f.value)]
        stated = any(f.key in ("exif.gps.Latitude", "exif.gps.Longitude") for f in fields)
        yield finding(
            "benign",
            "A GPS block holds no position",
            f"{place(block)}: the block is there, latitude and longitude are "
            f"{'there without a value' if stated else 'not'}. Devices without a satellite fix write this, and so "
            "do programs that remove the position alone.",
            "location",
            "privacy",
            facts=fields or [block],
            values=[f.key.rsplit(".", 1)[-1] for f in held],
        )
        return
    if abs(latitude.value) > 90 or abs(longitude.value) > 180:
        yield finding(
            "benign",
            "The position in the file is none on Earth",
            f"{place(latitude)}: {latitude.value}, {longitude.value}, but latitudes end at 90 degrees and "
            "longitudes at 180. A device without a satellite fix wrote it, a faulty program, or somebody by hand.",
            "location",
            "privacy",
            facts=[latitude, longitude],
        )
    elif (latitude.value, longitude.value) == (0, 0):
        yield finding(
            "benign",
            "The position in the file is a placeholder",
            f"{place(latitude)}: {latitude.value}, {longitude.value} is what devices write without a satellite fix.",
            "location",
            "privacy",
            facts=[latitude, longitude],
        )
    else:
        where = f"{latitude.value:.6f}, {longitude.value:.6f}"
        yield finding(
            "benign",
            "The file says where it was made",
            f"{place(latitude)}: position {where} (degrees; north and east are positive)." + _assumed(facts, latitude),
            "location",
            "privacy",
            facts=[latitude, longitude],
            values=[where],
            details=[("GPS_location", where)],
        )


def _is_blank(value: object) -> bool:
    """Tell whether a field holds nothing: no text, or divisions by zero alone."""
    parts = value if isinstance(value, list) else [value]
    return all(part is None or not str(part).strip(" \0") for part in parts)


def _assumed(facts: Facts, latitude: Fact) -> str:
    """Say that EXIF gives a position without its hemisphere, where it does."""
    stated = {f.key: str(f.value).strip(" \0").upper()[:1] for f in facts.items if f.key.startswith("exif.gps.")}
    is_exif = "exif.gps.Latitude" in stated and latitude.where.endswith("GPS tag 0x0002")
    sides = (stated.get("exif.gps.LatitudeRef", ""), stated.get("exif.gps.LongitudeRef", ""))
    if not is_exif or (sides[0] in ("N", "S") and sides[1] in ("E", "W")):
        return ""
    return " The file does not say whether that is north or south, east or west: north and east are assumed."


def _device(facts: Facts) -> Iterator[Finding]:
    named = facts.firsts(("device.make", "device.model", "device.lens"))
    # Generators put their recipes into the camera's fields.
    marks = {id(mark) for mark in ai_marks.generator_marks(facts)}
    recipes = {str(f.value) for f in facts.items if id(f) in marks}
    named = [f for f in named if str(f.value) not in recipes]
    on_screen = any(SCREEN_DEVICES.search(str(f.value)) for f in named)
    if named:
        body, lens = (device_name(facts.get("device.make"), facts.get("device.model")), facts.get("device.lens"))
        what = ", lens ".join(part for part in (body, str(lens or "").strip(" \0")) if part)
        yield finding(
            "benign",
            "The file names the device that made it",
            f"{place(named[0])}: {what}. A name is easily written and proves nothing by itself."
            + (" It is one that records what its screen shows, not what is before it." if on_screen else ""),
            "device",
            "origin",
            facts=named,
            details=[("source", "screenshot" if on_screen else "physical")],
        )
    serials = [f for f in facts.items if f.key == "device.serial" and str(f.value).strip(" 0-")]
    if serials:
        yield finding(
            "benign",
            "The file holds serial numbers",
            f"{place(serials[0])}: {', '.join(dict.fromkeys(str(f.value) for f in serials[:5]))}. The same device "
            "writes the same number into its other files.",
            "device",
            "privacy",
            facts=serials,
        )
